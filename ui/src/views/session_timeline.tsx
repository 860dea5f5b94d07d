// An episode as lanes over time, with the cursor that all plots share.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Signal } from "@preact/signals";
import type { Memory } from "../api/client";
import { duration, moment } from "../app/text";
import { Button } from "../parts/controls";
import type { Stretch } from "../parts/perception_samples";
import { useWidth } from "../parts/width";
import { lanes, span, still, thin, ticks, tickText, timed, type Item } from "./session_lanes";
import { t } from "./session.text";

const laneHeight = 30;
const axisHeight = 26;
const room = 0.02; // share of an episode that is shown before and after it
const labelHalf = 28; // of a time such as 2 min 30 s

interface TimelineProps {
  memories: Memory[];
  /** Seconds since the epoch; undefined before it is first moved. */
  cursor: Signal<number | undefined>;
  /** The stretch that is shown, likewise; undefined shows the whole. */
  view: Signal<Stretch | undefined>;
  /** A moment that is marked, such as that of a failure. */
  mark?: number;
}

export function Timeline({ memories, cursor, view, mark }: TimelineProps) {
  const [ref, width] = useWidth();
  const outside = useMemo(() => still(memories), [memories]);
  const all = useMemo(() => lanes(timed(memories), t("facts")), [memories]);
  const [began, ended] = useMemo(() => span(timed(memories)), [memories]);
  // A little room on both sides, where marks at the ends are whole.
  const whole: Stretch = [began - (ended - began) * room, ended + (ended - began) * room];
  const setView = (v: Stretch | undefined) => void (view.value = v);
  const [from, to] = view.value ?? whole;
  const left = width < 600 ? 70 : 130;
  const x = (s: number) => left + ((s - from) / (to - from)) * (width - left - 8);
  const moments = useMemo(() => [...new Set(all.flatMap((l) => l.items.map((i) => i.from)))].sort((a, b) => a - b), [all]);
  useEffect(() => {
    if (cursor.peek() === undefined) cursor.value = ended;
  }, [ended]);

  const step = (by: 1 | -1) => {
    const now = cursor.peek() ?? moments[0]!;
    const next = by > 0 ? moments.find((m) => m > now) : moments.findLast((m) => m < now);
    if (next === undefined) return;
    cursor.value = next;
    if (next < from || next > to) setView([next - (to - from) / 2, next + (to - from) / 2]);
  };
  const zoom = (by: number) => {
    const middle = cursor.peek() ?? (from + to) / 2;
    const length = Math.min((to - from) * by, whole[1] - whole[0]);
    const start = Math.min(Math.max(middle - ((middle - from) / (to - from)) * length, whole[0]), whole[1] - length);
    setView(length >= whole[1] - whole[0] ? undefined : [start, start + length]);
  };
  const point = (e: PointerEvent) => {
    const box = (e.currentTarget as Element).getBoundingClientRect();
    const s = from + ((e.clientX - box.left - left) / (width - left - 8)) * (to - from);
    cursor.value = Math.min(Math.max(s, began), ended);
  };
  const press = (e: KeyboardEvent) => {
    const keys: Record<string, () => void> = {
      ArrowRight: () => step(1),
      ArrowLeft: () => step(-1),
      Home: () => (cursor.value = began),
      End: () => (cursor.value = ended),
      "+": () => zoom(0.5),
      "-": () => zoom(2),
      "0": () => setView(undefined),
    };
    const f = keys[e.key];
    if (!f) return;
    e.preventDefault();
    f();
  };
  const height = all.length * laneHeight + axisHeight;
  const now = cursor.value;
  return (
    <div class="timeline" ref={ref}>
      <Transport began={began} ended={ended} cursor={cursor} step={step} zoom={zoom} zoomed={!!view.value} whole={() => setView(undefined)} />
      {width > 0 && (
        <svg
          width={width}
          height={height}
          role="slider"
          tabindex={0}
          aria-label={t("timeline")}
          aria-valuemin={0}
          aria-valuemax={ended - began}
          aria-valuenow={Math.min(Math.max((now ?? began) - began, 0), ended - began)}
          aria-valuetext={now === undefined ? "" : moment(new Date(now * 1000))}
          onKeyDown={press}
          onPointerDown={(e) => {
            e.currentTarget.setPointerCapture(e.pointerId);
            point(e);
          }}
          onPointerMove={(e) => e.buttons === 1 && point(e)}
        >
          {ticks(Math.max(from - began, 0), to - began, (width - left) / 90).map((s) => (
            <g key={s} class="tick">
              <line x1={x(began + s)} x2={x(began + s)} y1={0} y2={height - axisHeight} />
              <text x={Math.min(x(began + s), width - labelHalf)} y={height - 9} text-anchor="middle">
                {tickText(s, to - from)}
              </text>
            </g>
          ))}
          {all.map((lane, i) => (
            <g key={lane.name} transform={`translate(0 ${i * laneHeight})`}>
              <text class="lane" x={0} y={laneHeight / 2 + 4}>
                <title>{lane.name}</title>
                {lane.name.length > left / 7.5 ? "…" + lane.name.slice(-Math.floor(left / 9)) : lane.name}
              </text>
              <line class="lane-line" x1={left} x2={width} y1={laneHeight - 1} y2={laneHeight - 1} />
              {thin(lane.items, from, to, x).map((it) => (
                <Mark key={it.m.memory_id} it={it} x={x} fact={lane.name === t("facts")} on={now !== undefined && it.from <= now && now <= Math.max(it.to, it.from)} />
              ))}
            </g>
          ))}
          {mark !== undefined && mark >= from && mark <= to && <line class="mark-line" x1={x(mark)} x2={x(mark)} y1={0} y2={height - axisHeight} />}
          {now !== undefined && now >= from && now <= to && <line class="cursor" x1={x(now)} x2={x(now)} y1={0} y2={height - axisHeight + 6} />}
        </svg>
      )}
      {outside.length > 0 && (
        <p class="timeline-outside dim">
          {t("outside")}{" "}
          {outside.map((m) => (
            <a key={m.memory_id} href={`/memory/${m.memory_id}`} title={m.content}>
              {m.source || t("manifest")}
            </a>
          ))}
        </p>
      )}
    </div>
  );
}

