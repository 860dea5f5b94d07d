// Memories by place: two coordinates at one scale, with heat beneath, a place
// that is picked and a radius round it. Points are drawn on a canvas, the axes
// and the selection over it; whatever a pointer does, keys do too.

import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { dark } from "../app/theme";
import { lang } from "../app/text";
import { Button } from "../parts/controls";
import { drawGrid, drawHeat, drawPoints, drawRings, type Heat, type PlaneCell, type PlanePoint } from "./plane_draw";
import { useHand } from "./plane_hand";
import { betweenLines, digits, fit, room, shown, ticks, toU, toV, toX, toY, zoomed, type Box, type Frame, type Picked, type View } from "./plane_view";
import { Axes, Tip } from "./plane_over";
import { stepAbove } from "./steps";
import { drawUnderlay, type Underlay } from "./underlay";
import { t } from "./plane.text";

interface PlaneProps {
  /** What is shown, in words. */
  label: string;
  points: PlanePoint[];
  /** What is shown at first. */
  whole: Box;
  /** Names of u, v and, where there is one, of the coordinate that is not shown. */
  axes: readonly [string, string, string?];
  /** Name of the frame, for the corner. */
  frame: string;
  heat?: Heat;
  /** What lies beneath the points. */
  underlay?: Underlay;
  picked?: Picked;
  /** Memories to ring. */
  found?: ReadonlySet<number>;
  /** A memory that is pointed at elsewhere. */
  over?: number;
  onPick: (u: number, v: number, point?: PlanePoint) => void;
  onRadius: (radius: number) => void;
  onClear: () => void;
  /** The part that is shown has changed; undefined is the whole. */
  onView?: (shown: Box | undefined) => void;
  /** What is shown at first instead of the whole: the middle, and units from left to right. */
  start?: Stand;
  /** Where it was moved to, in the same way; undefined is the whole. */
  onMoved?: (stand: Stand | undefined) => void;
}

export type Stand = [u: number, v: number, span: number];

const reach = 11; // pixels from a point at which it is meant
const foot = { bottom: 40, top: 10, right: 10 }; // pixels round the frame

