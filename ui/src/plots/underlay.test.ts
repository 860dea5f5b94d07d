import assert from "node:assert/strict";
import { test } from "node:test";
import { drawn, drawUnderlay, recolour, rgb } from "./underlay";

test("a large map is drawn with fewer pixels", () => {
  assert.deepEqual(drawn(300, 20), [300, 20]);
  assert.deepEqual(drawn(8192, 4096), [2048, 1024]);
  assert.deepEqual(drawn(60_000, 1), [2048, 1]);
});

test("colours of style sheets", () => {
  assert.deepEqual(rgb("#1d2327"), [29, 35, 39]);
  assert.deepEqual(rgb("#fff"), [255, 255, 255]);
});

test("free, half, occupied and unknown cells", () => {
  const pixels = new Uint8ClampedArray([254, 254, 254, 255, 127, 127, 127, 255, 0, 0, 0, 255, 180, 200, 220, 255]);
  recolour(pixels, { free: [10, 20, 30], occupied: [110, 120, 130], unknown: [1, 2, 3] });
  assert.deepEqual([...pixels], [10, 20, 30, 255, 60, 70, 80, 255, 110, 120, 130, 255, 1, 2, 3, 255]);
});

test("a cell of a turned map lies where its frame says", () => {
  // The matrix of a canvas, for as much as drawUnderlay uses.
  let [a, b, c, d, e, f] = [1, 0, 0, 1, 0, 0];
  const times = (a2: number, b2: number, c2: number, d2: number, e2: number, f2: number) => {
    [a, b, c, d, e, f] = [a * a2 + c * b2, b * a2 + d * b2, a * c2 + c * d2, b * c2 + d * d2, a * e2 + c * f2 + e, b * e2 + d * f2 + f];
  };
  let box: number[] = [];
  const g = {
    save() {},
    restore() {},
    translate: (x: number, y: number) => times(1, 0, 0, 1, x, y),
    rotate: (t: number) => times(Math.cos(t), Math.sin(t), -Math.sin(t), Math.cos(t), 0, 0),
    scale: (x: number, y: number) => times(x, 0, 0, y, 0, 0),
    strokeRect() {},
    drawImage: (_: unknown, ...at: number[]) => void (box = at),
  } as unknown as CanvasRenderingContext2D;

  const place = { x: 1, y: 2, yaw: Math.PI / 2, resolution: 0.5, width: 4, height: 2 };
  const [view, frame] = [{ u: 0, v: 0, scale: 10 }, { left: 0, top: 0, width: 200, height: 200 }];
  drawUnderlay(g, { place, picture: {} as CanvasImageSource, edge: "" }, view, frame);

  // Cell (3, 1), the last of the top row: its far corner is 2 m along the rows and 1 m across, turned by a quarter.
  const [px, py] = [box[0]! + 4, box[1]!];
  const [x, y] = [a * px + c * py + e, b * px + d * py + f];
  assert.deepEqual([Math.round(x), Math.round(y)], [100 + 10 * (1 - 1), 100 - 10 * (2 + 2)]);
});
