// The map of a place beneath the points of a plane: where its cells lie, and their colours in the theme.

import { colour } from "../app/theme";
import { toX, toY, type Frame, type View } from "./plane_view";

/** Where a map lies: the corner of its first cell, how it is turned, and metres of a cell. */
export interface GridPlace {
  x: number;
  y: number;
  yaw: number;
  resolution: number;
  /** Cells. */
  width: number;
  height: number;
}

export interface Underlay {
  place: GridPlace;
  /** Its picture, whose top row is the last of the cells; it may have fewer pixels than cells. */
  picture: CanvasImageSource;
  /** The colour of its edge: free ground has that of the card, and the edge says how far the map reaches. */
  edge: string;
}

/** The most pixels of a side that are drawn; a map may have more cells. */
export const mostPixels = 2048;

/** Pixels of a picture of so many cells. */
export function drawn(width: number, height: number): [number, number] {
  const share = Math.min(1, mostPixels / Math.max(width, height));
  return [Math.max(1, Math.round(width * share)), Math.max(1, Math.round(height * share))];
}

export type RGB = readonly [number, number, number];

export interface Colours {
  free: RGB;
  occupied: RGB;
  unknown: RGB;
}

/** #rrggbb or #rgb. */
export function rgb(text: string): RGB {
  const hex = /^#(.)(.)(.)$/.test(text) ? text.replace(/[^#]/g, "$&$&") : text;
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) || 0) as unknown as RGB;
}

const mixed = (a: RGB, b: RGB, share: number): RGB => [0, 1, 2].map((i) => a[i]! + (b[i]! - a[i]!) * share) as unknown as RGB;

/** The colours of the theme: walls like text, free ground like the card, and the unknown between them. */
export function themeColours(): Colours {
  const [card, ink, line] = [rgb(colour("card")), rgb(colour("ink")), rgb(colour("line"))];
  return { free: card, occupied: mixed(card, ink, 0.72), unknown: line };
}

/**
 * Gives the pixels of a stored map the colours of the theme. A gray from white to black is a value from free to
 * occupied; unknown cells are bluish, which no gray is.
 */
export function recolour(pixels: Uint8ClampedArray, { free, occupied, unknown }: Colours): void {
  for (let i = 0; i < pixels.length; i += 4) {
    const gray = pixels[i]!;
    const isUnknown = pixels[i + 2]! - gray > 20;
    const share = Math.min(1, Math.max(0, (254 - gray) / 254));
    for (let k = 0; k < 3; k++) pixels[i + k] = isUnknown ? unknown[k]! : free[k]! + (occupied[k]! - free[k]!) * share;
  }
}

/** Draws a map where it lies: turned about its origin, rows upwards. */
export function drawUnderlay(g: CanvasRenderingContext2D, { place, picture, edge }: Underlay, view: View, frame: Frame): void {
  const side = place.resolution * view.scale;
  g.save();
  g.translate(toX(view, frame, place.x), toY(view, frame, place.y));
  g.rotate(-place.yaw); // y goes down on a canvas
  g.scale(side, side);
  g.imageSmoothingEnabled = side < 1; // cells that are seen have edges
  g.drawImage(picture, 0, -place.height, place.width, place.height);
  g.strokeStyle = edge;
  g.lineWidth = 1 / side;
  g.strokeRect(0, -place.height, place.width, place.height);
  g.restore();
}
