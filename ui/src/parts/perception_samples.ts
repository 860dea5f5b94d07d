// The numbers of a perception as the plots take them: channels by unit, times,
// and how readings are written.

import type { Signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { call, type Answer } from "../api/client";
import { numberFormat } from "../app/text";

export type Samples = Answer<"samples">;
export type Channel = NonNullable<Samples["channels"]>[number];

/** Where the cursor is, in seconds since the first sample (numbers of samples where no rate is known). */
export interface Cursor {
  /** Subscribes whoever draws by it. */
  readonly at: number | undefined;
  move: (time: number | undefined) => void;
  /** The stretch that is shown of all plots together; null is the whole. Absent where each plot has its own. */
  readonly view?: Stretch | null;
  setView?: (view: Stretch | undefined) => void;
}

export type Stretch = [from: number, to: number];

/** A cursor over one perception, of signals that start elsewhere. */
export function cursorOf(
  signal: Signal<number | undefined>,
  start: number,
  view?: Signal<Stretch | undefined>,
): Cursor {
  const shared = view && {
    get view() {
      return view.value ? ([view.value[0] - start, view.value[1] - start] as Stretch) : null;
    },
    setView: (v: Stretch | undefined) => void (view.value = v && [v[0] + start, v[1] + start]),
  };
  return Object.defineProperties(
    {
      get at() {
        return signal.value === undefined ? undefined : signal.value - start;
      },
      move(time) {
        signal.value = time === undefined ? undefined : time + start;
      },
    } as Cursor,
    Object.getOwnPropertyDescriptors(shared ?? {}),
  );
}

/** What is shown of a plot, in its own time: the shared stretch where it meets the plot, else its own. */
export function useStretch(cursor: Cursor, whole: Stretch): [Stretch | undefined, (s: Stretch | undefined) => void] {
  const [own, setOwn] = useState<Stretch>();
  const shared = cursor.view;
  if (shared === undefined) return [own, setOwn];
  return [shared && shared[1] > whole[0] && shared[0] < whole[1] ? shared : undefined, cursor.setView!];
}

/** Channels that share a y-axis, with the colour of each. */
export interface Group {
  /** What is measured, where the names say so. */
  quantity?: "force" | "torque";
  unit: string;
  channels: { channel: Channel; colour: (typeof colours)[number] }[];
}

const colours = ["c1", "c2", "c3", "c4", "c5", "c6"] as const;

function quantity(c: Channel): "force" | "torque" | undefined {
  const unit = c.unit ?? "";
  if (/^[mk]?N[·⋅*]?m$/.test(unit)) return "torque";
  if (/^[mk]?N$/.test(unit)) return "force";
  const axis = /(?:^|[./_\s])(f|force|t|m|torque)[./_\s]?[xyz]$/i.exec(c.name)?.[1]?.toLowerCase();
  if (axis === undefined) return undefined;
  return axis.startsWith("f") ? "force" : "torque";
}

/** Sorts channels into panels: by what is measured and by unit, no more to a panel than there are colours. */
export function groups(channels: Channel[]): Group[] {
  const kinds = new Map<string, Channel[]>();
  for (const c of channels) {
    const key = `${c.unit ?? ""}|${quantity(c) ?? ""}`;
    kinds.set(key, [...(kinds.get(key) ?? []), c]);
  }
  const out: Group[] = [];
  for (const alike of kinds.values()) {
    const panels = Math.ceil(alike.length / colours.length);
    const each = Math.ceil(alike.length / panels);
    for (let i = 0; i < alike.length; i += each) {
      const first = out.length === 0 || panels > 1 ? 0 : out.at(-1)!.channels.length % colours.length;
      out.push({
        quantity: quantity(alike[0]!),
        unit: alike[0]!.unit ?? "",
        channels: alike
          .slice(i, i + each)
          .map((channel, k) => ({ channel, colour: colours[(first + k) % colours.length]! })),
      });
    }
  }
  return out;
}

/** Times are never missing in what a node answers. */
export const times = (s: Samples): number[] => (s.time ?? []) as number[];

/** The entry that is nearest to a time. */
export function nearest(time: number[], t: number): number {
  let low = 0;
  let high = time.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time[middle]! < t) low = middle + 1;
    else high = middle;
  }
  return low > 0 && t - time[low - 1]! < time[low]! - t ? low - 1 : low;
}

