import assert from "node:assert/strict";
import { test } from "node:test";
import type { Memory } from "../api/client";
import { at, attempted, differences, equality, lived, merged, objectOf, ofTask, similar, taskOf, values } from "./context";

const fact = (context: unknown, rest: object = {}) =>
  ({ type: "fact", status: "active", context, ...rest }) as unknown as Memory;

test("the value at a path", () => {
  const context = { task: { name: "polish" }, list: [{ a: 1 }] };
  assert.equal(at(context, "task.name"), "polish");
  assert.equal(at(context, "task.missing.deeper"), undefined);
  assert.equal(at(context, "list.0"), undefined, "a list is one value");
  assert.equal(at(undefined, "task"), undefined);
});

test("a context over another, section by section", () => {
  const a = { task: { name: "polish", object: "cup" }, force: 3 };
  const b = { task: { object: "glass" }, force: { value: 4 } };
  assert.deepEqual(merged(a, b), { task: { name: "polish", object: "glass" }, force: { value: 4 } });
  assert.deepEqual(merged(undefined, { a: 1 }), { a: 1 });
  assert.deepEqual(merged({ a: 1 }, "text"), { a: 1 });
  assert.deepEqual(a, { task: { name: "polish", object: "cup" }, force: 3 }, "the first is left as it was");
});

test("the values of a context by path", () => {
  const got = values({ a: { b: "x", c: 1.5 }, list: [1, 2], none: null, empty: {}, gone: undefined });
  assert.deepEqual(
    [...got],
    [
      ["a.b", "x"],
      ["a.c", "1.5"],
      ["list", "[1,2]"],
      ["none", "null"],
    ],
  );
});

test("what facts say goes before what was planned", () => {
  const memories = [
    fact({ params: { force: 10 } }),
    fact({ params: { force: 12 } }),
    fact({ params: { force: 99 } }, { status: "invalidated" }),
    fact({ params: { force: 98 } }, { type: "perception" }),
  ];
  const got = lived({ params: { force: 8, speed: 2 } }, memories);
  assert.deepEqual(
    [...got],
    [
      ["params.force", "10, 12"],
      ["params.speed", "2"],
    ],
  );
});

test("at most four values of a path are named", () => {
  const got = lived(
    {},
    [1, 2, 3, 4, 5].map((n) => fact({ n })),
  );
  assert.equal(got.get("n"), "1, 2, 3, 4, …");
});

test("the differences of contexts, parameters first", () => {
  const a = new Map([
    ["light", "day"],
    ["params.force", "8"],
    ["same", "1"],
    ["only", "a"],
  ]);
  const b = new Map([
    ["light", "night"],
    ["params.force", "9"],
    ["same", "1"],
  ]);
  assert.deepEqual(differences(a, b), [
    ["params.force", "8", "9"],
    ["light", "day", "night"],
    ["only", "a", ""],
  ]);
});

test("equality counts neither parameters nor places nor results", () => {
  const a = { light: "day", robot: "arm7", params: { force: 1 }, spatial: { x: 1 }, task: { success: true } };
  assert.equal(equality(a, { light: "day", robot: "arm8" }), 0.5);
  assert.equal(equality({ params: { force: 1 } }, {}), 0);
});

test("task and object of a context", () => {
  assert.equal(taskOf({ task: "polish" }), "polish");
  assert.equal(taskOf({ task: { name: "polish" } }), "polish");
  assert.equal(taskOf({ task: { name: "" } }), undefined);
  assert.equal(taskOf({ task: { goal: "polish" } }), "polish");
  assert.deepEqual(ofTask("polish").$or.slice(0, 2), [{ "task.name": "polish" }, { task: "polish" }]);
  assert.deepEqual(objectOf({ task: { object: { type: "cup" } } }), { path: "task.object.type", name: "cup" });
  assert.deepEqual(objectOf({ object: "glass", task: { object: "cup" } }), { path: "object", name: "glass" });
  assert.equal(objectOf({ object: { mass: 2 } }), undefined);
});

test("an attempt is what its facts said before, unless they are attempts of their own", () => {
  const at = (seconds: number) => ({ observed_at: new Date(seconds * 1000).toISOString() });
  const plan = fact({ params: { force: "9 N" }, object: "glass", noise: 1 }, at(1));
  const other = fact({ params: { force: "12 N", speed: 2 } }, { outcome: "success", ...at(2) });
  const slip = fact({ task: { success: false } }, { outcome: "failure", ...at(3) });
  const later = fact({ params: { force: "13 N" } }, at(4));
  const all = [plan, other, slip, later];
  const start = { robot: "arm-7", params: { force: "8 N", lift: 1 } };
  assert.deepEqual(attempted(start, all, slip), {
    robot: "arm-7",
    params: { force: "9 N", lift: 1 },
    object: "glass",
    task: { success: false },
  });
  const said = fact({ params: { force: "7 N" } }, { outcome: "failure", ...at(3) });
  assert.deepEqual(attempted({}, [plan, said], said).params, { force: "7 N" }, "what the failure says goes before");
  assert.deepEqual(attempted({}, [{ ...plan, status: "invalidated" }], slip).params, undefined);
  assert.deepEqual(start.params, { force: "8 N", lift: 1 }, "the context of the episode is left as it was");
});

test("attempts like another are of its task and object", () => {
  const task = ofTask("pick");
  assert.deepEqual(similar({ task: { name: "pick" }, object: "glass" }), {
    narrow: [task, { object: "glass" }],
    wide: [task],
  });
  assert.deepEqual(similar({ task: { name: "pick" } }), { narrow: undefined, wide: [task] });
  assert.deepEqual(similar({ object: "glass" }), { narrow: [{ object: "glass" }], wide: [] });
  assert.deepEqual(similar(undefined), { narrow: undefined, wide: [] });
});