function Mark({ it, x, fact, on }: { it: Item; x: (s: number) => number; fact: boolean; on: boolean }) {
  const tone = it.good === undefined ? "" : it.good ? " good" : " bad";
  const title = <title>{it.m.content}</title>;
  if (fact) {
    return (
      <circle class={`item${tone}${on ? " on" : ""}`} cx={x(it.from)} cy={laneHeight / 2} r={on ? 7 : 5}>
        {title}
      </circle>
    );
  }
  const width = Math.max(x(it.to) - x(it.from), 4);
  return (
    <rect class={`item${tone}${on ? " on" : ""}`} x={x(it.from)} width={width} y={7} height={laneHeight - 14} rx={2}>
      {title}
    </rect>
  );
}

interface TransportProps {
  began: number;
  ended: number;
  cursor: Signal<number | undefined>;
  step: (by: 1 | -1) => void;
  zoom: (by: number) => void;
  zoomed: boolean;
  whole: () => void;
}

/** Playing goes through an episode in its own time, at most half a minute. */
const longestPlay = 30; // seconds

function Transport({ began, ended, cursor, step, zoom, zoomed, whole }: TransportProps) {
  const [playing, setPlaying] = useState(false);
  const frame = useRef(0);
  useEffect(() => {
    if (!playing) return;
    const speed = Math.max(1, (ended - began) / longestPlay);
    let last = performance.now();
    if ((cursor.peek() ?? ended) >= ended) cursor.value = began;
    const run = (now: number) => {
      cursor.value = Math.min((cursor.peek() ?? began) + ((now - last) / 1000) * speed, ended);
      last = now;
      if (cursor.peek()! >= ended) setPlaying(false);
      else frame.current = requestAnimationFrame(run);
    };
    frame.current = requestAnimationFrame(run);
    return () => cancelAnimationFrame(frame.current);
  }, [playing]);
  const now = cursor.value;
  return (
    <div class="transport">
      <Button icon="back" label={t("stepBack")} onClick={() => step(-1)} />
      <Button icon={playing ? "pause" : "play"} label={t(playing ? "pause" : "play")} onClick={() => setPlaying(!playing)} />
      <Button icon="forward" label={t("stepOn")} onClick={() => step(1)} />
      <span class="number" aria-live="off">
        {now !== undefined && `${duration(Math.max(0, now - began))} / ${duration(ended - began)}`}
      </span>
      <span class="top-space" />
      <Button kind="quiet" icon="zoom" label={t("zoomIn")} onClick={() => zoom(0.5)} />
      {zoomed && (
        <Button kind="quiet" onClick={whole}>
          {t("whole")}
        </Button>
      )}
    </div>
  );
}
