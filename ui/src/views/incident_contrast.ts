// Two traces on common axes: which of their channels differ most, and their values over common times.

import type { Line } from "../plots/trace";
import { bucket, nearest, span, times, type Channel, type Samples } from "../parts/perception_samples";

const low = (c: Channel) => c.values ?? c.min ?? [];

const high = (c: Channel) => c.values ?? c.max ?? [];

/** Names of the channels of both, first the one whose difference is the most of its own noise. */
export function ranked(a: Samples, b: Samples): string[] {
  const of = (s: Samples, name: string) => s.channels!.find((c) => c.name === name)!;
  const both = (a.channels ?? []).map((c) => c.name).filter((name) => b.channels?.some((c) => c.name === name));
  const measured = both.map((name) => ({
    name,
    unit: of(a, name).unit ?? "",
    ...contrast(a, b, of(a, name), of(b, name)),
  }));
  // A channel that hardly moves has hardly any noise: among channels of a unit a thousandth of the widest range is
  // none.
  const floor = (unit: string) => leastNoise * Math.max(...measured.filter((m) => m.unit === unit).map((m) => m.range));
  const score = (m: (typeof measured)[number]) =>
    m.difference === 0 ? 0 : m.difference / Math.max(m.noise, floor(m.unit), Number.MIN_VALUE);
  return measured.sort((x, y) => score(y) - score(x)).map((m) => m.name);
}

const leastNoise = 1e-3;

/** How far two channels are apart on average, what they span, and their noise. */
function contrast(
  a: Samples,
  b: Samples,
  x: Channel,
  y: Channel,
): { difference: number; range: number; noise: number } {
  const [ta, tb] = [times(a), times(b)];
  let [sum, n, least, most] = [0, 0, Infinity, -Infinity];
  const step = Math.max(1, Math.floor(ta.length / 400));
  for (let i = 0; i < ta.length; i += step) {
    const [v, w] = [middle(x, i), middle(y, nearest(tb, ta[i]!))];
    if (v === undefined || w === undefined) continue;
    sum += Math.abs(v - w);
    n++;
    least = Math.min(least, v, w);
    most = Math.max(most, v, w);
  }
  return n === 0
    ? { difference: 0, range: 0, noise: 0 }
    : { difference: sum / n, range: most - least, noise: Math.max(noise(x), noise(y)) };
}

function middle(c: Channel, i: number): number | undefined {
  const [from, to] = [low(c)[i], high(c)[i]];
  return from == null || to == null ? undefined : (from + to) / 2;
}

/**
 * The noise of a channel as the median size of its steps, which a jump and a slow course do not
 * change. Of a channel whose steps are mostly 0, because its readings are rounded, half of the
 * smallest step. Bounds of many samples are their own steps.
 */
export function noise(c: Channel): number {
  const steps: number[] = [];
  const own = c.values;
  for (let i = 1; i < low(c).length; i++) {
    const [v, w] = own ? [own[i - 1], own[i]] : [low(c)[i], high(c)[i]];
    if (v != null && w != null) steps.push(Math.abs(w - v));
  }
  if (steps.length === 0) return 0;
  steps.sort((p, q) => p - q);
  return steps[steps.length >> 1]! || (steps.find((s) => s > 0) ?? 0) / 2;
}

/**
 * Both courses over the times of either: a value belongs to the nearest sample of its own trace, and to none beyond
 * its ends.
 */
export function onOneGrid(
  a: Samples,
  b: Samples,
  name: string,
  colours: { a: string; b: string },
): { time: number[]; lines: Line[] } {
  const [ta, tb] = [times(a), times(b)];
  const time = [...new Set([...ta, ...tb])].sort((x, y) => x - y);
  const lines = [
    { of: b, own: tb, colour: colours.b },
    { of: a, own: ta, colour: colours.a },
  ].map(({ of, own, colour }): Line => {
    const c = of.channels!.find((x) => x.name === name)!;
    const [first, last] = span(of);
    const put = (values: (number | null)[]) =>
      time.map((v) => (v < first || v > last ? null : (values[c.values ? nearest(own, v) : bucket(own, v)] ?? null)));
    return c.values ? { colour, values: put(c.values) } : { colour, min: put(low(c)), max: put(high(c)) };
  });
  return { time, lines };
}
