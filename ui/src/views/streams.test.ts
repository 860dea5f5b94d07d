import assert from "node:assert/strict";
import { test } from "node:test";
import type { Memory } from "../api/client";
import { around, arranged, failing, gap, rank, shotAt, streams, type Shot } from "./streams";

const base = Date.UTC(2026, 0) / 1000;
let ids = 0;

const memory = (second: number, rest: object = {}) =>
  ({
    memory_id: ++ids,
    type: "perception",
    status: "active",
    sha256: "x",
    observed_at: new Date((base + second) * 1000).toISOString(),
    summary: "6-axis wrench",
    metadata: {},
    ...rest,
  }) as unknown as Memory;
const trace = (second: number, length?: number, source = "/ft") =>
  memory(second, {
    source,
    media_type: "text/csv",
    perception_type: "tactile",
    metadata: length === undefined ? {} : { duration_s: length },
  });

test("traces before sounds, pictures, points and what cannot be drawn", () => {
  const ranks = [
    trace(0),
    memory(0, { media_type: "audio/wav" }),
    memory(0, { media_type: "image/png" }),
    memory(0, { perception_type: "spatial" }),
    memory(0, { summary: "12 bytes of application/zip" }),
  ].map(rank);
  assert.deepEqual(ranks, [1, 2, 3, 4, 9]);
  assert.equal(rank(memory(0, { metadata: { schema: "foxglove.CompressedVideo" } })), 3);
  assert.equal(rank(memory(0, { media_type: "video/mp4; codecs=avc1", sha256: "" })), 3);
});

test("perceptions by their source, in the order of time", () => {
  const got = streams([
    trace(5, 1),
    trace(2),
    memory(3, { type: "fact" }),
    memory(1, { media_type: "Image/PNG; x=1", source: "/camera" }),
  ]);
  assert.deepEqual(
    got.map((s) => [
      s.name,
      s.picture,
      s.shots.map((x) => [x.from - base, x.to === undefined ? undefined : x.to - base]),
    ]),
    [
      [
        "/ft",
        false,
        [
          [2, undefined],
          [5, 6],
        ],
      ],
      ["/camera", true, [[1, undefined]]],
    ],
  );
});

test("what a stream shows at a moment", () => {
  const s = streams([trace(0, 2), trace(10, 2), trace(20, 2)])[0]!;
  const shown = (second: number) => shotAt(s, base + second).from - base;
  assert.deepEqual([-5, 0, 9, 10, 15, 99].map(shown), [0, 0, 0, 10, 10, 20]);
  assert.equal(shown(9.6), 10, "up to half a second ahead, where the one before has ended");
  assert.equal(shown(9.4), 0);
});

test("how far a shot is from a moment", () => {
  const shot = (from: number, to?: number): Shot => ({ m: memory(0), from, to });
  assert.equal(gap(shot(10, 20), 15), 0);
  assert.equal(gap(shot(10, 20), 25), -5);
  assert.equal(gap(shot(10, 20), 4), 6);
  assert.equal(gap(shot(10, 20), 9.5), 0, "half a second before its begin");
  assert.equal(gap(shot(10), 99), 0, "its length is unknown");
});

test("streams that cover the moment come first, then by rank and name", () => {
  const all = streams([
    trace(0, 1, "/past"),
    memory(9, { source: "/camera", media_type: "image/png", metadata: { duration_s: 5 } }),
    trace(8, 5, "/b"),
    trace(8, 5, "/a"),
  ]);
  assert.deepEqual(
    arranged(all, base + 10).map((s) => s.name),
    ["/a", "/b", "/camera", "/past"],
  );
});

test("the memory that tells a failure", () => {
  const [early, late, seen, gone] = [
    memory(1, { type: "fact", outcome: "failure" }),
    memory(2, { type: "fact", outcome: "failure" }),
    memory(3, { outcome: "failure" }),
    memory(4, { type: "fact", outcome: "failure", status: "invalidated" }),
  ];
  assert.equal(failing([early, late, seen, gone]), late);
  assert.equal(failing([seen, gone]), seen);
  assert.equal(failing([memory(1, { outcome: "success" })]), undefined);
});

test("the stretch of the streams that cover a failure, in an episode that is much longer", () => {
  const memories = [memory(0, { type: "fact" }), trace(50, 10), memory(100, { type: "fact" })];
  assert.deepEqual(
    around(streams(memories), memories, base + 55)!.map((s) => s - base),
    [49, 61],
  );
  assert.equal(
    around(streams(memories), [trace(50, 10), memory(75)], base + 55),
    undefined,
    "25 s are not three times as long",
  );
  assert.equal(around(streams(memories), memories, base + 70), undefined, "nothing covers it");
});
