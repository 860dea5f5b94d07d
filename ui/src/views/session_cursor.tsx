// What an episode knew and sensed at the moment under its cursor.

import type { Signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { Memory } from "../api/client";
import { moment } from "../app/text";
import { MemoryRow } from "../parts/memory_row";
import { Perception } from "../parts/perception";
import type { Stretch } from "../parts/perception_samples";
import { at, lanes } from "./session_lanes";
import { t } from "./session.text";

const panelHeight = 240;
const mostPanels = 4;
const factsShown = 3;

export function AtCursor({ memories, cursor, view }: { memories: Memory[]; cursor: Signal<number | undefined>; view: Signal<Stretch | undefined> }) {
  const all = useMemo(() => lanes(memories, t("facts")), [memories]);
  const now = cursor.value;
  if (now === undefined) return null;
  const facts = all.find((l) => l.name === t("facts"))?.items ?? [];
  const last = at(facts, now);
  const known = last ? facts.slice(Math.max(0, facts.indexOf(last) - factsShown + 1), facts.indexOf(last) + 1).reverse() : [];
  const sensed = all
    .filter((l) => l.name !== t("facts"))
    .map((l) => ({ lane: l.name, item: at(l.items, now) }))
    .filter((s) => s.item)
    .slice(0, mostPanels);
  return (
    <section class="card at-cursor">
      <header>
        <h2>{t("atCursor", { time: moment(new Date(now * 1000)) })}</h2>
      </header>
      {known.length === 0 && sensed.length === 0 && <p class="dim">{t("nothingYet")}</p>}
      <div class="at-panels">
        {sensed.map(({ lane, item }) => (
          <figure key={lane}>
            <figcaption>
              <span class="dim">{lane}</span> <a href={`/memory/${item!.m.memory_id}`}>{item!.m.content}</a>
            </figcaption>
            <Perception key={item!.m.memory_id} m={item!.m} cursor={cursor} view={view} height={panelHeight} bare />
          </figure>
        ))}
      </div>
      {known.map((i) => (
        <MemoryRow key={i.m.memory_id} m={i.m} />
      ))}
    </section>
  );
}
