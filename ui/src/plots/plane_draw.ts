// What a plane draws on its canvas: heat, grid and points.

import { colour } from "../app/theme";
import { number, percent } from "../app/text";
import { toX, toY, type Frame, type View } from "./plane_view";

/** A memory on the plane. */
export interface PlanePoint {
  id: number;
  u: number;
  v: number;
  /** The coordinate that the plane does not show. */
  depth?: number;
  /** Whether its task succeeded, where it says. */
  good?: boolean;
  text: string;
}

/** Counts of a square cell, from u to u + side, likewise v. */
export interface PlaneCell {
  u: number;
  v: number;
  memories: number;
  successes: number;
  failures: number;
}

export interface Heat {
  kind: "count" | "failures";
  side: number;
  cells: PlaneCell[];
}

const size = 4.2; // half a mark, in pixels
const stampSize = 7; // half a mark with its margin
const thinning = 5; // points within so many pixels are drawn once: their marks would hide each other
const ringThinning = 12;
const cellWithText = 34; // pixels

/** Where x, y is among squares of so many pixels. */
const pixel = (x: number, y: number, side: number) => Math.round(x / side) * 65_536 + Math.round(y / side);

/** Share of failures among what has an outcome; undefined where nothing has one. */
export function failed(c: PlaneCell): number | undefined {
  const known = c.successes + c.failures;
  return known > 0 ? c.failures / known : undefined;
}

/** How strong a count is shown, 0 to 1: by its root, so that single memories are seen beside a crowd. */
export const strength = (n: number, most: number) => 0.12 + 0.78 * Math.sqrt(n / Math.max(most, 1));

/** A cell of one memory is drawn as an outline: it tells of that memory, not of the place. */
const single = (c: PlaneCell, kind: Heat["kind"]) => (kind === "count" ? c.memories : c.successes + c.failures) === 1;

export function drawHeat(g: CanvasRenderingContext2D, heat: Heat, view: View, frame: Frame): void {
  const most = Math.max(...heat.cells.map((c) => c.memories), 1);
  const [cool, hot, many, ink] = [colour("c1"), colour("c2"), colour("accent"), colour("ink")];
  const px = Math.max(heat.side * view.scale, 4);
  g.font = `12px ${colour("sans")}`;
  g.textAlign = "center";
  g.textBaseline = "middle";
  for (const c of heat.cells) {
    const [x, y] = [toX(view, frame, c.u), toY(view, frame, c.v) - px];
    if (x > frame.left + frame.width || x + px < frame.left || y > frame.top + frame.height || y + px < frame.top) continue;
    const share = failed(c);
    const cell = (outline: boolean) => (outline ? g.strokeRect(x + 1, y + 1, px - 2, px - 2) : g.fillRect(x, y, px, px));
    if (heat.kind === "count") {
      g.globalAlpha = strength(c.memories, most);
      g.fillStyle = g.strokeStyle = many;
      cell(single(c, heat.kind));
    } else if (share !== undefined) {
      g.globalAlpha = 0.62;
      g.fillStyle = g.strokeStyle = `color-mix(in oklab, ${hot} ${Math.round(share * 100)}%, ${cool})`;
      cell(single(c, heat.kind));
    } else {
      g.globalAlpha = 0.35;
      g.strokeStyle = ink;
      g.strokeRect(x + 0.5, y + 0.5, px - 1, px - 1);
    }
    if (px < cellWithText || single(c, heat.kind)) continue;
    g.globalAlpha = 1;
    g.fillStyle = ink;
    const text = heat.kind === "count" ? number(c.memories) : share === undefined ? "–" : percent(share);
    g.lineWidth = 3;
    g.strokeStyle = colour("card");
    g.strokeText(text, x + px / 2, y + px / 2);
    g.lineWidth = 1;
    g.fillText(text, x + px / 2, y + px / 2);
  }
  g.globalAlpha = 1;
}

