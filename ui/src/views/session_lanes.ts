// Where the memories of an episode stand on its timeline.

import type { Memory } from "../api/client";
import { duration } from "../app/text";
import { outcome } from "../parts/memory_row";
import { minutesText } from "../parts/perception_samples";

export interface Item {
  m: Memory;
  /** Seconds since the epoch. */
  from: number;
  /** Its end; from, for what has no length. */
  to: number;
  good?: boolean;
}

interface Lane {
  name: string;
  items: Item[];
}

const mostLanes = 12;

/** How long a perception lasts, in seconds: as its metadata says, else its summary, "1,000 samples over 1.00 s". */
export function lengthOf(m: Memory): number | undefined {
  const length = (m.metadata as { duration_s?: unknown } | undefined)?.duration_s;
  if (typeof length === "number" && length > 0) return length;
  const told =
    m.type === "perception" ? /(?: over |^audio\/[\w.+-]+, )([\d,]*\.?\d+) (ms|s|min|h)\b/.exec(m.summary) : null;
  return told
    ? Number(told[1]!.replaceAll(",", "")) * { ms: 0.001, s: 1, min: 60, h: 3600 }[told[2] as "ms" | "s" | "min" | "h"]
    : undefined;
}

function item(m: Memory): Item {
  const from = Date.parse(m.observed_at) / 1000;
  return { m, from, to: from + (lengthOf(m) ?? 0), good: outcome(m) };
}

/** One lane of facts, then one for each source of perceptions, the busiest first. */
export function lanes(memories: Memory[], facts: string): Lane[] {
  const by = new Map<string, Item[]>();
  for (const m of memories) {
    const name = m.type === "fact" ? facts : m.source || m.perception_type || m.type;
    const list = by.get(name);
    if (list) list.push(item(m));
    else by.set(name, [item(m)]);
  }
  const all = [...by].map(([name, items]) => ({ name, items }));
  all.sort((a, b) => Number(b.name === facts) - Number(a.name === facts) || b.items.length - a.items.length);
  if (all.length <= mostLanes) return all;
  const rest = all.slice(mostLanes - 1);
  return [...all.slice(0, mostLanes - 1), { name: `+${rest.length}`, items: rest.flatMap((l) => l.items) }];
}

/** Seconds after its beginning in which a recording repeats what was published before. */
const latchedWithin = 1;

/**
 * What a recording holds of no moment: its list of topics, static transforms, and the one message of
 * a topic that was published before and is repeated when recording begins. None if nothing else is there.
 */
export function still(memories: Memory[]): Memory[] {
  const topics = new Map<string, Memory[]>();
  for (const m of memories) {
    const { topic } = (m.metadata ?? {}) as { topic?: unknown };
    const { recording_id } = ((m.context as { source?: unknown } | undefined)?.source ?? {}) as {
      recording_id?: unknown;
    };
    if (m.type !== "perception" || typeof recording_id !== "string") continue;
    const name = typeof topic === "string" ? topic : "";
    const list = topics.get(name);
    if (list) list.push(m);
    else topics.set(name, [m]);
  }
  const time = (m: Memory) => Date.parse(m.observed_at) / 1000;
  const one = (list: Memory[]) =>
    list.length === 1 && Number((list[0]!.metadata as { count?: unknown }).count ?? 1) === 1;
  const moving = [...topics]
    .filter(([name, list]) => name !== "" && !name.endsWith("tf_static") && !one(list))
    .flatMap(([, list]) => list);
  const began = moving.reduce((t, m) => Math.min(t, time(m)), Infinity);
  if (began === Infinity) return [];
  return [...topics]
    .filter(
      ([name, list]) =>
        name === "" || name.endsWith("tf_static") || (one(list) && time(list[0]!) <= began + latchedWithin),
    )
    .flatMap(([, list]) => list);
}

/** What has a place on the axis. */
export function timed(memories: Memory[]): Memory[] {
  const outside = new Set(still(memories));
  return outside.size === 0 ? memories : memories.filter((m) => !outside.has(m));
}

/** From the first moment to the last; never empty. */
export function span(memories: Memory[]): [from: number, to: number] {
  let from = Infinity;
  let to = -Infinity;
  for (const m of memories) {
    const i = item(m);
    from = Math.min(from, i.from);
    to = Math.max(to, i.to);
  }
  return [from, Math.max(to, from + 0.001)];
}

/** The last item that has begun at a moment; items are in the order of time. */
export function at(items: Item[], moment: number): Item | undefined {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle]!.from <= moment) low = middle + 1;
    else high = middle;
  }
  return items[low - 1];
}

/** Round marks of a time axis: seconds from the beginning, about n of them. */
export function ticks(from: number, to: number, n: number): number[] {
  const raw = (to - from) / Math.max(n, 1);
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step =
    raw >= 1
      ? (steps.find((s) => s >= raw) ?? Math.ceil(raw / 86400) * 86400)
      : ([1, 2, 5, 10].find((s) => s * power >= raw) ?? 10) * power;
  if (!(step > 0)) return [];

  // Counted, not added up: sums of a decimal fraction drift, and the last mark may be lost. A step below a second
  // is one part of a whole number of parts.
  const [up, down] = step < 1 ? [1, Math.round(1 / step)] : [step, 1];
  const first = Math.ceil((from * down) / up - 1e-9);
  const last = Math.floor((to * down) / up + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => ((first + i) * up) / down);
}

/** A mark of the axis, with as many digits as the stretch needs to tell its marks apart. */
export function tickText(s: number, shown: number): string {
  if (shown >= 60 || s < 60) return shown < 1 && s >= 1 ? `${s.toFixed(3)} s` : duration(s);
  return minutesText(s, shown < 1 ? 3 : shown < 10 ? 1 : 0);
}

/** Of items that would fall on the same pixel, one is drawn: a failure before a success. */
export function thin(items: Item[], from: number, to: number, x: (s: number) => number): Item[] {
  const at = new Map<number, Item>();
  for (const it of items) {
    if (it.to < from || it.from > to) continue;
    const pixel = Math.round(x(it.from) / 2);
    const there = at.get(pixel);
    if (!there || (there.good !== false && it.good === false)) at.set(pixel, it);
  }
  return [...at.values()];
}
