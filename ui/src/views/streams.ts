// Which streams of an episode say something about a moment, and in which order they stand.

import type { Memory } from "../api/client";
import { drawable } from "../parts/drawable";
import type { Stretch } from "../parts/perception_samples";
import { lengthOf, timed } from "./session_lanes";

export interface Shot {
  m: Memory;
  from: number;
  /** Its end, if the node knows how long it is. */
  to?: number;
}

export interface Stream {
  name: string;
  shots: Shot[];
  picture: boolean;
}

const slack = 0.5; // seconds by which a stream may begin after what it explains

const mediaType = (m: Memory) => (m.media_type ?? "").split(";")[0]!.trim().toLowerCase();
const isPicture = (m: Memory) =>
  /^image\/(png|jpeg|webp|gif|avif|bmp)$/.test(mediaType(m)) &&
  (m.metadata as { kind?: unknown } | undefined)?.kind !== "depth";

/** Traces decide before sounds, pictures and points; what cannot be drawn stands last. */
export function rank(m: Memory): number {
  if (
    /CompressedVideo/.test(String((m.metadata as { schema?: unknown } | undefined)?.schema)) ||
    mediaType(m).startsWith("video/")
  )
    return 3;
  if (!drawable(m)) return 9;
  const type = mediaType(m);
  if (type.startsWith("image/") || m.perception_type === "visual") return 3;
  if (type.startsWith("audio/") || m.perception_type === "auditory") return 2;
  return m.perception_type === "spatial" || /tum|pcd|ply/.test(type) ? 4 : 1;
}

export function streams(memories: Memory[]): Stream[] {
  const by = new Map<string, Shot[]>();
  for (const m of timed(memories)) {
    if (m.type !== "perception") continue;
    const length = lengthOf(m);
    const from = Date.parse(m.observed_at) / 1000;
    const shot = { m, from, to: length === undefined ? undefined : from + length };
    const name = m.source || m.perception_type || m.type;
    const list = by.get(name);
    if (list) list.push(shot);
    else by.set(name, [shot]);
  }
  return [...by].map(([name, shots]) => ({
    name,
    shots: shots.sort((a, b) => a.from - b.from),
    picture: isPicture(shots[0]!.m),
  }));
}

/** What a stream shows at a moment: its last shot that has begun, else its first. */
export function shotAt(s: Stream, moment: number): Shot {
  let low = 0;
  let high = s.shots.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (s.shots[middle]!.from <= moment) low = middle + 1;
    else high = middle;
  }
  const next = s.shots[low];
  if (next && next.from - moment <= slack && (low === 0 || (s.shots[low - 1]!.to ?? Infinity) < moment)) return next;
  return s.shots[Math.max(low - 1, 0)]!;
}

/** Seconds between a shot and a moment: 0 where it covers it, or may, as long as its length is unknown. */
export function gap(s: Shot, moment: number): number {
  if (s.from > moment) return s.from - moment <= slack ? 0 : s.from - moment;
  return s.to === undefined || s.to >= moment ? 0 : s.to - moment;
}

/** In the order of what they say about a moment. */
export function arranged(all: Stream[], moment: number): Stream[] {
  const weight = (s: Stream) => {
    const shot = shotAt(s, moment);
    return (gap(shot, moment) === 0 ? 0 : 100) + rank(shot.m);
  };
  return [...all].sort((a, b) => weight(a) - weight(b) || (a.name < b.name ? -1 : 1));
}

/** The memory that tells a failure: the failed one nearest to the end, a fact before a perception. */
export function failing(memories: Memory[]): Memory | undefined {
  const failed = memories.filter((m) => m.outcome === "failure" && (m.status ?? "active") !== "invalidated");
  return failed.findLast((m) => m.type === "fact") ?? failed.at(-1);
}

const roomAround = 0.1; // share of the covering streams that is shown beside them

/** The stretch of the streams that cover a failure, where the episode is much longer. */
export function around(order: Stream[], memories: Memory[], at: number): Stretch | undefined {
  const covering = order.map((s) => shotAt(s, at)).filter((s) => s.to !== undefined && gap(s, at) === 0);
  if (covering.length === 0) return undefined;
  const from = Math.min(at, ...covering.map((s) => s.from));
  const to = Math.max(at, ...covering.map((s) => s.to!));
  const room = (to - from) * roomAround;
  let [first, last] = [Infinity, -Infinity];
  for (const m of memories) {
    const time = Date.parse(m.observed_at) / 1000;
    first = Math.min(first, time);
    last = Math.max(last, time);
  }
  return last - first > 3 * (to - from) ? [from - room, to + room] : undefined;
}
