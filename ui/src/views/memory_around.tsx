// What stands around a memory: what the episode sensed and learnt in the same
// moment, and after a failure, what worked.

import { useEffect, useState } from "preact/hooks";
import { call, type Memory } from "../api/client";
import { useAsk } from "../app/ask";
import { similar } from "../app/context";
import { drawable } from "../parts/drawable";
import { Why } from "../parts/found";
import { MemoryRow } from "../parts/memory_row";
import { Perception } from "../parts/perception";
import { t } from "./memory.text";
import { arranged, gap, shotAt, streams } from "./streams";

const moments = 500; // milliseconds to either side
const shown = 3;
const leastRelevant = 0.01;
const plotHeight = 260;

const windows = [5, 60, 600, 6 * 3600]; // seconds before a moment in which what covers it may have begun

/** What was sensed at the moment of a fact: the first perception of its episode that began before and covers it, traces before others. */
function useCovering(m: Memory): Memory | undefined {
  const [found, set] = useState<Memory>();
  useEffect(() => {
    if (m.type !== "fact" || !m.session_id) return;
    const at = Date.parse(m.observed_at) / 1000;
    const time = (seconds: number) => new Date(1000 * (at + seconds)).toISOString();
    const abort = new AbortController();
    const look = async () => {
      for (const before of windows) {
        const { memories } = await call("recall", { collection: m.collection, session_id: m.session_id, type: "perception", after: time(-before), before: time(moments / 1000), min_confidence: 0, n: 100, as_you_type: true }, abort.signal);
        const first = arranged(streams(memories), at)[0];
        const shot = first && shotAt(first, at);
        if (shot && shot.to !== undefined && gap(shot, at) === 0 && drawable(shot.m)) return shot.m;
      }
      return undefined;
    };
    look().then(set, () => {}); // then the page does without
    return () => abort.abort();
  }, [m.memory_id]);
  return found;
}

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
  const covering = useCovering(m);
  const sensed = covering ?? (m.type === "fact" ? others?.find((o) => o.sha256) : undefined);
  if (!others?.length && !sensed) return null;
  const rows = sensed && !others?.some((o) => o.memory_id === sensed.memory_id) ? [sensed, ...(others ?? [])] : (others ?? []);
  return (
    <section class="card">
      <header>
        <h2>{t("around")}</h2>
        <a href={`/sessions/${encodeURIComponent(m.session_id ?? "")}`}>{t("wholeSession")}</a>
      </header>
      {sensed && <Perception m={sensed} height={plotHeight} bare />}
      {rows.map((o) => (
        <MemoryRow key={o.memory_id} m={o} />
      ))}
    </section>
  );
}

/** What worked where this failed: the same words, among successes of the same task and object, else of the task, else of all. */
export function Instead({ m }: { m: Memory }) {
  const asked = (of: object[]) => ({
    query: m.content,
    collection: m.collection,
    context_filter: { $and: [{ "task.success": true }, ...of] },
    type: "fact" as const,
    n: shown,
    diversity: 0.5,
    min_relevance: leastRelevant,
    explain: true,
    as_you_type: true,
  });
  const { narrow, wide } = similar(m.context);
  const same = useAsk("recall", narrow && asked(narrow), { live: 0 });
  const none = !narrow || same.answer?.memories.length === 0;
  const others = useAsk("recall", none ? asked(wide) : undefined, { live: 0 });
  const found = none ? others : same;
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
