// A topic of an episode as one trace. Its segments are read in pieces, each reduced to
// its share of the picture, and drawn as they come.

import { useEffect, useMemo, useState } from "preact/hooks";
import type { Signal } from "@preact/signals";
import { call, Problem, type Memory } from "../api/client";
import { cursorOf, span, times, useStretch, type Channel, type Samples, type Stretch } from "./perception_samples";
import { Plots } from "./perception_trace";
import { ErrorBox, Loading } from "./states";

/** A segment, and when its first message was, in seconds since the epoch. */
export interface Piece {
  id: number;
  from: number;
}

const atOnce = 4; // requests
const entries = 2400; // of the whole picture: more than it has pixels
const fewest = 16; // of one piece, as the node takes it
const redraw = 120; // milliseconds between pictures while pieces come

/** Messages that hold no readings worth a plot: pictures, scans, transforms and texts. */
const unplotted = /Image|Video|Scan|Cloud|TFMessage|FrameTransform|Diagnostic|(^|[/.])Log$|String|Grid|Map|Marker|Path|Calibration|CameraInfo/;

/** Whether a perception is a segment of a recorded topic whose readings may be plotted. */
export function plotted(m: Memory): boolean {
  const { topic, schema } = (m.metadata ?? {}) as { topic?: unknown; schema?: unknown };
  return typeof topic === "string" && !!m.sha256 && (m.media_type ?? "").startsWith("application/vnd.mcap") && !unplotted.test(String(schema ?? ""));
}

interface Topic {
  samples?: Samples;
  reading: boolean;
  error?: Problem;
}

/** Reads the pieces that a stretch touches, since the epoch; all without one. Nothing without pieces. */
function useTopic(pieces: Piece[], stretch?: Stretch): [Topic, () => void] {
  const [state, set] = useState<Topic>({ reading: true });
  const [round, again] = useState(0);
  const key = pieces.map((p) => p.id).join() + (stretch ? `|${stretch}` : "");
  useEffect(() => {
    const wanted = pieces.filter((p, i) => !stretch || (p.from < stretch[1] && (pieces[i + 1]?.from ?? Infinity) > stretch[0]));
    if (wanted.length === 0) {
      set({ reading: false });
      return;
    }
    const abort = new AbortController();
    const got = new Map<number, Samples>();
    const waiting = [...wanted];
    const points = Math.max(fewest, Math.ceil(entries / wanted.length));
    let timer = 0;
    const show = (reading: boolean, error?: Problem) => {
      clearTimeout(timer);
      timer = 0;
      if (!abort.signal.aborted) set({ samples: got.size > 0 ? merged(wanted, got, pieces[0]!.from) : undefined, reading, error });
    };
    set((s) => ({ ...s, reading: true, error: undefined }));
    const work = async (most = Infinity) => {
      for (let p = waiting.shift(); p; p = --most > 0 ? waiting.shift() : undefined) {
        const part = stretch && { from: stretch[0] - p.from, to: stretch[1] - p.from };
        try {
          got.set(p.id, await call("samples", { memory_id: p.id, trace: true, points, ...part }, abort.signal));
        } catch (e) {
          const problem = Problem.from(e);
          // A stretch between two samples has none; one piece that cannot be read does not hide the others.
          if (!stretch && (got.size === 0 || problem.kind === "unreachable")) throw problem;
        }
        if (got.size === 1) show(true);
        else if (timer === 0) timer = window.setTimeout(() => show(true), redraw);
      }
    };
    const start = setTimeout(() => {
      // The first alone, so that something is drawn soon.
      work(1)
        .then(() => Promise.all(Array.from({ length: Math.min(atOnce, waiting.length) }, () => work())))
        .then(
          () => show(false),
          (e) => show(false, Problem.from(e)),
        );
    }, stretch ? 40 : 0);
    return () => {
      clearTimeout(start);
      clearTimeout(timer);
      abort.abort();
    };
  }, [key, round]);
  return [state, () => again((n) => n + 1)];
}

/** One trace of the pieces that are there, in seconds since base. A hole between them stays a hole. */
export function merged(pieces: Piece[], got: Map<number, Samples>, base: number): Samples {
  const there = pieces.filter((p) => got.get(p.id)?.channels);
  const first = got.get(there[0]?.id ?? pieces[0]!.id)!;
  const reduced = there.some((p) => got.get(p.id)!.reduced);
  const channels = new Map<string, Channel & { min: (number | null)[]; max: (number | null)[] }>();
  for (const p of there) {
    for (const c of got.get(p.id)!.channels!) if (!channels.has(c.name)) channels.set(c.name, { name: c.name, unit: c.unit, min: [], max: [] });
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
    channels: [...channels.values()].map(({ min, max, ...c }) => (reduced ? { ...c, min, max } : { ...c, values: min })),
  };
}

interface TopicTraceProps {
  pieces: Piece[];
  cursor: Signal<number | undefined>;
  view: Signal<Stretch | undefined>;
  height: number;
  /** The node finds no readings in the messages. */
  onNone: () => void;
}

export function TopicTrace({ pieces, cursor: shared, view, height, onNone }: TopicTraceProps) {
  const base = pieces[0]!.from;
  const cursor = useMemo(() => cursorOf(shared, base, view), [shared, base, view]);
  const [topic, again] = useTopic(pieces);
  const whole = topic.samples;
  const full = whole ? span(whole) : ([0, 1] as Stretch);
  const [zoom, setZoom] = useStretch(cursor, full);
  const [closer] = useTopic(zoom && whole?.reduced ? pieces : [], zoom && [zoom[0] + base, zoom[1] + base]);
  const none = topic.error && !whole && (topic.error.kind === "not_found" || topic.error.kind === "invalid");
  useEffect(() => {
    if (none) onNone();
  }, [none]);
  if (!whole) return topic.error && !none ? <ErrorBox error={topic.error} again={again} /> : <Loading lines={5} />;
  return (
    <>
      {topic.error && <ErrorBox error={topic.error} again={again} />}
      <Plots whole={whole} shown={(zoom && closer.samples) || whole} full={full} zoom={zoom} setZoom={setZoom} asking={topic.reading || (!!zoom && closer.reading && whole.reduced)} cursor={cursor} height={height} bare />
    </>
  );
}
