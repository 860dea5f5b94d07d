// The states a memory has been in, newest first, each with what changed.

import type { Answer } from "../api/client";
import { useAsk } from "../app/ask";
import { diff } from "../app/diff";
import { percent } from "../app/text";
import { Status, When } from "../parts/memory_row";
import { Await } from "../parts/states";
import { t } from "./memory.text";

type Version = Answer<"history">["versions"][number];

const changes: Record<string, "updatedChange" | "forgottenChange" | "restoredChange" | "supersededChange"> = {
  updated: "updatedChange",
  forgotten: "forgottenChange",
  restored: "restoredChange",
  superseded: "supersededChange",
};

/** version and status are the memory's own: the history is asked again when they change. */
export function History({ id, version, status }: { id: number; version: number; status: string }) {
  const history = useAsk("history", { memory_id: id }, { live: 1000 });
  return (
    <section class="card" key={`${version} ${status}`}>
      <header>
        <h2>{t("history")}</h2>
      </header>
      <Await of={history} lines={2}>
        {(h) => (
          <ol class="versions">
            {h.versions
              .map((v, i) => <State key={i} v={v} before={h.versions[i - 1]} />)
              .reverse()}
          </ol>
        )}
      </Await>
    </section>
  );
}

function State({ v, before }: { v: Version; before?: Version }) {
  const how = before?.change && changes[before.change];
  const contextChanged = before && JSON.stringify(before.context) !== JSON.stringify(v.context);
  return (
    <li>
      <p class="row-facts">
        <b>{t("version", { n: v.version })}</b>
        {how && <span>{t(how)}</span>}
        <When time={v.from} />
        {!v.to && <span class="chip">{t("present")}</span>}
        {!how && <Status of={v.status} />}
        <span>{v.category}</span>
        <span>{percent(v.confidence)}</span>
      </p>
      {before?.reason && <p class="reason">{before.reason}</p>}
      {before && before.content !== v.content ? <Diff before={before.content} after={v.content} /> : !before && <p>{v.content}</p>}
      {contextChanged && (
        <pre class="diff">
          <Diff before={JSON.stringify(before.context ?? {}, null, 1)} after={JSON.stringify(v.context ?? {}, null, 1)} />
        </pre>
      )}
    </li>
  );
}

function Diff({ before, after }: { before: string; after: string }) {
  return (
    <p class="diff">
      {diff(before, after).map((piece, i) => (piece.side === 0 ? piece.text : piece.side < 0 ? <del key={i}>{piece.text}</del> : <ins key={i}>{piece.text}</ins>))}
    </p>
  );
}