export function drawGrid(g: CanvasRenderingContext2D, us: number[], vs: number[], view: View, frame: Frame): void {
  g.lineWidth = 1;
  g.strokeStyle = colour("line");
  const line = (x1: number, y1: number, x2: number, y2: number) => {
    g.beginPath();
    g.moveTo(x1, y1);
    g.lineTo(x2, y2);
    g.stroke();
  };
  for (const u of us) {
    g.globalAlpha = u === 0 ? 1 : 0.55;
    const x = Math.round(toX(view, frame, u)) + 0.5;
    line(x, frame.top, x, frame.top + frame.height);
  }
  for (const v of vs) {
    g.globalAlpha = v === 0 ? 1 : 0.55;
    const y = Math.round(toY(view, frame, v)) + 0.5;
    line(frame.left, y, frame.left + frame.width, y);
  }
  g.globalAlpha = 1;
}

/** A mark, drawn once and then copied: a path of thousands of marks is slow to
 * fill. A disc worked, a cross failed, a ring says nothing: told apart without
 * colour. */
function stamp(good: boolean | undefined, dense: number): ImageBitmap {
  const side = Math.ceil(2 * stampSize * dense);
  const canvas = new OffscreenCanvas(side, side);
  const g = canvas.getContext("2d")!;
  g.translate(side / 2, side / 2);
  g.scale(dense, dense);
  g.lineCap = "round";
  if (good === false) {
    const s = size * 0.85;
    g.moveTo(-s, -s);
    g.lineTo(s, s);
    g.moveTo(s, -s);
    g.lineTo(-s, s);
  } else {
    g.arc(0, 0, size * (good ? 0.85 : 0.72), 0, 2 * Math.PI);
  }
  g.strokeStyle = colour("card");
  g.lineWidth = good ? 1.2 : 4;
  g.stroke();
  g.strokeStyle = g.fillStyle = colour(good === undefined ? "dim" : good ? "good" : "bad");
  g.lineWidth = good === false ? 2 : 1.6;
  if (good) g.fill();
  else g.stroke();
  return canvas.transferToImageBitmap();
}

const dot = 1; // half a faint point, in pixels of the screen

/** Failures lie on top, also where marks are drawn once for many points: what went wrong is not to be hidden by what worked. */
export function drawPoints(g: CanvasRenderingContext2D, points: PlanePoint[], view: View, frame: Frame, faint: boolean): void {
  const first = new Map<number, { p: PlanePoint; x: number; y: number }>();
  for (const p of points) {
    const [x, y] = [toX(view, frame, p.u), toY(view, frame, p.v)];
    if (x < frame.left - size || y < frame.top - size || x > frame.left + frame.width + size || y > frame.top + frame.height + size) continue;
    const at = pixel(x, y, thinning);
    const known = first.get(at);
    if (!known || (p.good === false && known.p.good !== false)) first.set(at, { p, x, y });
  }
  const dense = g.getTransform().a;
  g.save();
  g.resetTransform(); // whole pixels, which are copied without smoothing
  g.fillStyle = colour("ink");
  g.globalAlpha = faint ? 0.55 : 1;
  const stamps = new Map([undefined, true, false].map((good) => [good, stamp(good, dense)]));
  for (const failures of [false, true]) {
    for (const { p, x, y } of first.values()) {
      if ((p.good === false) !== failures) continue;
      const image = stamps.get(p.good)!;
      if (faint) g.fillRect(Math.round(x * dense - dot), Math.round(y * dense - dot), 2 * dot, 2 * dot);
      else g.drawImage(image, Math.round(x * dense - image.width / 2), Math.round(y * dense - image.height / 2));
    }
  }
  for (const image of stamps.values()) image.close();
  g.restore();
}

/** Rings round some of the points, not so many that they hide them. */
export function drawRings(g: CanvasRenderingContext2D, points: PlanePoint[], ids: ReadonlySet<number>, view: View, frame: Frame): void {
  g.strokeStyle = colour("accent");
  g.lineWidth = 1.4;
  const seen = new Set<number>();
  for (const p of points) {
    if (!ids.has(p.id)) continue;
    const [x, y] = [toX(view, frame, p.u), toY(view, frame, p.v)];
    const cell = pixel(x, y, ringThinning);
    if (seen.has(cell)) continue;
    seen.add(cell);
    g.beginPath();
    g.arc(x, y, size + 2.6, 0, 2 * Math.PI);
    g.stroke();
  }
}
