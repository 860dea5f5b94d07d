import assert from "node:assert/strict";
import { test } from "node:test";
import { diff } from "./diff";

/** A difference in one line: -gone-, +new+. */
const shown = (before: string, after: string) =>
  diff(before, after)
    .map(({ text, side }) => (side === 0 ? text : side < 0 ? `-${text}-` : `+${text}+`))
    .join("");

test("the words that differ", () => {
  assert.equal(shown("grip 12.5 N", "grip 13 N"), "grip -12.5-+13+ N");
  assert.equal(shown("a b c", "a c"), "a -b -c");
  assert.equal(shown("a c", "a b c"), "a +b +c");
  assert.equal(shown("same", "same"), "same");
  assert.equal(shown("", "new"), "+new+");
  assert.equal(shown("old", ""), "-old-");
});

test("each character of Han is a word", () => {
  assert.equal(shown("湿玻璃杯", "湿塑料杯"), "湿-玻璃-+塑料+杯");
});

test("long texts are not compared", () => {
  const [a, b] = ["x ".repeat(600), "y ".repeat(600)];
  assert.deepEqual(diff(a, b), [
    { text: a, side: -1 },
    { text: b, side: 1 },
  ]);
});
