import assert from "node:assert/strict";
import { test } from "node:test";
import type { Samples } from "../parts/perception_samples";
import { onOneGrid, ranked } from "./incident_contrast";

const samples = (time: number[], channels: object[]) =>
  ({ kind: "trace", time, time_unit: "s", channels }) as unknown as Samples;
const time = [0, 1, 2, 3];

test("the channel whose difference is the most of its noise comes first", () => {
  const a = samples(time, [
    { name: "noisy", unit: "N", values: [0, 4, 0, 4] }, // steps of 4
    { name: "quiet", unit: "N", values: [0, 0.1, 0, 0.1] }, // steps of 0.1
    { name: "same", unit: "N", values: [1, 2, 1, 2] },
    { name: "alone", unit: "N", values: time },
  ]);
  const b = samples(time, [
    { name: "noisy", unit: "N", values: [4, 8, 4, 8] }, // a difference of 4: once its noise
    { name: "quiet", unit: "N", values: [1, 1.1, 1, 1.1] }, // of 1: ten times its noise
    { name: "same", unit: "N", values: [1, 2, 1, 2] },
  ]);
  assert.deepEqual(ranked(a, b), ["quiet", "noisy", "same"]);
});

test("a channel that hardly moves does not win by having no noise", () => {
  const a = samples(time, [
    { name: "still", unit: "N", values: [0, 0, 0, 0] },
    { name: "moving", unit: "N", values: [0, 10, 20, 30] },
  ]);
  const b = samples(time, [
    { name: "still", unit: "N", values: [0.001, 0.001, 0.001, 0.001] },
    { name: "moving", unit: "N", values: [50, 60, 70, 80] },
  ]);
  // The range of 80 makes a floor of 0.08: still has 0.001 / 0.08, moving 50 / 10.
  assert.deepEqual(ranked(a, b), ["moving", "still"]);
});

test("both courses over the times of either", () => {
  const a = samples([0, 2], [{ name: "x", values: [1, 3] }]);
  const b = samples([0, 1, 4], [{ name: "x", min: [5, 6, 7], max: [8, 9, 10] }]);
  assert.deepEqual(onOneGrid(a, b, "x", { a: "red", b: "green" }), {
    time: [0, 1, 2, 4],
    lines: [
      { colour: "green", min: [5, 6, 6, 7], max: [8, 9, 9, 10] },
      { colour: "red", values: [1, 3, 3, null] }, // half way the later sample, and none beyond the end
    ],
  });
});
