// One memory whole: text, context, versions, what contradicts it, where it is
// from, and what can be done with it.

import { useState } from "preact/hooks";
import { call, type Memory } from "../api/client";
import { useAsk } from "../app/ask";
import { useKeys } from "../app/keys";
import { go } from "../app/address";
import { moment, number, percent } from "../app/text";
import { useTitle } from "../app/title";
import { who } from "../app/who";
import { change } from "../parts/change";
import { Button, copy } from "../parts/controls";
import { Icon } from "../parts/icons";
import { Category, kindIcon, Outcome, outcome, When } from "../parts/memory_row";
import { Perception } from "../parts/perception";
import { Await } from "../parts/states";
import { Tree } from "../parts/tree";
import { Edit, Forget } from "./memory_change";
import { Around, Instead } from "./memory_around";
import { History } from "./memory_history";
import { address } from "./search_query";
import { t } from "./memory.text";

export function MemoryView({ id }: { id: number }) {
  const memory = useAsk("get", { memory_id: id }, { live: 1000 });
  return (
    <Await of={memory} lines={8}>
      {(m) => <Whole m={m} again={memory.again} />}
    </Await>
  );
}

function Whole({ m, again }: { m: Memory; again: () => void }) {
  useTitle(m.content);
  const [doing, setDoing] = useState<"edit" | "forget">();
  const active = m.status === "active";
  const mayChange = !who.value.read_only;
  const restore = async () => {
    await call("restore", { memory_id: m.memory_id });
    again();
    return t("restored");
  };
  const pin = (pinned: boolean) => async () => {
    await call("pin", { memory_id: m.memory_id, pinned });
    again();
    return t(pinned ? "pinned" : "unpinned");
  };
  useKeys(active && mayChange ? { e: () => setDoing("edit"), x: () => setDoing("forget") } : {});
  return (
    <article class="stack">
      <header class="memory-head">
        <Icon name={kindIcon(m)} size={24} />
        <div>
          <h1 dir="auto">{m.content}</h1>
          <p class="row-facts">
            <Outcome of={outcome(m)} />
            <Category of={m.category} />
            <a href={`/search?collection=${encodeURIComponent(m.collection)}`}>{m.collection}</a>
            <When time={m.observed_at} />
            <span class="id">[{m.memory_id}]</span>
            {outcome(m) === false && <a href={`/incident/m/${m.memory_id}`}>{t("incident")}</a>}
          </p>
        </div>
        <div class="memory-do">
          {mayChange && active && (
            <>
              <Button icon="edit" onClick={() => setDoing("edit")}>
                {t("edit")}
              </Button>
              <span title={t("pinHint")}>
                <Button icon="pin" pressed={!!m.pinned} onClick={() => void change(pin(!m.pinned), pin(!!m.pinned))}>
                  {t(m.pinned ? "unpin" : "pin")}
                </Button>
              </span>
              <Button icon="trash" kind="danger" onClick={() => setDoing("forget")}>
                {t("forget")}
              </Button>
            </>
          )}
          {mayChange && !active && (
            <Button icon="undo" kind="main" onClick={() => void change(restore)}>
              {t("restore")}
            </Button>
          )}
          <Button icon="copy" kind="quiet" label={t("copy")} onClick={() => void copy(JSON.stringify(m, null, 2))} />
        </div>
      </header>
      {!active && <Gone m={m} />}
      {m.conflicts && m.conflicts.length > 0 && <Conflicts m={m} />}
      {m.type === "perception" && <Perception m={m} />}
      {m.session_id && <Around m={m} />}
      {outcome(m) === false && active && <Instead m={m} />}
      <div class="memory-columns">
        <div class="stack">
          <Context m={m} />
          <History id={m.memory_id} version={m.version ?? 1} status={m.status ?? ""} />
        </div>
        <Details m={m} />
      </div>
      {doing === "edit" && <Edit m={m} again={again} onClose={() => setDoing(undefined)} />}
      {doing === "forget" && <Forget m={m} again={again} restore={restore} onClose={() => setDoing(undefined)} />}
    </article>
  );
}

