// What an episode knew and sensed at the moment under its cursor.

import type { Signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { Memory } from "../api/client";
import { moment } from "../app/text";
import { MemoryRow } from "../parts/memory_row";
import type { Stretch } from "../parts/perception_samples";
import { at, lanes } from "./session_lanes";
import { rank, streams } from "./streams";
import { StreamList } from "./streams_list";
import { t } from "./session.text";

const factsShown = 3;

interface AtCursorProps {
  memories: Memory[];
  cursor: Signal<number | undefined>;
  view: Signal<Stretch | undefined>;
}

export function AtCursor({ memories, cursor, view }: AtCursorProps) {
  const facts = useMemo(() => lanes(memories, t("facts")).find((l) => l.name === t("facts"))?.items ?? [], [memories]);
  const order = useMemo(() => streams(memories).sort((a, b) => rank(a.shots[0]!.m) - rank(b.shots[0]!.m)), [memories]);
  const end = useMemo(() => memories.reduce((t, m) => Math.max(t, Date.parse(m.observed_at) / 1000), 0), [memories]);
  const now = cursor.value;
  if (now === undefined) return null;
  const last = at(facts, now);
  const known = last ? facts.slice(Math.max(0, facts.indexOf(last) - factsShown + 1), facts.indexOf(last) + 1).reverse() : [];
  return (
    <section class="card" data-at-cursor>
      <header>
        <h2>{t("atCursor", { time: moment(new Date(now * 1000)) })}</h2>
      </header>
      {known.length === 0 && order.length === 0 && <p class="dim">{t("nothingYet")}</p>}
      {known.map((i) => (
        <MemoryRow key={i.m.memory_id} m={i.m} />
      ))}
      <StreamList order={order} collection={memories[0]?.collection ?? ""} cursor={cursor} view={view} at={end} />
    </section>
  );
}
