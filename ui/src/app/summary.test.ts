import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { summary } from "./summary";
import { lang } from "./text";

afterEach(() => (lang.value = "en"));

test("a summary is English as the node writes it", () => {
  assert.equal(summary("6-axis wrench, 1,000 samples over 1.00 s"), "6-axis wrench, 1,000 samples over 1.00 s");
});

test("known clauses are translated, others stay", () => {
  lang.value = "zh";
  assert.equal(
    summary("6-axis wrench, 1,000 samples over 1.00 s; odd clause"),
    "6 轴力/力矩，1,000 个采样，历时 1.00 s，odd clause",
  );
  assert.equal(summary("3 facts and 1 perception in 5 min."), "3 条事实与 1 条感知，历时 5 min");
  assert.equal(summary("fz peak 12.5 N at 0.42 s"), "fz 峰值 12.5 N（0.42 s 时）");
});

test("what follows a colon is a text of the data", () => {
  lang.value = "zh";
  assert.equal(summary("stereo: mono, truncated"), "立体声: mono, truncated");
});
