import assert from "node:assert/strict";
import { test } from "node:test";
import { laidOut } from "./layout";

const named = (...names: string[]) => names.map((name) => ({ name }));
const names = (list: { name: string }[]) => list.map((x) => x.name);

test("streams stand in the kept order, others after them as they were", () => {
  const { shown, rest } = laidOut(named("a", "b", "c", "d"), { order: ["c", "b"], hidden: ["a"] });
  assert.deepEqual(names(shown), ["c", "b", "d"]);
  assert.deepEqual(names(rest), ["a"]);
});

test("without a layout all are shown", () => {
  assert.deepEqual(laidOut(named("b", "a"), { order: [], hidden: [] }), { shown: named("b", "a"), rest: [] });
});