export function Plane(p: PlaneProps) {
  const stage = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, height] = useSize(stage);
  const [own, setView] = useState<View | null>(); // null is the whole, whatever the start was
  const [hover, setHover] = useState<{ x: number; y: number; point?: PlanePoint; cell?: PlaneCell }>();
  const [cross, setCross] = useState(false);
  const [draft, setDraft] = useState<number>();
  const keysID = useId();

  const left = room(p.whole, height);
  const frame: Frame = { left, top: foot.top, width: Math.max(width - left - foot.right, 1), height: Math.max(height - foot.top - foot.bottom, 1) };
  const all = fit(p.whole, frame);
  const asked = own === undefined && p.start && width > 0 ? { u: p.start[0], v: p.start[1], scale: frame.width / p.start[2] } : undefined;
  const view = own ?? asked ?? all;
  const step = stepAbove(betweenLines / view.scale);
  const seen = shown(view, frame);
  const us = ticks(seen.min[0], seen.max[0], step);
  const vs = ticks(seen.min[1], seen.max[1], step);
  const picked = p.picked && { ...p.picked, radius: draft ?? p.picked.radius };

  const show = (next: View | undefined) => {
    setView(next ?? null);
    setHover(undefined);
    p.onView?.(next && shown(next, frame));
    p.onMoved?.(next && [next.u, next.v, frame.width / next.scale]);
  };
  const latest = useRef(view); // several moves may come between two renderings
  latest.current = view;
  const to = (next: View | undefined) => {
    latest.current = next ?? all;
    show(next);
  };
  const move = (dx: number, dy: number) => to({ ...latest.current, u: latest.current.u - dx / latest.current.scale, v: latest.current.v + dy / latest.current.scale });
  const zoom = (by: number, x = frame.left + frame.width / 2, y = frame.top + frame.height / 2) => to(zoomed(latest.current, all, frame, by, x, y));
  const nearest = (x: number, y: number) => {
    let best: PlanePoint | undefined;
    let least = reach;
    for (const point of p.points) {
      const d = Math.hypot(toX(view, frame, point.u) - x, toY(view, frame, point.v) - y);
      if (d < least) [least, best] = [d, point];
    }
    return best;
  };
  const pick = (x: number, y: number, point = nearest(x, y)) => {
    const precision = digits(1 / view.scale / 2); // half a pixel
    if (point) p.onPick(point.u, point.v, point);
    else p.onPick(Number(toU(view, frame, x).toFixed(precision)), Number(toV(view, frame, y).toFixed(precision)));
  };
  const radiusTo = (x: number, y: number) => {
    const r = Math.hypot(toU(view, frame, x) - picked!.u, toV(view, frame, y) - picked!.v);
    return Number(Math.max(r, 1 / view.scale).toPrecision(3));
  };
  useHand(stage, width > 0, {
    move,
    zoom,
    pick,
    hover: (x, y) => {
      const point = nearest(x, y);
      const [u, v] = [toU(view, frame, x), toV(view, frame, y)];
      const cell = point ? undefined : p.heat?.cells.find((c) => u >= c.u && v >= c.v && u <= c.u + p.heat!.side && v <= c.v + p.heat!.side);
      setHover(point ? { x: toX(view, frame, point.u), y: toY(view, frame, point.v), point } : cell ? { x, y, cell } : undefined);
    },
    leave: () => setHover(undefined),
    grips: (x, y, slack) => {
      if (!picked?.radius) return false;
      const d = Math.hypot(toX(view, frame, picked.u) - x, toY(view, frame, picked.v) - y);
      return d > slack && Math.abs(d - picked.radius * view.scale) <= slack; // a small circle can still be left for another
    },
    stretch: (x, y) => setDraft(radiusTo(x, y)),
    stretched: () => {
      if (draft !== undefined) p.onRadius(draft);
      setDraft(undefined);
    },
  });

  const walk = (by: 1 | -1) => {
    const inSight = p.points.filter((q) => q.u >= seen.min[0] && q.u <= seen.max[0] && q.v >= seen.min[1] && q.v <= seen.max[1]).sort((a, b) => a.u - b.u || a.v - b.v);
    const at = inSight.findIndex((q) => q.id === hover?.point?.id);
    const point = inSight[at < 0 ? (by > 0 ? 0 : inSight.length - 1) : (at + by + inSight.length) % inSight.length];
    if (point) setHover({ x: toX(view, frame, point.u), y: toY(view, frame, point.v), point });
  };
  const stretch = (by: number) => {
    if (picked?.radius) p.onRadius(Number((picked.radius * by).toPrecision(3)));
  };
  const keys: Record<string, () => void> = {
    ArrowLeft: () => move(60, 0),
    ArrowRight: () => move(-60, 0),
    ArrowUp: () => move(0, 60),
    ArrowDown: () => move(0, -60),
    "+": () => zoom(1.5),
    "=": () => zoom(1.5),
    "-": () => zoom(1 / 1.5),
    "0": () => to(undefined),
    j: () => walk(1),
    k: () => walk(-1),
    Enter: () => pick(frame.left + frame.width / 2, frame.top + frame.height / 2, hover?.point),
    "[": () => stretch(1 / 1.25),
    "]": () => stretch(1.25),
    Escape: p.onClear,
  };
  const press = (e: KeyboardEvent) => {
    const f = e.metaKey || e.ctrlKey || e.altKey ? undefined : keys[e.key];
    if (!f || (e.key === "Escape" && !p.picked)) return; // Escape then closes what the map stands in
    e.preventDefault();
    e.stopPropagation();
    setCross(true);
    f();
  };

  void dark.value; // drawn anew in the colours of the theme
  useLayoutEffect(() => {
    const g = canvas.current?.getContext("2d");
    if (!g || width === 0) return;
    const dense = devicePixelRatio || 1;
    const [w, h] = [Math.round(width * dense), Math.round(height * dense)];
    if (g.canvas.width !== w) g.canvas.width = w;
    if (g.canvas.height !== h) g.canvas.height = h;
    g.setTransform(dense, 0, 0, dense, 0, 0);
    g.clearRect(0, 0, width, height);
    g.save();
    g.beginPath();
    g.rect(frame.left, frame.top, frame.width, frame.height);
    g.clip();
    if (p.underlay) drawUnderlay(g, p.underlay, view, frame);
    drawGrid(g, us, vs, view, frame);
    if (p.heat) drawHeat(g, p.heat, view, frame);
    drawPoints(g, p.points, view, frame, !!p.heat);
    if (p.found) drawRings(g, p.points, p.found, view, frame);
    g.restore();
  }, [p.points, p.heat, p.underlay, p.found, p.whole, own, width, height, dark.value, lang.value]);

  const elsewhere = p.over === undefined ? undefined : p.points.find((q) => q.id === p.over);
  const tip = hover ?? (elsewhere && { x: toX(view, frame, elsewhere.u), y: toY(view, frame, elsewhere.v), point: elsewhere });
  return (
    <div class="plane">
      <p id={keysID} class="hidden">
        {t("keys")}
      </p>
      <div
        ref={stage}
        class="plane-stage"
        tabIndex={0}
        role="application"
        aria-label={t("surface")}
        aria-describedby={keysID}
        onKeyDown={press}
        onFocus={(e) => setCross(e.currentTarget.matches(":focus-visible"))}
        onBlur={() => setCross(false)}
      >
        <canvas ref={canvas} role="img" aria-label={p.label} />
        {width > 0 && <Axes view={view} frame={frame} us={us} vs={vs} step={step} axes={p.axes} name={p.frame} picked={picked} over={tip?.point} cross={cross && !tip?.point} />}
        {tip && <Tip {...tip} frame={frame} axes={p.axes} digits={digits(step) + 2} />}
      </div>
      <div class="plane-tools">
        <Button label={t("zoomIn")} onClick={() => zoom(1.5)}>
          +
        </Button>
        <Button label={t("zoomOut")} onClick={() => zoom(1 / 1.5)}>
          −
        </Button>
        <Button icon="fit" label={t("whole")} disabled={view === all} onClick={() => to(undefined)} />
      </div>
    </div>
  );
}

/** Width and height of an element in CSS pixels, kept as they change. */
function useSize(ref: { current: HTMLElement | null }): [number, number] {
  const [size, set] = useState<[number, number]>([0, 0]);
  useEffect(() => {
    const el = ref.current;
    if (!el) return;
    const read = () => set([el.clientWidth, el.clientHeight]);
    const observer = new ResizeObserver(read);
    observer.observe(el);
    read();
    return () => observer.disconnect();
  }, []);
  return size;
}
