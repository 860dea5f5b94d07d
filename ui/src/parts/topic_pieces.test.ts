import assert from "node:assert/strict";
import { test } from "node:test";
import type { Memory } from "../api/client";
import type { Samples } from "./perception_samples";
import { merged, plotted } from "./topic_pieces";

const segment = (metadata: object, rest: object = {}) =>
  ({ sha256: "x", media_type: "application/vnd.mcap", metadata, ...rest }) as unknown as Memory;

test("segments of readings are plotted", () => {
  assert.equal(plotted(segment({ topic: "/ft", schema: "geometry_msgs/WrenchStamped" })), true);
  for (const schema of [
    "sensor_msgs/Image",
    "tf2_msgs/TFMessage",
    "rcl_interfaces/Log",
    "foxglove.Log",
    "nav_msgs/Path",
  ]) {
    assert.equal(plotted(segment({ topic: "/x", schema })), false, schema);
  }
  assert.equal(plotted(segment({ topic: "/login", schema: "custom/Login" })), true, "Log is a whole word");
  assert.equal(plotted(segment({ schema: "geometry_msgs/WrenchStamped" })), false, "no topic");
  assert.equal(plotted(segment({ topic: "/ft" }, { sha256: "" })), false, "its bytes are gone");
});

const part = (time: number[], values: (number | null)[], rest: object = {}) =>
  ({
    kind: "trace",
    time,
    time_unit: "s",
    total: time.length,
    rate_hz: 1,
    reduced: false,
    channels: [{ name: "x", unit: "m", values }],
    ...rest,
  }) as unknown as Samples;

test("pieces that follow each other are one trace", () => {
  const pieces = [
    { id: 1, from: 100 },
    { id: 2, from: 102 },
  ];
  const got = merged(
    pieces,
    new Map([
      [1, part([0, 1], [5, 6])],
      [2, part([0, 1], [7, 8])],
    ]),
    100,
  );
  assert.deepEqual(got.time, [0, 1, 2, 3]);
  assert.deepEqual(got.channels, [{ name: "x", unit: "m", values: [5, 6, 7, 8] }]);
  assert.equal(got.total, 4);
  assert.equal(got.duration_s, 3);
});

test("a hole between pieces stays a hole", () => {
  const pieces = [
    { id: 1, from: 100 },
    { id: 2, from: 110 },
    { id: 3, from: 120 },
  ];
  const got = merged(
    pieces,
    new Map([
      [1, part([0, 1], [5, 6])],
      [3, part([0, 1], [7, 8])],
    ]),
    100,
  );
  assert.deepEqual(got.time, [0, 1, 1.5, 20, 21]);
  assert.deepEqual(got.channels![0]!.values, [5, 6, null, 7, 8]);
});

test("a channel that a piece lacks has no values there", () => {
  const other = part([0, 1], [], { channels: [{ name: "y", values: [1, 2] }] });
  const got = merged(
    [
      { id: 1, from: 0 },
      { id: 2, from: 2 },
    ],
    new Map([
      [1, part([0, 1], [5, 6])],
      [2, other],
    ]),
    0,
  );
  assert.deepEqual(
    got.channels!.map((c) => [c.name, c.values]),
    [
      ["x", [5, 6, null, null]],
      ["y", [null, null, 1, 2]],
    ],
  );
});

test("one reduced piece makes bounds of all", () => {
  const reduced = part([0, 1], [], {
    reduced: true,
    duration_s: 2,
    channels: [{ name: "x", min: [1, 2], max: [3, 4] }],
  });
  const got = merged(
    [
      { id: 1, from: 0 },
      { id: 2, from: 2 },
    ],
    new Map([
      [1, reduced],
      [2, part([0, 1], [5, 6])],
    ]),
    0,
  );
  assert.deepEqual(
    got.channels!.map((c) => [c.min, c.max, c.values]),
    [[[1, 2, 5, 6], [3, 4, 5, 6], undefined]],
  );
  assert.equal(got.reduced, true);
});
