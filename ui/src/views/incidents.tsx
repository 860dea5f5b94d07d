// What failed: a row for each episode, and for each failed fact outside of one. The address holds
// filters and order.

import { useState } from "preact/hooks";
import { previewURL, type Answer, type Request } from "../api/client";
import { useAsk } from "../app/ask";
import { go, route, withQuery } from "../app/address";
import { moment, number, ordinal, span } from "../app/text";
import { useTitle } from "../app/title";
import { Segments, Select } from "../parts/controls";
import { drawable } from "../parts/drawable";
import { Icon } from "../parts/icons";
import { When } from "../parts/memory_row";
import { Pager } from "../parts/pager";
import { Await, Empty } from "../parts/states";
import { between } from "../parts/between";
import { placeOf } from "../parts/place";
import { TimeFilter } from "../parts/time_filter";
import { listOf, unnumbered, type Line } from "./incident_lines";
import { t } from "./incidents.text";

const page = 50;
const mostLines = 6; // of robots and tasks on Home
const repeated = 3; // groups of them

type Incident = Answer<"incidents">["incidents"][number];
type Group = Answer<"incidents">["groups"][number];
type State = "" | "open" | "resolved";
const orders = ["episodes", "time", "repeats", "robot", "task", "place"] as const;
type Order = (typeof orders)[number];

export function Incidents() {
  const { query } = route.value;
  const has = (name: string) => query.get(name) || undefined;
  const state = (has("state") ?? "") as State;
  const sort = (orders as readonly string[]).includes(has("sort") ?? "") ? (has("sort") as Order) : "episodes";
  const request: Request<"incidents"> = {
    limit: page,
    sort,
    page: Math.max(1, Math.floor(Number(has("page"))) || 1),
    collection: has("collection"),
    robot: has("robot"),
    task: has("task"),
    words: has("words"),
    group: has("group"),
    ...between(has("after"), has("before")),
    resolved: state ? state === "resolved" : undefined,
  };
  const filtered = Object.entries(request).some(([name, v]) => v !== undefined && name !== "limit" && name !== "sort" && name !== "page");
  const set = (name: string) => (value: string) => go(withQuery({ [name]: value || undefined, page: undefined }), "replace");
  useTitle([t("title"), has("task"), has("robot"), has("words"), state && t(state)].filter(Boolean).join(", "));
  const first = useAsk("incidents", request, { live: 2000, settle: 150 });
  const collections = useAsk("collections", {}, { live: 10_000 });
  const select = (name: "robot" | "task" | "collection", all: string[] = []) => {
    const chosen = has(name);
    const names = chosen && !all.includes(chosen) ? [chosen, ...all] : all;
    return <Select label={t(name)} value={chosen ?? ""} options={[["", t("all")], ...names.map((x) => [x, x] as const)]} onChange={set(name)} />;
  };
  return (
    <>
      <div class="head">
        <h1>{t("title")}</h1>
        <Segments<State>
          label={t("state")}
          value={state}
          options={[
            ["", t("all")],
            ["open", t("open")],
            ["resolved", t("resolved")],
          ]}
          onChange={set("state")}
        />
      </div>
      <div class="list-filters">
        {select("robot", first.answer?.robots)}
        {select("task", first.answer?.tasks)}
        {select("collection", collections.answer?.collections.map((c) => c.collection))}
        <label class="field">
          <span class="field-label">{t("words")}</span>
          <input type="search" value={has("words") ?? ""} onInput={(e) => set("words")(e.currentTarget.value)} autocomplete="off" />
        </label>
        <TimeFilter after={has("after")} before={has("before")} set={(after, before) => go(withQuery({ after, before, page: undefined }), "replace")} />
        <Select<Order> label={t("sort")} value={sort} options={orders.map((o) => [o, t(o)] as const)} onChange={(v) => set("sort")(v === "episodes" ? "" : v)} />
      </div>
      <Await of={first} lines={8}>
        {(a) => (
          <>
            {!request.group && a.groups.length > 0 && (
              <section class="card">
                <header>
                  <h2>{t("groups")}</h2>
                </header>
                <Groups of={a.groups} />
              </section>
            )}
            {request.group && (
              <p>
                <a class="chip" href={withQuery({ group: undefined })}>
                  {t("only", { said: a.incidents[0] ? unnumbered(saying(a.incidents[0])) : request.group })} <Icon name="cross" size={13} />
                </a>
              </p>
            )}
            <List a={a} filtered={filtered || a.page > 1} />
          </>
        )}
      </Await>
    </>
  );
}