/** The entry of a bucketed trace that holds a time. */
export function bucket(time: number[], t: number): number {
  const i = nearest(time, t);
  return i > 0 && time[i]! > t ? i - 1 : i;
}

/** The time that all samples span; never empty. */
export function span(s: Samples): [number, number] {
  const time = times(s);
  const first = time[0] ?? 0;
  const last = time.at(-1) ?? 1;
  return last > first ? [first, last] : [first - 0.5, first + 0.5];
}

/** A reading with four significant digits. */
export function reading(v: number | null | undefined): string {
  if (v === null || v === undefined) return "–";
  const size = Math.abs(v);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) return v.toExponential(2).replaceAll("-", "−");
  return numberFormat({ maximumSignificantDigits: 4, useGrouping: size >= 10_000 })
    .format(v)
    .replace("-", "−");
}

/** A time as 2:05.5, rounded before it is divided, so that no 60 seconds are left. */
export function minutesText(t: number, digits: number): string {
  const whole = Number(t.toFixed(digits));
  const seconds = (whole % 60).toFixed(digits);
  return `${Math.floor(whole / 60)}:${seconds.padStart(digits ? digits + 3 : 2, "0")}`;
}

/** A time within a trace: milliseconds while it is short. */
export function instant(t: number, unit: string | undefined, whole: number): string {
  if (unit !== "s") return `#${Math.round(t)}`;
  if (whole < 2) return `${reading(Math.round(t * 1e5) / 100)} ms`;
  if (whole < 600) return `${t.toFixed(whole < 60 ? 3 : 2)} s`;
  return `${minutesText(t, 1)} min`;
}

/** Every sample between two times, as CSV; reduced ones as bounds. */
export async function csv(id: number, from?: number, to?: number): Promise<string> {
  const s = await call("samples", { memory_id: id, from, to, points: 200_000 });
  const columns = (s.channels ?? []).flatMap((c): [string, (number | null)[]][] => {
    const name = c.unit ? `${c.name} [${c.unit}]` : c.name;
    return c.values
      ? [[name, c.values]]
      : [
          [name + " min", c.min ?? []],
          [name + " max", c.max ?? []],
        ];
  });
  const cell = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [[s.time_unit === "s" ? "time [s]" : "sample", ...columns.map(([name]) => name)].map(cell).join(",")];
  times(s).forEach((t, i) => lines.push([t, ...columns.map(([, values]) => values[i] ?? "")].join(",")));
  return lines.join("\n") + "\n";
}

/** Hands a text to the browser as a file. */
export function saveAs(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const a = document.createElement("a");
  a.href = url;
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Whether a time lies within the samples, or one step beside them. */
export function within(of: Samples, at: number): boolean {
  const time = times(of);
  const [first, last] = span(of);
  const step = (last - first) / Math.max(time.length - 1, 1);
  return at >= first - step && at <= last + step;
}

export function valueAt(c: Channel, of: Samples, at: number): string {
  const time = times(of);
  if (time.length === 0 || !within(of, at)) return "–";
  if (c.values) return reading(c.values[nearest(time, at)]);
  const i = bucket(time, at);
  const [low, high] = [c.min?.[i], c.max?.[i]];
  return low === high ? reading(low) : `${reading(low)} … ${reading(high)}`;
}

/** Writes times along an axis with as many digits as the stretch needs. */
export function axisText(unit: string | undefined, whole: number, shown: number): (v: number) => string {
  if (unit !== "s") return (v) => (Number.isInteger(v) ? `#${v}` : "");
  const [scale, name] = whole < 2 ? [1000, "ms"] : [1, "s"];
  const digits = Math.min(Math.max(0, Math.ceil(-Math.log10((shown * scale) / 8))), 6);
  return (v) => `${(v * scale).toFixed(digits)} ${name}`;
}
