// What stands around a memory: what the episode sensed and learnt in the same
// moment, and after a failure, what worked.

import type { Memory } from "../api/client";
import { useAsk } from "../app/ask";
import { Why } from "../parts/found";
import { MemoryRow } from "../parts/memory_row";
import { Perception } from "../parts/perception";
import { t } from "./memory.text";

const moments = 500; // milliseconds to either side
const shown = 3;
const leastRelevant = 0.01;
const plotHeight = 260;

/** The plot of a failure stands beside what was learnt from it. */
export function Around({ m }: { m: Memory }) {
  const at = Date.parse(m.observed_at);
  const around = useAsk(
    "recall",
    {
      collection: "*",
      session_id: m.session_id,
      after: new Date(at - moments).toISOString(),
      before: new Date(at + moments).toISOString(),
      min_confidence: 0,
      n: 100,
      as_you_type: true,
    },
    { live: 5000 },
  );
  const distance = (o: Memory) => Math.abs(Date.parse(o.observed_at) - at);
  const others = around.answer?.memories
    .filter((o) => o.memory_id !== m.memory_id)
    .sort((a, b) => distance(a) - distance(b) || Math.abs(a.memory_id - m.memory_id) - Math.abs(b.memory_id - m.memory_id))
    .slice(0, shown);
  if (!others?.length) return null;
  const sensed = m.type === "fact" ? others.find((o) => o.sha256) : undefined;
  return (
    <section class="card">
      <header>
        <h2>{t("around")}</h2>
        <a href={`/sessions/${encodeURIComponent(m.session_id ?? "")}`}>{t("wholeSession")}</a>
      </header>
      {sensed && <Perception m={sensed} height={plotHeight} bare />}
      {others.map((o) => (
        <MemoryRow key={o.memory_id} m={o} />
      ))}
    </section>
  );
}

/** What worked where this failed: the same words, among successes of the collection. */
export function Instead({ m }: { m: Memory }) {
  const found = useAsk(
    "recall",
    {
      query: m.content,
      collection: m.collection,
      context_filter: { "task.success": true },
      type: "fact",
      n: shown,
      diversity: 0.5,
      min_relevance: leastRelevant,
      explain: true,
      as_you_type: true,
    },
    { live: 0 },
  );
  if (!found.answer?.memories.length) return null;
  return (
    <section class="card">
      <header>
        <h2>{t("instead")}</h2>
        <span class="dim">{t("insteadHint")}</span>
      </header>
      {found.answer.memories.map((o) => (
        <MemoryRow key={o.memory_id} m={o}>
          <Why m={o} />
        </MemoryRow>
      ))}
    </section>
  );
}
