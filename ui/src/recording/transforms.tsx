// Transforms as the tree of frames, and as the motion of any frame in any other.

import { useEffect, useMemo, useState } from "preact/hooks";
import { call, type Memory } from "../api/client";
import { number } from "../app/text";
import { Select } from "../parts/controls";
import { span, useStretch, type Cursor, type Samples } from "../parts/perception_samples";
import { Plots } from "../parts/perception_trace";
import { chain, framesOf, motion, yaw, type Frames } from "./frames";
import { read, type Recorded } from "./messages";
import { t } from "./recording.text";

const mostTimes = 4000;
const statics = 1000; // memories of an episode that are searched for static transforms

/** The static transforms of the episode: they may have been published long before. */
function useStatic(m: Memory): Recorded[] {
  const [found, set] = useState<Recorded[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    const look = async () => {
      if (!m.session_id) return;
      const { memories } = await call("session_memories", { session_id: m.session_id, limit: statics }, abort.signal);
      const fixed = memories.filter((x) => String((x.metadata as { topic?: unknown } | undefined)?.topic).endsWith("tf_static") && x.sha256);
      set(await Promise.all(fixed.map((x) => read(x.memory_id))));
    };
    look().catch(() => undefined); // without them the moving ones are shown
    return () => abort.abort();
  }, [m.session_id]);
  return found;
}

export function Transforms({ m, recorded, cursor, start, height }: { m: Memory; recorded: Recorded; cursor: Cursor; start: number; height?: number }) {
  const fixed = useStatic(m);
  const frames = useMemo(() => framesOf([...fixed.filter((r) => r.topic !== recorded.topic), recorded]), [recorded, fixed]);
  const names = useMemo(() => [...new Set([...frames.keys(), ...[...frames.values()].map((l) => l.parent)])].sort(), [frames]);
  const robot = ["base_link", "base_footprint"].find((n) => frames.has(n)) ?? [...frames].find(([, l]) => !l.fixed)?.[0] ?? names[0] ?? "";
  const [frame, setFrame] = useState<string>();
  const [within, setWithin] = useState<string>();
  const of = frame && names.includes(frame) ? frame : robot;
  const to = within && names.includes(within) ? within : (chain(frames, of).at(-1) ?? of);
  const moves = useMemo(() => motion(frames, of, to, mostTimes), [frames, of, to]);
  if (names.length === 0) return <p class="dim">{t("noFrames")}</p>;
  const choices = names.map((n) => [n, n] as const);
  return (
    <div class="transforms">
      <section aria-label={t("frames")}>
        <ul class="tree">
          {names
            .filter((n) => !frames.has(n))
            .map((n) => (
              <Branch key={n} frames={frames} name={n} />
            ))}
        </ul>
      </section>
      <section>
        <div class="messages-head">
          <Select label={t("frame")} value={of} options={choices} onChange={setFrame} />
          <Select label={t("within")} value={to} options={choices} onChange={setWithin} />
        </div>
        {!moves ? <p class="dim">{t("noChain", { frame: of, within: to })}</p> : moves.times.length === 0 ? <Still pose={moves.poses[0]!} /> : <Motion moves={moves} cursor={cursor} start={start} height={height} />}
      </section>
    </div>
  );
}

function Branch({ frames, name }: { frames: Frames; name: string }) {
  const children = [...frames].filter(([, l]) => l.parent === name).map(([n]) => n);
  return (
    <li data-frame={name}>
      {name} {frames.get(name)?.fixed && <span class="dim">({t("fixed")})</span>}
      {children.length > 0 && (
        <ul>
          {children.map((n) => (
            <Branch key={n} frames={frames} name={n} />
          ))}
        </ul>
      )}
    </li>
  );
}

type Poses = NonNullable<ReturnType<typeof motion>>;

function Still({ pose }: { pose: Poses["poses"][number] }) {
  return (
    <p class="number">
      {pose.position.map((v) => number(v, 3)).join(", ")} m, yaw {number(yaw(pose), 1)}° <span class="dim">({t("fixed")})</span>
    </p>
  );
}

function Motion({ moves, cursor, start, height }: { moves: Poses; cursor: Cursor; start: number; height?: number }) {
  const whole = useMemo((): Samples => {
    const channel = (name: string, unit: string, values: number[]) => ({ name, unit, values });
    const time = moves.times.map((s) => s - start);
    return {
      memory_id: 0,
      kind: "trace",
      total: time.length,
      reduced: false,
      time,
      time_unit: "s",
      duration_s: time.at(-1)! - time[0]!,
      channels: [...(["x", "y", "z"] as const).map((axis, i) => channel(axis, "m", moves.poses.map((p) => p.position[i]!))), channel("yaw", "°", moves.poses.map(yaw))],
    };
  }, [moves, start]);
  const full = span(whole);
  const [zoom, setZoom] = useStretch(cursor, full);
  return <Plots whole={whole} shown={whole} full={full} zoom={zoom} setZoom={setZoom} asking={false} cursor={cursor} height={height} bare />;
}
