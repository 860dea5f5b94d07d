// The segments of a recorded topic, and one trace of all of them.

import type { Memory } from "../api/client";
import { times, type Channel, type Samples } from "./perception_samples";

/** A segment, and when its first message was, in seconds since the epoch. */
export interface Piece {
  id: number;
  from: number;
}

/** Messages that hold no readings worth a plot: pictures, scans, transforms and texts. */
const unplotted =
  /Image|Video|Scan|Cloud|TFMessage|FrameTransform|Diagnostic|(^|[/.])Log$|String|Grid|Map|Marker|Path|Calibration|CameraInfo/;

/** Whether a perception is a segment of a recorded topic whose readings may be plotted. */
export function plotted(m: Memory): boolean {
  const { topic, schema } = (m.metadata ?? {}) as { topic?: unknown; schema?: unknown };
  return (
    typeof topic === "string" &&
    !!m.sha256 &&
    (m.media_type ?? "").startsWith("application/vnd.mcap") &&
    !unplotted.test(String(schema ?? ""))
  );
}

/** One trace of the pieces that are there, in seconds since base. A hole between them stays a hole. */
export function merged(pieces: Piece[], got: Map<number, Samples>, base: number): Samples {
  const there = pieces.filter((p) => got.get(p.id)?.channels);
  const first = got.get(there[0]?.id ?? pieces[0]!.id)!;
  const reduced = there.some((p) => got.get(p.id)!.reduced);
  const channels = new Map<string, Channel & { min: (number | null)[]; max: (number | null)[] }>();
  for (const p of there) {
    for (const c of got.get(p.id)!.channels!)
      if (!channels.has(c.name)) channels.set(c.name, { name: c.name, unit: c.unit, min: [], max: [] });
  }
  const time: number[] = [];
  let [total, end] = [0, -Infinity];
  for (const p of there) {
    const s = got.get(p.id)!;
    const at = times(s);
    if (at.length === 0) continue;
    const shift = p.from - base;
    const step = at.length > 1 ? (at.at(-1)! - at[0]!) / (at.length - 1) : 0;
    if (time.length > 0 && at[0]! + shift - end > Math.max(3 * step, 3 / (s.rate_hz || 1))) {
      time.push(end + step / 2);
      for (const c of channels.values()) (c.min.push(null), c.max.push(null));
    }
    for (const t of at) time.push(t + shift);
    for (const c of channels.values()) {
      const from = s.channels!.find((x) => x.name === c.name);
      const none = () => at.map(() => null);
      c.min.push(...((from?.min ?? from?.values ?? none()) as (number | null)[]));
      c.max.push(...((from?.max ?? from?.values ?? none()) as (number | null)[]));
    }
    total += s.total;
    end = Math.max(time.at(-1)!, shift + (s.reduced ? Math.min(s.duration_s ?? 0, at.at(-1)! + step) : 0));
  }
  return {
    ...first,
    kind: "trace",
    total,
    reduced,
    time,
    time_unit: "s",
    duration_s: Math.max(0, end),
    channels: [...channels.values()].map(({ min, max, ...c }) =>
      reduced ? { ...c, min, max } : { ...c, values: min },
    ),
  };
}
