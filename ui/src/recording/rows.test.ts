import assert from "node:assert/strict";
import { test } from "node:test";
import { list, object, seconds, text } from "./messages";
import { rowsOf, tone } from "./rows";

const of = (schema: string, ...values: object[]) =>
  rowsOf({
    topic: "/x",
    schema,
    messages: values.map((value) => ({ time: 5, value: value as Record<string, unknown> })),
  });

test("fields of a message", () => {
  assert.deepEqual([object(null), object(3), object({ a: 1 })], [{}, {}, { a: 1 }]);
  assert.deepEqual([text(3), text("x")], ["", "x"]);
  assert.deepEqual([list("x"), list([1, { a: 1 }])], [[], [{}, { a: 1 }]]);
});

test("seconds of the clocks of ROS 2, ROS 1 and Foxglove", () => {
  assert.equal(seconds({ sec: 3, nanosec: 500_000_000 }), 3.5);
  assert.equal(seconds({ sec: 3, nsec: 250_000_000 }), 3.25);
  for (const none of [undefined, {}, { sec: 0, nanosec: 0 }, { sec: "x" }]) assert.equal(seconds(none), undefined);
});

test("diagnostics, one row for each status", () => {
  const status = [
    { level: 0, name: "arm", message: "fine", values: [] },
    {
      level: 2,
      name: "camera",
      message: "",
      values: [
        { key: "fps", value: "3" },
        { key: "lost", value: "9" },
      ],
    },
  ];
  assert.deepEqual(of("diagnostic_msgs/DiagnosticArray", { status }), [
    { time: 5, level: { rank: 0, name: "OK" }, source: "arm", says: "fine" },
    { time: 5, level: { rank: 2, name: "ERROR" }, source: "camera", says: "fps 3; lost 9" },
  ]);
});

test("levels of logs by their schema", () => {
  const name = (schema: string, level: number) => of(schema, { level, msg: "x" })[0]!.level!.name;
  assert.equal(name("rcl_interfaces/Log", 40), "ERROR");
  assert.equal(name("rosgraph_msgs/Log", 8), "ERROR");
  assert.equal(name("foxglove.Log", 4), "ERROR");
  assert.equal(name("foxglove_msgs/Log", 5), "FATAL");
  assert.equal(name("rcl_interfaces/Log", 41), "41");
});

test("a log has its own time, if it names one", () => {
  const [row] = of("rcl_interfaces/Log", {
    level: 20,
    stamp: { sec: 7, nanosec: 0 },
    name: "nav",
    msg: "goal reached",
  });
  assert.deepEqual(row, { time: 7, level: { rank: 20, name: "INFO" }, source: "nav", says: "goal reached" });
});

test("other messages are texts or trees", () => {
  assert.equal(of("std_msgs/String", { data: "hello" })[0]!.says, "hello");
  const value = { n: 3n, big: 2n ** 60n, few: Float64Array.of(1, 2), many: new Uint8Array(1000), deep: { x: [1n] } };
  assert.deepEqual(of("custom/Odd", value)[0]!.says, {
    n: 3,
    big: "1152921504606846976",
    few: [1, 2],
    many: "[1,000]",
    deep: { x: [1] },
  });
});

test("the tone of a level", () => {
  assert.deepEqual(["OK", "WARN", "STALE", "ERROR", "FATAL", "INFO", "7"].map(tone), [
    "good",
    "warn",
    "warn",
    "bad",
    "bad",
    "",
    "",
  ]);
});
