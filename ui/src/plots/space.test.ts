import assert from "node:assert/strict";
import { test } from "node:test";
import { coloured, colourings, extent, spread, type Space } from "./space";

const cloud: Space = { kind: "cloud", x: [0, 4], y: [0, 0], z: [0, 3] };

test("what a space can be coloured by, the best first", () => {
  assert.deepEqual(colourings(cloud), ["height"]);
  assert.deepEqual(colourings({ ...cloud, rgb: [0, 0], intensity: [1, 2] }), ["rgb", "intensity", "height"]);
  assert.deepEqual(colourings({ ...cloud, kind: "scan", intensity: [1, 2] }), ["intensity"]);
  assert.deepEqual(colourings({ ...cloud, kind: "scan" }), ["height"]);
  assert.deepEqual(colourings({ ...cloud, kind: "trajectory", rgb: [0, 0] }), ["time", "height"]);
});

test("low and high of numbers", () => {
  assert.deepEqual(spread([3, null, -1, 2]), [-1, 3]);
  assert.deepEqual(spread([10, 9, 100]), [9, 100], "by value, not as texts");
  assert.deepEqual(spread([null]), [0, 1]);
});

test("the outermost of at least 200 numbers are cut", () => {
  const n = Array.from({ length: 200 }, (_, i) => i);
  assert.deepEqual(spread(n, 0.02), [4, 195]);
  assert.deepEqual(spread(n.slice(1), 0.02), [1, 199], "199 are too few");
});

test("the values and bounds of a colouring", () => {
  const s: Space = { ...cloud, intensity: [7, 5], time: [100, 101] };
  assert.deepEqual(coloured(s, "intensity"), { values: [7, 5], low: 5, high: 7 });
  assert.deepEqual(coloured(s, "height"), { values: [0, 3], low: 0, high: 3 });
  assert.deepEqual(coloured(s, "time"), { values: [100, 101], low: 100, high: 101 });
  assert.deepEqual(coloured(cloud, "time").values, [0, 1], "without times by the order");
});

test("the extent of a space", () => {
  assert.deepEqual(extent(cloud), { middle: [2, 0, 1.5], low: [0, 0, 0], high: [4, 0, 3], radius: 2.5 });
  assert.equal(extent({ ...cloud, x: [1], y: [1], z: [1] }).radius, 0.5, "never 0");
});
