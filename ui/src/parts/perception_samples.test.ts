import assert from "node:assert/strict";
import { signal } from "@preact/signals";
import { test } from "node:test";
import {
  axisText,
  bucket,
  cursorOf,
  groups,
  instant,
  nearest,
  reading,
  span,
  valueAt,
  within,
  type Channel,
  type Samples,
  type Stretch,
} from "./perception_samples";

const channel = (name: string, unit?: string): Channel => ({ name, unit }) as Channel;
const samples = (time: number[], rest: object = {}) =>
  ({ kind: "trace", time, time_unit: "s", ...rest }) as unknown as Samples;

test("channels are grouped by what they measure and by unit", () => {
  const got = groups([channel("fx", "N"), channel("tx", "N·m"), channel("fy", "N"), channel("temperature", "°C")]);
  assert.deepEqual(
    got.map((g) => [g.quantity, g.unit, g.channels.map((c) => c.channel.name)]),
    [
      ["force", "N", ["fx", "fy"]],
      ["torque", "N·m", ["tx"]],
      [undefined, "°C", ["temperature"]],
    ],
  );
});

test("a panel begins with the colour after those of the panel before", () => {
  const got = groups([channel("fx", "N"), channel("fy", "N"), channel("tx", "N·m")]);
  assert.deepEqual(
    got.map((g) => g.channels.map((c) => c.colour)),
    [["c1", "c2"], ["c3"]],
  );
});

test("more channels than colours are shared out evenly", () => {
  const got = groups(Array.from({ length: 14 }, (_, i) => channel(`joint_${i}`, "rad")));
  assert.deepEqual(
    got.map((g) => g.channels.length),
    [5, 5, 4],
  );
  assert.deepEqual(
    got.map((g) => g.channels[0]!.colour),
    ["c1", "c1", "c1"],
  );
});

test("the name of a channel tells what it measures, where its unit does not", () => {
  const quantity = (name: string, unit?: string) => groups([channel(name, unit)])[0]!.quantity;
  assert.equal(quantity("wrench.force.x"), "force");
  assert.equal(quantity("/wrist/torque_z"), "torque");
  assert.equal(quantity("mx"), "torque");
  assert.equal(quantity("offset"), undefined);
  assert.equal(quantity("a", "kN"), "force");
  assert.equal(quantity("a", "mNm"), "torque");
});

test("nanometres are no torque, and millinewton metres are", () => {
  const quantity = (unit: string) => groups([channel("a", unit)])[0]!.quantity;
  assert.equal(quantity("nm"), undefined);
  assert.equal(quantity("mN·m"), "torque");
  assert.equal(quantity("kN·m"), "torque");
});

test("the nearest sample", () => {
  const time = [0, 1, 2, 4];
  const cases: [t: number, want: number][] = [
    [-5, 0],
    [0.4, 0],
    [0.6, 1],
    [2.9, 2],
    [3.1, 3],
    [99, 3],
  ];
  for (const [t, want] of cases) assert.equal(nearest(time, t), want, `of ${t}`);
  assert.equal(nearest(time, 0.5), 1, "half way the later");
  assert.equal(nearest([], 1), 0);
});

test("the bucket that holds a time", () => {
  const time = [0, 10, 20];
  const cases: [t: number, want: number][] = [
    [-1, 0],
    [0, 0],
    [9, 0],
    [10, 1],
    [19, 1],
    [25, 2],
  ];
  for (const [t, want] of cases) assert.equal(bucket(time, t), want, `of ${t}`);
});

test("the time that samples span is never empty", () => {
  assert.deepEqual(span(samples([2, 3, 7])), [2, 7]);
  assert.deepEqual(span(samples([2])), [1.5, 2.5]);
  assert.deepEqual(span(samples([])), [0, 1]);
});

test("readings have four significant digits", () => {
  const cases: [v: number | null | undefined, want: string][] = [
    [null, "–"],
    [undefined, "–"],
    [0, "0"],
    [12.3456, "12.35"],
    [-0.5, "−0.5"],
    [1234.5, "1235"],
    [12345, "12,350"],
    [1e7, "1.00e+7"],
    [0.00002, "2.00e−5"],
  ];
  for (const [v, want] of cases) assert.equal(reading(v), want);
});

test("a small negative reading has two signs of minus", () => {
  assert.equal(reading(-0.00002), "−2.00e−5");
});

test("a time within a trace", () => {
  assert.equal(instant(7.4, undefined, 100), "#7");
  assert.equal(instant(0.01234, "s", 1), "12.34 ms");
  assert.equal(instant(3.14159, "s", 30), "3.142 s");
  assert.equal(instant(314.159, "s", 400), "314.16 s");
  assert.equal(instant(3725.04, "s", 5000), "62:05.0 min");
});

test("a time just before a full minute", () => {
  assert.equal(instant(119.97, "s", 5000), "2:00.0 min");
});

test("times of an axis have as many digits as the stretch needs", () => {
  assert.equal(axisText("s", 100, 80)(30), "30 s", "eight marks of 10 s");
  assert.equal(axisText("s", 100, 8)(1.5), "2 s");
  assert.equal(axisText("s", 100, 0.8)(1.5), "1.5 s");
  assert.equal(axisText("s", 1, 0.8)(0.25), "250 ms");
  assert.equal(axisText(undefined, 9, 9)(3), "#3");
  assert.equal(axisText(undefined, 9, 9)(3.5), "");
});

test("the value of a channel at a time", () => {
  const plain = { name: "fz", values: [1, null, 3] } as unknown as Channel;
  const of = samples([0, 1, 2]);
  assert.equal(valueAt(plain, of, 0.2), "1");
  assert.equal(valueAt(plain, of, 1), "–", "a gap");
  assert.equal(valueAt(plain, of, 3), "3", "one step beside the samples");
  assert.equal(valueAt(plain, of, 3.1), "–");
  const reduced = { name: "fz", min: [1, 2, 3], max: [1, 5, 3] } as unknown as Channel;
  assert.equal(valueAt(reduced, of, 1.4), "2 … 5");
  assert.equal(valueAt(reduced, of, 0), "1");
  assert.equal(valueAt(plain, samples([]), 0), "–");
});

test("a time lies within the samples or one step beside them", () => {
  const of = samples([10, 11, 12]);
  assert.deepEqual(
    [8.9, 9, 12.9, 13, 13.1].map((at) => within(of, at)),
    [false, true, true, true, false],
  );
});

test("a cursor of a perception that starts elsewhere", () => {
  const [at, view] = [signal<number | undefined>(105), signal<Stretch | undefined>([101, 103])];
  const cursor = cursorOf(at, 100, view);
  assert.equal(cursor.at, 5);
  assert.deepEqual(cursor.view, [1, 3]);
  cursor.move(2);
  cursor.setView!([4, 6]);
  assert.deepEqual([at.value, view.value], [102, [104, 106]]);
  cursor.setView!(undefined);
  cursor.move(undefined);
  assert.deepEqual([cursor.at, cursor.view], [undefined, null], "null is the whole");
  assert.equal(cursorOf(at, 100).view, undefined, "no stretch is shared");
});
