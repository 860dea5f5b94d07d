import assert from "node:assert/strict";
import { test } from "node:test";
import { failed, strength } from "./plane_draw";
import { coordinate, digits, fit, room, shown, ticks, toU, toV, toX, toY, zoomed } from "./plane_view";

const frame = { left: 50, top: 10, width: 400, height: 200 };

test("a box is shown whole, with a margin of 6 % at each side", () => {
  // The width needs 400 * 0.88 / 8 = 44 pixels a unit, the height 200 * 0.88 / 2 = 88.
  assert.deepEqual(fit({ min: [0, 1], max: [8, 3] }, frame), { u: 4, v: 2, scale: 44 });
});

test("a box without extent gets a unit", () => {
  assert.deepEqual(fit({ min: [5, 5], max: [5, 5] }, frame), { u: 5, v: 5, scale: 176 });
});

test("a frame without room has a scale", () => {
  assert.equal(fit({ min: [0, 0], max: [1, 1] }, { ...frame, width: 0 }).scale, 1);
});

test("coordinates to pixels and back", () => {
  const view = { u: 4, v: 2, scale: 44 };
  assert.equal(toX(view, frame, 4), 250, "the middle of the frame");
  assert.equal(toX(view, frame, 5), 294);
  assert.equal(toY(view, frame, 3), 66, "v goes up");
  assert.equal(toU(view, frame, 294), 5);
  assert.equal(toV(view, frame, 66), 3);
});

test("what the frame shows", () => {
  assert.deepEqual(shown({ u: 4, v: 2, scale: 40 }, frame), { min: [-1, -0.5], max: [9, 4.5] });
});

test("a zoom keeps the place under the pointer", () => {
  const whole = { u: 0, v: 0, scale: 10 };
  const to = zoomed(whole, whole, frame, 2, 350, 60);
  assert.equal(to.scale, 20);
  assert.equal(toU(to, frame, 350), toU(whole, frame, 350));
  assert.equal(toV(to, frame, 60), toV(whole, frame, 60));
});

test("a zoom has bounds", () => {
  const whole = { u: 0, v: 0, scale: 8 };
  assert.equal(zoomed(whole, whole, frame, 1e-9, 250, 110).scale, 1);
  assert.equal(zoomed(whole, whole, frame, 1e9, 250, 110).scale, 160_000);
});

test("decimals that tell the multiples of a step apart", () => {
  const cases: [step: number, want: number][] = [
    [100, 0],
    [1, 0],
    [0.5, 1],
    [0.1, 1],
    [0.02, 2],
    [0.001, 3],
    [1e-20, 12],
  ];
  for (const [step, want] of cases) assert.equal(digits(step), want, `of ${step}`);
});

test("coordinates as text", () => {
  assert.equal(coordinate(1234.5, 1), "1,234.5");
  assert.equal(coordinate(0, 9), "0");
  assert.equal(coordinate(123456789, 0), "123460000");
  assert.equal(coordinate(0.0000123, 7), "0.0000123");
});

test("ticks are multiples of the step", () => {
  assert.deepEqual(ticks(-2.5, 2.5, 1), [-2, -1, 0, 1, 2]);
  assert.deepEqual(ticks(0, 10, 5), [0, 5, 10]);
  assert.deepEqual(ticks(0.2, 0.8, 1), []);
  assert.equal(ticks(0, 1e9, 1).length, 200);
  assert.ok(Object.is(ticks(-0.5, 1, 1)[0], 0), "no -0");
});

test("room for the longest number", () => {
  // A step of 1,000 over 10,000 units: "11,000" and one decimal less than none are 6 characters.
  assert.equal(room({ min: [0, 0], max: [10, 10_000] }, 840), 20 + 7 * 6);
  assert.equal(room({ min: [0, 0], max: [1, 1] }, 84), 48, "at least");
  assert.equal(room({ min: [0, 1e7], max: [1, 1e7 + 0.001] }, 840), 104, "at most");
});

test("the share of failures of a cell", () => {
  const cell = { u: 0, v: 0, memories: 9, successes: 1, failures: 3 };
  assert.equal(failed(cell), 0.75);
  assert.equal(failed({ ...cell, successes: 0, failures: 0 }), undefined);
});

test("counts are shown by their root", () => {
  assert.equal(strength(100, 100), 0.9);
  assert.equal(strength(25, 100), 0.51);
  assert.equal(strength(0, 0), 0.12);
});
