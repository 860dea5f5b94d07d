// One panel of a plot over time, drawn by uPlot: the lines of channels of one
// unit, or the bands between the smallest and the largest of each bucket. The
// cursor is an element of its own, so that many panels can share it.

import uPlot from "uplot";

type Numbers = (number | null)[];

export interface Line {
  /** A colour as a canvas takes it. */
  colour: string;
  /** The readings, or the bounds of their buckets. null leaves a gap. */
  values?: Numbers;
  min?: Numbers;
  max?: Numbers;
}

export interface PanelOptions {
  width: number;
  height: number;
  time: number[];
  lines: Line[];
  /** Bounds of the x-axis. */
  from: number;
  to: number;
  /** Whether the x-axis is written below; a panel above another needs none. */
  foot: boolean;
  colours: { text: string; grid: string };
  write: { x: (v: number) => string; y: (v: number) => string };
  /** A stretch of time was drawn over. */
  onZoom: (from: number, to: number) => void;
  onReset: () => void;
  onPoint: (time: number) => void;
  onPick?: (time: number) => void;
}

export interface Panel {
  /** Puts the cursor somewhere; undefined hides it. */
  cursor: (time: number | undefined) => void;
  destroy: () => void;
}

/** Width of the y-axis, in CSS pixels: equal for all, so that the panels align. */
export const gutter = 56;
/** Room at the right for the last number of the x-axis. */
export const margin = 20;
const footHeight = 26;
const shortestDrag = 6; // pixels; less is a click

export function drawPanel(el: HTMLElement, o: PanelOptions): Panel {
  const font = "12px system-ui, sans-serif";
  const axis: uPlot.Axis = { stroke: o.colours.text, font, grid: { stroke: o.colours.grid, width: 1 }, ticks: { show: false } };
  const [series, bands, data] = lay(o);
  const u = new uPlot(
    {
      width: o.width,
      height: o.height,
      padding: [8, margin, 0, 0],
      legend: { show: false },
      series,
      bands,
      scales: { x: { time: false, range: () => [o.from, o.to] } },
      axes: [
        { ...axis, size: o.foot ? footHeight : 6, space: 70, values: (_, splits) => splits.map((v) => (o.foot ? o.write.x(v) : "")) },
        { ...axis, size: gutter, gap: 6, space: 28, values: (_, splits) => splits.map(o.write.y) },
      ],
      cursor: {
        x: false,
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false, dist: shortestDrag },
        bind: {
          dblclick: () => () => {
            o.onReset();
            return null;
          },
        },
      },
      hooks: {
        setSelect: [
          (u) => {
            const { left, width } = u.select;
            if (width < shortestDrag) return;
            u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
            o.onZoom(u.posToVal(left, "x"), u.posToVal(left + width, "x"));
          },
        ],
      },
    },
    data,
    el,
  );
  const mark = document.createElement("div");
  mark.className = "trace-cursor";
  mark.hidden = true;
  u.over.append(mark);

  const at = (e: PointerEvent) => Math.min(Math.max(u.posToVal(e.clientX - u.over.getBoundingClientRect().left, "x"), o.from), o.to);
  u.over.addEventListener("pointermove", (e) => o.onPoint(at(e)));
  let pressed = 0;
  u.over.addEventListener("pointerdown", (e) => {
    pressed = e.clientX;
    o.onPoint(at(e));
  });
  u.over.addEventListener("pointerup", (e) => {
    if (Math.abs(e.clientX - pressed) < shortestDrag) o.onPick?.(at(e));
  });
  pinch(u, o);
  return {
    cursor(time) {
      mark.hidden = time === undefined || time < o.from || time > o.to;
      if (!mark.hidden) mark.style.left = `${((time! - o.from) / (o.to - o.from)) * 100}%`;
    },
    destroy: () => u.destroy(),
  };
}

/** Two fingers zoom and move: the picture follows them, and is drawn anew when they are lifted. */
function pinch(u: uPlot, o: PanelOptions): void {
  const fingers = new Map<number, { from: number; now: number }>(); // x in the plot
  const x = (e: PointerEvent) => e.clientX - u.over.getBoundingClientRect().left;
  const change = () => {
    const [a, b] = [...fingers.values()] as [{ from: number; now: number }, { from: number; now: number }];
    const apart = a.from - b.from;
    const scale = Math.abs(apart) < shortestDrag ? 1 : Math.min(50, Math.max(0.1, (a.now - b.now) / apart));
    return { scale, shift: (a.now + b.now) / 2 - (scale * (a.from + b.from)) / 2 };
  };
  const canvas = u.ctx.canvas;
  u.over.addEventListener("pointerdown", (e) => {
    if (e.pointerType !== "touch") return;
    u.over.setPointerCapture(e.pointerId);
    fingers.set(e.pointerId, { from: x(e), now: x(e) });
    for (const f of fingers.values()) f.from = f.now;
  });
  u.over.addEventListener("pointermove", (e) => {
    const finger = fingers.get(e.pointerId);
    if (!finger) return;
    finger.now = x(e);
    if (fingers.size !== 2) return;
    const { scale, shift } = change();
    canvas.style.transformOrigin = `${u.over.offsetLeft}px 0`;
    canvas.style.transform = `translateX(${shift}px) scaleX(${scale})`;
  });
  const lift = (e: PointerEvent) => {
    const two = fingers.size === 2 && fingers.has(e.pointerId) ? change() : undefined;
    fingers.delete(e.pointerId);
    if (!two) return;
    canvas.style.transform = "";
    if (Math.abs(two.scale - 1) < 0.02 && Math.abs(two.shift) < shortestDrag) return;
    o.onZoom(u.posToVal(-two.shift / two.scale, "x"), u.posToVal((u.over.clientWidth - two.shift) / two.scale, "x"));
  };
  u.over.addEventListener("pointerup", lift);
  u.over.addEventListener("pointercancel", lift);
}

/** Lays the lines out as uPlot takes them: a band is two series. */
function lay(o: PanelOptions): [uPlot.Series[], uPlot.Band[], uPlot.AlignedData] {
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  const data: (number[] | Numbers)[] = [o.time];
  const few = o.time.length < o.width / 12;
  for (const line of o.lines) {
    const stroke = line.colour;
    if (line.values) {
      series.push({ stroke, width: 1.6, points: { show: few, size: 5, fill: stroke } });
      data.push(line.values);
      continue;
    }
    series.push({ stroke, width: 1, points: { show: false } }, { stroke, width: 1, points: { show: false } });
    data.push(line.max ?? [], line.min ?? []);
    bands.push({ series: [series.length - 2, series.length - 1], fill: stroke + "55" });
  }
  return [series, bands, data as uPlot.AlignedData];
}