function Gone({ m }: { m: Memory }) {
  const merged = m.status === "superseded";
  return (
    <section class="card notice">
      <Icon name="info" />
      <div>
        <b>{t(merged ? "supersededTitle" : "forgottenTitle")}</b>
        <p class="dim">{t("forgottenText")}</p>
        {!!m.superseded_by && (
          <p>
            {t("superseded")} <a href={`/memory/${m.superseded_by}`}>[{m.superseded_by}]</a>
          </p>
        )}
      </div>
    </section>
  );
}

function Conflicts({ m }: { m: Memory }) {
  return (
    <section class="card notice warn">
      <Icon name="warn" />
      <div>
        <b>{t("conflicts")}</b>
        <p class="dim">{t("conflictsHint")}</p>
        <ul>
          {m.conflicts!.map((c) => (
            <li key={c.memory_id}>
              <a href={`/memory/${c.memory_id}`}>[{c.memory_id}]</a> {c.reason}
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}

function Context({ m }: { m: Memory }) {
  const pick = (path: string, value: unknown) => go(address({ query: "", fields: {}, tags: [], confidence: 0, conditions: [{ path, op: "$eq", value }] }));
  const has = m.context && Object.keys(m.context).length > 0;
  return (
    <section class="card">
      <header>
        <h2>{t("context")}</h2>
        {has && <span class="dim">{t("contextHint")}</span>}
      </header>
      {has ? <Tree value={m.context} onPick={pick} pickTitle={t("contextHint")} /> : <p class="dim">{t("noContext")}</p>}
    </section>
  );
}

function Details({ m }: { m: Memory }) {
  const rows: [string, preact.ComponentChildren][] = [
    [t("id"), m.memory_id],
    [t("uid"), <span class="mono">{m.uid}</span>],
    [t("confidence"), `${percent(m.confidence)}, ${m.decay_rate ? t("decay", { share: percent(m.decay_rate) }) : t("noDecay")}`],
    [t("observed"), moment(m.observed_at)],
    [t("created"), moment(m.created_at)],
  ];
  if (m.tags.length > 0) rows.splice(3, 0, [t("tags"), <TagList tags={m.tags} />]);
  if (m.updated_at && m.updated_at !== m.created_at) rows.push([t("updated"), moment(m.updated_at)]);
  if (m.session_id) rows.push([t("session"), <a class="mono" href={`/sessions/${encodeURIComponent(m.session_id)}`}>{m.session_id}</a>]);
  if (m.source) rows.push([t("source"), m.source]);
  if (m.provenance?.robot) rows.push([t("robot"), m.provenance.robot]);
  if (m.provenance?.who || m.provenance?.tool) rows.push([t("storedBy"), [m.provenance.who, m.provenance.tool].filter(Boolean).join(", ")]);
  if ((m.sightings ?? 1) > 1) rows.push([t("sightings"), t("times", { n: number(m.sightings!) })]);
  if (m.return_count) rows.push([t("used"), t("usedText", { n: number(m.return_count), m: number(m.access_count ?? 0) })]);
  if (m.last_accessed) rows.push([t("lastUsed"), moment(m.last_accessed)]);
  if (m.scope_files?.length) rows.push([t("files"), m.scope_files.join(", ")]);
  if (m.scope_entities?.length) rows.push([t("entities"), m.scope_entities.join(", ")]);
  return (
    <section class="card">
      <header>
        <h2>{t("details")}</h2>
      </header>
      <dl class="facts">
        {rows.map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={name + "-value"}>{value}</dd>])}
      </dl>
    </section>
  );
}

function TagList({ tags }: { tags: string[] }) {
  return (
    <span class="tags">
      {tags.map((tag) => (
        <a key={tag} class="chip" href={`/search?tag=${encodeURIComponent(tag)}`}>
          {tag}
        </a>
      ))}
    </span>
  );
}
