// What a plane shows: its coordinates to pixels and back, at one scale for both
// axes, and round steps for its grid.

import { number } from "../app/text";
import { stepAbove } from "./steps";

export interface Box {
  min: [number, number];
  max: [number, number];
}

/** The middle of what is shown, and pixels to a unit. u goes right, v up. */
export interface View {
  u: number;
  v: number;
  scale: number;
}

/** A place on the plane, and how far around it is meant. */
export interface Picked {
  u: number;
  v: number;
  radius?: number;
}

/** The part of the element that the points are drawn in, in pixels. */
export interface Frame {
  left: number;
  top: number;
  width: number;
  height: number;
}

const margin = 0.06; // of the frame, round what is fitted into it

/** Shows a box whole. A box without extent gets a unit, or what a far number can tell apart. */
export function fit(box: Box, frame: Frame): View {
  const middle = (k: 0 | 1) => box.min[k] / 2 + box.max[k] / 2;
  const [u, v] = [middle(0), middle(1)];
  const least = Math.max(Math.abs(u), Math.abs(v)) * 1e-9;
  const [width, height] = [box.max[0] - box.min[0], box.max[1] - box.min[1]];
  const alone = Math.max(width, height) <= least;
  const scale = Math.min(
    (frame.width * (1 - 2 * margin)) / (alone ? 1 : Math.max(width, least)),
    (frame.height * (1 - 2 * margin)) / (alone ? 1 : Math.max(height, least)),
  );
  return { u, v, scale: Number.isFinite(scale) && scale > 0 ? scale : 1 };
}

export const toX = (view: View, frame: Frame, u: number) => frame.left + frame.width / 2 + (u - view.u) * view.scale;
export const toY = (view: View, frame: Frame, v: number) => frame.top + frame.height / 2 - (v - view.v) * view.scale;
export const toU = (view: View, frame: Frame, x: number) => view.u + (x - frame.left - frame.width / 2) / view.scale;
export const toV = (view: View, frame: Frame, y: number) => view.v - (y - frame.top - frame.height / 2) / view.scale;

/** What the frame shows. */
export function shown(view: View, frame: Frame): Box {
  const [w, h] = [frame.width / 2 / view.scale, frame.height / 2 / view.scale];
  return { min: [view.u - w, view.v - h], max: [view.u + w, view.v + h] };
}

/** Zooms by a factor so that the pixel x, y keeps its place. */
export function zoomed(view: View, whole: View, frame: Frame, by: number, x: number, y: number): View {
  const scale = Math.min(Math.max(view.scale * by, whole.scale / 8), whole.scale * 20_000);
  const [u, v] = [toU(view, frame, x), toV(view, frame, y)];
  return {
    u: u - (x - frame.left - frame.width / 2) / scale,
    v: v + (y - frame.top - frame.height / 2) / scale,
    scale,
  };
}

/** Decimals that tell multiples of a step apart. */
export const digits = (step: number) => Math.min(Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), 12);

/** A coordinate as text: with so many decimals, or by powers of ten where that would be long. */
export function coordinate(n: number, places: number): string {
  return n !== 0 && (Math.abs(n) >= 1e8 || places > 5) ? String(Number(n.toPrecision(5))) : number(n, places);
}

const mostTicks = 200; // where a coordinate is so far that its steps vanish

export function ticks(from: number, to: number, step: number): number[] {
  const out: number[] = [];
  const first = Math.ceil(from / step);
  for (let i = 0; i < mostTicks && (first + i) * step <= to; i++) out.push((first + i) * step);
  return out;
}

export const betweenLines = 84; // pixels between grid lines, at least

/** Pixels for the numbers beside the frame, with one decimal more for when it is zoomed. */
export function room(whole: Box, height: number): number {
  const step = stepAbove(((whole.max[1] - whole.min[1] || 1) * betweenLines) / Math.max(height, betweenLines));
  const longest = Math.max(...[whole.min[1], whole.max[1]].map((v) => coordinate(v + step, digits(step) + 1).length));
  return Math.min(Math.max(20 + 7 * longest, 48), 104);
}
