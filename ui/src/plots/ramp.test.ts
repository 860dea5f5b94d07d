import assert from "node:assert/strict";
import { test } from "node:test";
import { ramp } from "./ramp";

const hex = (share: number, dark: boolean) =>
  "#" +
  ramp(share, dark)
    .map((c) =>
      Math.round(c * 255)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("");

test("the ends of viridis, without what is like the ground", () => {
  assert.equal(hex(0, false), "#440154", "dark purple on a light ground");
  assert.equal(hex(1, true), "#fde725", "yellow on a dark ground");
  // 0.9 of five steps is half way from the fifth stop, 7ad151, to the last, fde725.
  assert.equal(hex(1, false), "#bcdc3b");
  // 0.18 of five steps is 0.9 of the way from the first stop to the second, 414487.
  assert.equal(hex(0, true), "#413d82");
});

test("a share beyond the ends is that of the end", () => {
  assert.equal(hex(-1, false), hex(0, false));
  assert.equal(hex(7, true), hex(1, true));
});

test("stops between the ends", () => {
  // On a light ground a share of 4/9 is 0.4 of the ramp, its third stop.
  assert.equal(hex(4 / 9, false), "#2a788e");
});
