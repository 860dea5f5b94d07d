import assert from "node:assert/strict";
import { test } from "node:test";
import type { Memory } from "../api/client";
import { at, lanes, lengthOf, span, still, thin, ticks, tickText, timed, type Item } from "./session_lanes";

let ids = 0;

/** A memory of a second since 2026. */
const memory = (second: number, rest: object = {}) =>
  ({
    memory_id: ++ids,
    type: "perception",
    observed_at: new Date(Date.UTC(2026, 0) + second * 1000).toISOString(),
    summary: "",
    metadata: {},
    ...rest,
  }) as unknown as Memory;
const base = Date.UTC(2026, 0) / 1000;

test("the length of a perception", () => {
  const said = (summary: string, rest: object = {}) => lengthOf(memory(0, { summary, ...rest }));
  assert.equal(
    said("1,000 samples over 1.00 s", { metadata: { duration_s: 2 } }),
    2,
    "its metadata go before its summary",
  );
  assert.equal(said("6-axis wrench, 1,000 samples over 1.50 s"), 1.5);
  assert.equal(said("20 samples over 250 ms"), 0.25);
  assert.equal(said("2,000 messages of a/B on /c over 1,200 min"), 72_000);
  assert.equal(said("audio/wav, 2 h, mono"), 7200);
  assert.equal(said("laser scan, 360 rays over 270°"), undefined);
  assert.equal(said("1,000 samples over 1.00 s", { type: "fact" }), undefined, "a fact has no length");
});

test("facts first, then the busiest source", () => {
  const got = lanes(
    [
      memory(0, { source: "/a" }),
      memory(1, { source: "/b" }),
      memory(2, { source: "/b" }),
      memory(3, { type: "fact" }),
      memory(4, { perception_type: "visual" }),
    ],
    "Facts",
  );
  assert.deepEqual(
    got.map((l) => [l.name, l.items.length]),
    [
      ["Facts", 1],
      ["/b", 2],
      ["/a", 1],
      ["visual", 1],
    ],
  );
});

test("more than twelve lanes: the last holds the rest", () => {
  const got = lanes(
    Array.from({ length: 15 }, (_, i) => memory(i, { source: `/s${i}` })),
    "Facts",
  );
  assert.equal(got.length, 12);
  assert.deepEqual([got[11]!.name, got[11]!.items.length], ["+4", 4]);
});

test("where items begin and end, and how they went", () => {
  const [item] = lanes(
    [memory(3, { type: "perception", source: "/a", outcome: "failure", metadata: { duration_s: 2 } })],
    "Facts",
  )[0]!.items;
  assert.deepEqual([item!.from - base, item!.to - base, item!.good], [3, 5, false]);
});

test("from the first moment to the last", () => {
  assert.deepEqual(
    span([memory(5), memory(2, { metadata: { duration_s: 9 } })]).map((s) => s - base),
    [2, 11],
  );
  const [from, to] = span([memory(5)]);
  assert.ok(to > from, "never empty");
});

const recorded = (second: number, topic: string | undefined, count = 100) =>
  memory(second, { metadata: { topic, count }, context: { source: { recording_id: "r" } } });

test("what a recording holds of no moment", () => {
  const [list, fixed, latched, late, odom] = [
    recorded(0, undefined),
    recorded(0, "/tf_static"),
    recorded(1, "/map", 1),
    recorded(9, "/goal", 1),
    recorded(0, "/odom"),
  ];
  const all = [list, fixed, latched, late, odom];
  assert.deepEqual(still(all), [list, fixed, latched]);
  assert.deepEqual(timed(all), [late, odom]);
});

test("outside of a recording everything has a moment", () => {
  const all = [memory(0), memory(1, { type: "fact" })];
  assert.deepEqual(still(all), []);
  assert.equal(timed(all), all);
  assert.deepEqual(still([recorded(0, "/tf_static")]), [], "nor where nothing else is there");
});

const item = (from: number, good?: boolean): Item => ({ m: memory(from), from, to: from, good });

test("the last item that has begun", () => {
  const items = [item(1), item(3), item(3), item(7)];
  assert.equal(at(items, 0.9), undefined);
  assert.equal(at(items, 1), items[0]);
  assert.equal(at(items, 3), items[2]);
  assert.equal(at(items, 99), items[3]);
});

test("marks of a time axis", () => {
  assert.deepEqual(ticks(0, 60, 6), [0, 10, 20, 30, 40, 50, 60]);
  assert.deepEqual(ticks(0, 7200, 4), [0, 1800, 3600, 5400, 7200]);
  assert.deepEqual(ticks(0, 200 * 86400, 2), [0, 100 * 86400, 200 * 86400]);
  assert.deepEqual(ticks(5, 5, 3), []);
});

test("marks are exact multiples of their step", () => {
  assert.deepEqual(ticks(-3, 12, 5), [0, 5, 10], "steps of 5, since 15 / 5 is 3, and no -0");
  assert.deepEqual(ticks(0, 0.3, 3), [0, 0.1, 0.2, 0.3]);
  assert.deepEqual(ticks(118.5, 120, 3), [118.5, 119, 119.5, 120]);
  assert.equal(ticks(100, 120, 200).length, 201);
});

test("marks as text, with as many digits as tell them apart", () => {
  assert.equal(tickText(0, 600), "0 s");
  assert.equal(tickText(150, 600), "2 min 30 s");
  assert.equal(tickText(30, 10), "30 s");
  assert.equal(tickText(65, 30), "1:05");
  assert.equal(tickText(65.5, 5), "1:05.5");
  assert.equal(tickText(65.25, 0.5), "1:05.250");
  assert.equal(tickText(2.125, 0.5), "2.125 s");
  assert.equal(tickText(0.125, 0.5), "125 ms");
});

test("a mark just before a full minute", () => {
  assert.equal(tickText(119.99999, 5), "2:00.0");
  assert.equal(tickText(119.6, 30), "2:00");
});

test("one item a pixel pair, a failure before a success", () => {
  const [good, bad, far, outside] = [item(10, true), item(10.4, false), item(50), item(200)];
  assert.deepEqual(
    thin([good, bad, far, outside], 0, 100, (s) => s),
    [bad, far],
  );
  assert.deepEqual(
    thin([bad, good], 0, 100, (s) => s),
    [bad],
  );
});
