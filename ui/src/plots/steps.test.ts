import assert from "node:assert/strict";
import { test } from "node:test";
import { evenTop, stepAbove, stepBelow } from "./steps";

test("the step that is not smaller", () => {
  const cases: [n: number, want: number][] = [
    [1, 1],
    [1.01, 2],
    [2, 2],
    [2.1, 5],
    [5.5, 10],
    [84, 100],
    [100, 100],
    [101, 200],
    [0.03, 0.05],
    [0.0011, 0.002],
  ];
  for (const [n, want] of cases)
    assert.ok(Math.abs(stepAbove(n) / want - 1) < 1e-12, `${n}: ${stepAbove(n)}, not ${want}`);
});

test("the step that is not larger", () => {
  const cases: [n: number, want: number][] = [
    [1, 1],
    [1.9, 1],
    [2, 2],
    [4.99, 2],
    [5, 5],
    [9.9, 5],
    [10, 10],
    [0.3, 0.2],
    [99, 50],
    [0.07, 0.05],
  ];
  for (const [n, want] of cases)
    assert.ok(Math.abs(stepBelow(n) / want - 1) < 1e-12, `${n}: ${stepBelow(n)}, not ${want}`);
});

test("powers of ten are their own steps", () => {
  for (let k = -12; k <= 12; k++) {
    const n = Number(`1e${k}`);
    assert.ok(Math.abs(stepAbove(n) / n - 1) < 1e-9, `above ${n}: ${stepAbove(n)}`);
    assert.ok(Math.abs(stepBelow(n) / n - 1) < 1e-9, `below ${n}: ${stepBelow(n)}`);
  }
});

test("the top of bars can be halved from 2 on", () => {
  const cases: [n: number, want: number][] = [
    [1, 1],
    [2, 2],
    [3, 4],
    [5, 6],
    [6, 6],
    [7, 10],
    [11, 20],
    [35, 40],
    [61, 100],
  ];
  for (const [n, want] of cases) assert.equal(evenTop(n), want, `of ${n}`);
});
