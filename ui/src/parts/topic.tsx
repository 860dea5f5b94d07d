// A topic of an episode as one trace. Its segments are read in pieces, each reduced to
// its share of the picture, and drawn as they come.

import { useEffect, useMemo, useState } from "preact/hooks";
import type { Signal } from "@preact/signals";
import { call, Problem } from "../api/client";
import { cursorOf, span, useStretch, type Samples, type Stretch } from "./perception_samples";
import { Plots } from "./perception_trace";
import { ErrorBox, Loading } from "./states";
import { merged, type Piece } from "./topic_pieces";

const atOnce = 4; // requests
const entries = 2400; // of the whole picture: more than it has pixels
const fewest = 16; // of one piece, as the node takes it
const redraw = 120; // milliseconds between pictures while pieces come

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
