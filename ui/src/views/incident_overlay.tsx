// A channel of the failure and of a success on the same axes, both from their first sample.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useSignalEffect, type Signal } from "@preact/signals";
import type { Memory } from "../api/client";
import { useAsk } from "../app/ask";
import { colour, dark } from "../app/theme";
import { drawPanel, type Line, type Panel } from "../plots/trace";
import { bucket, cursorOf, nearest, reading, span, times, useStretch, type Channel, type Samples, type Stretch } from "../parts/perception_samples";
import { Segments } from "../parts/controls";
import { axisText } from "../parts/perception_trace";
import { ErrorBox, Loading } from "../parts/states";
import { useWidth } from "../parts/width";
import { t } from "./incident.text";

const height = 210;
const mostChannels = 12;

interface OverlayProps {
  failure: Memory;
  success: Memory;
  cursor: Signal<number | undefined>;
  view: Signal<Stretch | undefined>;
}

export function Overlay({ failure, success, cursor: shared, view }: OverlayProps) {
  const start = Date.parse(failure.observed_at) / 1000;
  const mine = useAsk("samples", { memory_id: failure.memory_id }, { live: 0 });
  const other = useAsk("samples", { memory_id: success.memory_id }, { live: 0 });
  const [a, b] = [mine.answer, other.answer];
  const cursor = useMemo(() => cursorOf(shared, start, view), [shared, start, view]);
  if (mine.error || other.error) return <ErrorBox error={(mine.error ?? other.error)!} again={mine.error ? mine.again : other.again} />;
  if (!a || !b) return <Loading lines={5} />;
  if (a.kind !== b.kind || (a.kind !== "trace" && a.kind !== "sound") || a.time_unit !== b.time_unit) return null;
  return <Lines failure={failure.memory_id} success={success.memory_id} a={a} b={b} cursor={cursor} />;
}

function Lines({ failure, success, a, b, cursor }: { failure: number; success: number; a: Samples; b: Samples; cursor: ReturnType<typeof cursorOf> }) {
  const [widthRef, width] = useWidth();
  const el = useRef<HTMLDivElement>(null);
  const panel = useRef<Panel | undefined>(undefined);
  const common = useMemo(() => ranked(a, b), [a, b]);
  const [chosen, choose] = useState<string>();
  const full: Stretch = [Math.min(span(a)[0], span(b)[0]), Math.max(span(a)[1], span(b)[1])];
  const [zoom, setZoom] = useStretch(cursor, full);
  const [from, to] = zoom ?? full;
  const part = zoom && { from: Math.max(from, 0), to };
  const nearA = useAsk("samples", part && a.reduced ? { memory_id: failure, ...part } : undefined, { live: 0, settle: 60 });
  const nearB = useAsk("samples", part && b.reduced ? { memory_id: success, ...part } : undefined, { live: 0, settle: 60 });
  const [x, y] = [(zoom && nearA.answer) || a, (zoom && nearB.answer) || b];
  const name = chosen && common.includes(chosen) ? chosen : common[0];
  useEffect(() => {
    if (!el.current || width === 0 || !name) return;
    const drawn = drawPanel(el.current, {
      width,
      height,
      ...onOneGrid(x, y, name),
      from,
      to,
      foot: true,
      colours: { text: colour("dim"), grid: colour("line") },
      write: { x: axisText(a.time_unit, full[1] - full[0], to - from), y: reading },
      onZoom: (f, u) => setZoom([f, u]),
      onReset: () => setZoom(undefined),
      onPoint: (at) => cursor.move(at),
    });
    drawn.cursor(cursor.at);
    panel.current = drawn;
    return () => {
      panel.current = undefined;
      drawn.destroy();
    };
  }, [x, y, name, width, from, to, dark.value]);
  useSignalEffect(() => {
    const at = cursor.at;
    panel.current?.cursor(at);
  });
  if (!name) return null;
  const unit = a.channels?.find((c) => c.name === name)?.unit;
  return (
    <div class="trace incident-overlay">
      <p class="trace-legend">
        <span class="trace-channel bad">
          <i class="dot failure" /> {t("this")}
        </span>
        <span class="trace-channel good">
          <i class="dot success" /> {t("other")}
        </span>
        <b>
          {name}
          {unit && `, ${unit}`}
        </b>
      </p>
      {common.length > 1 && <Segments label={t("channel")} value={name} options={common.slice(0, mostChannels).map((c) => [c, c] as const)} onChange={choose} />}
      <div ref={widthRef} class="trace-plot" style={{ height: `${height}px` }} role="img" aria-label={`${t("this")}, ${t("other")}: ${name}`}>
        <div ref={el} />
      </div>
    </div>
  );
}

const low = (c: Channel) => c.values ?? c.min ?? [];
const high = (c: Channel) => c.values ?? c.max ?? [];

/** Names of the channels of both, first the one whose difference is the most of its own noise. */
function ranked(a: Samples, b: Samples): string[] {
  const of = (s: Samples, name: string) => s.channels!.find((c) => c.name === name)!;
  const both = (a.channels ?? []).map((c) => c.name).filter((name) => b.channels?.some((c) => c.name === name));
  const measured = both.map((name) => ({ name, unit: of(a, name).unit ?? "", ...contrast(a, b, of(a, name), of(b, name)) }));
  // A channel that hardly moves has hardly any noise: among channels of a unit a thousandth of the widest range is none.
  const floor = (unit: string) => leastNoise * Math.max(...measured.filter((m) => m.unit === unit).map((m) => m.range));
  const score = (m: (typeof measured)[number]) => (m.difference === 0 ? 0 : m.difference / Math.max(m.noise, floor(m.unit), Number.MIN_VALUE));
  return measured.sort((x, y) => score(y) - score(x)).map((m) => m.name);
}

const leastNoise = 1e-3;

/** How far two channels are apart on average, what they span, and their noise. */
function contrast(a: Samples, b: Samples, x: Channel, y: Channel): { difference: number; range: number; noise: number } {
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
  return n === 0 ? { difference: 0, range: 0, noise: 0 } : { difference: sum / n, range: most - least, noise: Math.max(noise(x), noise(y)) };
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
function noise(c: Channel): number {
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

/** Both courses over the times of either: a value belongs to the nearest sample of its own trace, and to none beyond its ends. */
function onOneGrid(a: Samples, b: Samples, name: string): { time: number[]; lines: Line[] } {
  const [ta, tb] = [times(a), times(b)];
  const time = [...new Set([...ta, ...tb])].sort((x, y) => x - y);
  const lines = [
    { of: b, own: tb, colour: "good" },
    { of: a, own: ta, colour: "bad" },
  ].map(({ of, own, colour: tone }): Line => {
    const c = of.channels!.find((x) => x.name === name)!;
    const [first, last] = span(of);
    const put = (values: (number | null)[]) => time.map((v) => (v < first || v > last ? null : (values[c.values ? nearest(own, v) : bucket(own, v)] ?? null)));
    return c.values ? { colour: colour(tone), values: put(c.values) } : { colour: colour(tone), min: put(low(c)), max: put(high(c)) };
  });
  return { time, lines };
}