function List({ a, filtered }: { a: Answer<"incidents">; filtered: boolean }) {
  const first = (a.page - 1) * a.limit;
  return (
    <>
      {a.degraded?.map((d) => (
        <p class="notice card" key={d}>
          {d}
        </p>
      ))}
      {a.incidents.length === 0 ? (
        <Empty icon="check" title={t(filtered ? "noneLike" : "none")}>
          {filtered ? <a href="/incidents">{t("clear")}</a> : t("noneHint")}
        </Empty>
      ) : (
        <>
          <p class="dim list-total">
            {a.total === 1 ? t("one") : t("total", { n: number(a.total) })}
            {a.total > a.limit && <span class="number">{t("part", { from: number(first + 1), to: number(first + a.incidents.length) })}</span>}
            {filtered && <a href="/incidents">{t("clear")}</a>}
          </p>
          <div class="card">
            {a.incidents.map((i) => (
              <Row key={linkOf(i)} i={i} />
            ))}
          </div>
        </>
      )}
      <Pager page={a.page} limit={a.limit} total={a.total} />
    </>
  );
}

const linkOf = (i: Incident) => (i.kind === "session" ? `/incident/s/${encodeURIComponent(i.session_id ?? "")}` : `/incident/m/${i.memory_id}`);

const saying = (i: { said?: string; task?: string }) => i.said || (i.task ? t("silentTask", { task: i.task }) : t("silent"));

/** "3rd time in 6 days" */
function again(i: Incident): string {
  const time = span((Date.parse(i.at) - Date.parse(i.first_at)) / 1000);
  return t(time ? "nth" : "nthNow", { nth: ordinal(i.repeats), span: time });
}

function Row({ i, line }: { i: Incident; line?: Line }) {
  const [gone, setGone] = useState(false);
  const where = placeOf(i.place);
  return (
    <article class="row" data-incident={i.memory_id ?? i.session_id}>
      <span class={`row-icon mark ${i.resolved ? "good" : "bad"}`}>
        <Icon name={i.resolved ? "check" : "cross"} />
      </span>
      <div class="row-body">
        <a class="row-title" dir="auto" href={linkOf(i)}>
          {saying(i)}
        </a>
        {i.resolved && <p class="row-summary" dir="auto">{i.resolved.lesson}</p>}
        <p class="row-facts">
          {line && line.episodes + line.facts > 1 && (
            <a class="chip" href={listOf(line)}>
              {counted(line)}
            </a>
          )}
          {!line && i.repeats > 1 && (
            <a class="chip" href={`/incidents?group=${i.group}`} title={moment(i.first_at)}>
              {again(i)}
            </a>
          )}
          {i.resolved && <span class="mark good">{t("resolved")}</span>}
          {i.robot && <span>{i.robot}</span>}
          {i.task && <span>{i.task}</span>}
          {i.object && <span dir="auto">{i.object}</span>}
          <span>{i.collection}</span>
          {where && <span>{t("at", { place: where })}</span>}
          <When time={i.at} />
        </p>
      </div>
      {i.perception_id && !gone && i.media_type && drawable({ sha256: "there", status: "active", summary: i.summary ?? "", metadata: undefined }) ? <img class="row-thumb" src={previewURL(i.perception_id, 264, 148)} alt="" loading="lazy" decoding="async" onError={() => setGone(true)} /> : null}
    </article>
  );
}

const counted = (l: Line) => [l.episodes > 0 && t("lineEpisodes", { n: number(l.episodes) }), l.facts > 0 && t("lineFacts", { n: number(l.facts) })].filter(Boolean).join(", ");

function Groups({ of: groups }: { of: Group[] }) {
  if (groups.length === 0) return null;
  return (
    <ul class="incident-groups">
      {groups.map((g) => {
        const time = span((Date.parse(g.last_at) - Date.parse(g.first_at)) / 1000);
        return (
          <li key={g.group}>
            <a href={`/incidents?group=${g.group}`}>
              <b dir="auto">{unnumbered(saying(g))}</b>
              <span class="row-facts">
                <span>{t(time ? "group" : "groupNow", { n: number(g.count), span: time })}</span>
                <span class={`mark ${g.open ? "bad" : "good"}`}>{g.open ? t("groupOpen", { n: number(g.open) }) : t("groupDone")}</span>
              </span>
            </a>
          </li>
        );
      })}
    </ul>
  );
}

/** What Home opens with: what is repeated and not resolved, and a line for each robot and task with open incidents. */
export function LatestIncidents() {
  const latest = useAsk("incidents", { limit: 1, resolved: false }, { live: 3000 });
  return (
    <section class="card latest">
      <header>
        <h2>{t("lately")}</h2>
        <a href="/incidents">{latest.answer ? `${t("list")} (${number(latest.answer.total)})` : t("list")}</a>
      </header>
      <Await of={latest} lines={8}>
        {(a) =>
          a.incidents.length === 0 ? (
            <Empty icon="check" title={t("none")}>
              {t("noneHint")}
            </Empty>
          ) : (
            <>
              <Groups of={a.groups.slice(0, repeated)} />
              {a.lines.slice(0, mostLines).map((l) => (
                <Row key={`${l.collection}\n${l.robot}\n${l.task}`} i={l.last} line={l} />
              ))}
            </>
          )
        }
      </Await>
    </section>
  );
}
