import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import {
  ago,
  bytes,
  date,
  day,
  duration,
  lang,
  minute,
  moment,
  number,
  ordinal,
  percent,
  significant,
  simulated,
  span,
  texts,
} from "./text";

afterEach(() => (lang.value = "en"));

/** Compares a function with a table of cases. */
function table<T>(f: (input: T) => unknown, cases: [input: T, want: unknown][]): void {
  for (const [input, want] of cases) assert.equal(f(input), want, `of ${String(input)}`);
}

test("numbers have separators and no more than the given decimals", () => {
  assert.equal(number(1234567.89), "1,234,568");
  assert.equal(number(1234.5, 2), "1,234.5");
  assert.equal(number(0.125, 2), "0.13");
  assert.equal(number(-2.5, 1), "-2.5");
});

test("a number that rounds to zero has no sign", () => {
  assert.equal(number(-0.001, 2), "0");
  assert.equal(number(-0, 2), "0");
  assert.equal(significant(-0), "0");
});

test("three significant digits", () => {
  table(significant, [
    [0.00012345, "0.000123"],
    [12.345, "12.3"],
    [1234.5, "1,230"],
    [0, "0"],
  ]);
});

test("shares below a tenth have a decimal", () => {
  table(percent, [
    [0, "0%"],
    [0.0123, "1.2%"],
    [0.126, "13%"],
    [1, "100%"],
  ]);
});

test("bytes in the largest unit that is not exceeded", () => {
  table(bytes, [
    [0, "0 B"],
    [1023, "1,023 B"],
    [1024, "1 KiB"],
    [1536, "1.5 KiB"],
    [300 * 1024, "300 KiB"],
    [5 * 1024 ** 3, "5 GiB"],
    [2000 * 1024 ** 4, "2,000 TiB"],
  ]);
});

test("bytes that round to the next unit are written in it", () => {
  table(bytes, [
    [1024 ** 2 - 1, "1 MiB"],
    [1024 ** 3 - 1, "1 GiB"],
  ]);
});

test("durations in one or two units", () => {
  table(duration, [
    [0, "0 s"],
    [0.0123, "12 ms"],
    [1, "1 s"],
    [9.94, "9.9 s"],
    [42.4, "42 s"],
    [60, "1 min"],
    [150, "2 min 30 s"],
    [3600, "1 h"],
    [3660, "1 h 1 min"],
    [129600, "1.5 d"],
  ]);
});

test("durations that round to the next unit are written in it", () => {
  table(duration, [
    [0.9996, "1 s"],
    [59.6, "1 min"],
    [3599.7, "1 h"],
    [86399, "1 d"],
  ]);
});

test("a span of time has its largest unit in words", () => {
  table(span, [
    [0, ""],
    [59, ""],
    [60, "1 minute"],
    [7200, "2 hours"],
    [6 * 86400, "6 days"],
  ]);
  lang.value = "zh";
  assert.equal(span(6 * 86400), "6天");
});

test("a span that rounds to the next unit is written in it", () => {
  table(span, [
    [3599, "1 hour"],
    [86399, "1 day"],
  ]);
});

test("ordinals", () => {
  table(ordinal, [
    [1, "1st"],
    [2, "2nd"],
    [3, "3rd"],
    [4, "4th"],
    [11, "11th"],
    [21, "21st"],
    [112, "112th"],
  ]);
  lang.value = "zh";
  assert.equal(ordinal(3), "3");
});

test("times before 1980 are seconds of a simulation", () => {
  assert.equal(simulated("1979-12-31T23:59:59Z"), true);
  assert.equal(simulated("1980-01-01T00:00:00Z"), false);
  for (const f of [moment, date, day, ago]) assert.equal(f("1970-01-01T00:00:12.5Z"), "12.5 s");
});

test("dates", () => {
  assert.equal(moment("2026-03-04T05:06:07Z"), "4 Mar 2026, 05:06:07");
  assert.equal(date("2026-03-04T05:06:07Z"), "4 Mar 2026");
  assert.equal(day("2026-03-04T05:06:07Z"), "4 Mar");
  lang.value = "zh";
  assert.equal(date("2026-03-04T05:06:07Z"), "2026年3月4日");
});

test("how long ago", () => {
  minute.value = Date.UTC(2026, 2, 4, 12);
  table(
    (seconds: number) => ago(new Date(minute.value - seconds * 1000)),
    [
      [20, "now"],
      [60, "1 minute ago"],
      [7200, "2 hours ago"],
      [86400, "yesterday"],
      [3 * 86400, "3 days ago"],
      [70 * 86400, "2 months ago"],
      [800 * 86400, "2 years ago"],
      [-7200, "in 2 hours"],
    ],
  );
});

test("how long ago, where it rounds to the next unit", () => {
  minute.value = Date.UTC(2026, 2, 4, 12);
  table(
    (seconds: number) => ago(new Date(minute.value - seconds * 1000)),
    [
      [3599, "1 hour ago"],
      [86399, "yesterday"],
      [360 * 86400, "last year"],
    ],
  );
});

test("texts fill in their values and follow the language", () => {
  const t = texts({ found: "{n} of {all}, {n} shown" }, { found: "{all} 中的 {n}" });
  assert.equal(t("found", { n: 3, all: 7 }), "3 of 7, 3 shown");
  assert.equal(t("found", { n: 3 }), "3 of {all}, 3 shown");
  assert.equal(t("found"), "{n} of {all}, {n} shown");
  lang.value = "zh";
  assert.equal(t("found", { n: 3, all: 7 }), "7 中的 3");
});
