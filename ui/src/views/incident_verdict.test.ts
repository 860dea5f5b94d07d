import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { lang } from "../app/text";
import { doubt, holds, mostTried, ordered, sentence, together, valueText, verbs, verdict, type Advice, type Parameter } from "./incident_verdict";

afterEach(() => (lang.value = "en"));

const record = (value: unknown, attempts: number, successes: number, rest: object = {}) => ({
  value,
  attempts,
  successes,
  rate: successes / attempts,
  low: 0,
  high: successes / attempts,
  ...rest,
});
const parameter = (path: string, values: object[], unit = "") => ({ path, values, unit }) as unknown as Parameter;
const advice = (parameters: Parameter[], rest: object = {}) =>
  ({ parameters, differs: [], ...rest }) as unknown as Advice;
const words = { failed: "slipped", worked: "held" };

test("the words of a failure and of a success", () => {
  assert.deepEqual(verbs("The cup Slips again", "gripper holds it"), { failed: "slipped", worked: "held" });
  assert.deepEqual(verbs("it dropped and broke", "inserted"), { failed: "dropped", worked: "inserted" });
  assert.deepEqual(verbs("eclipsed", undefined), { failed: "failed", worked: "worked" }, "whole words only");
  lang.value = "zh";
  assert.equal(verbs("slipped").failed === "slipped", false);
});

test("a value or a range as text", () => {
  const text = (r: object, unit = "N") =>
    valueText(parameter("params.force", [], unit), r as Parameter["values"][number]);
  assert.equal(text({ value: 12.345 }), "12.3 N");
  assert.equal(text({ value: "soft" }), "soft");
  assert.equal(text({ from: 1, to: 2.5 }, ""), "1 … 2.5");
  assert.equal(text({ from: 2, to: 2 }), "2 N");
  assert.equal(text({}), "–");
});

test("whether a record holds a value", () => {
  const r = (rest: object) => rest as Parameter["values"][number];
  assert.equal(holds(r({ value: "soft" }), "soft"), true);
  assert.equal(holds(r({ value: 12.5 }), "12.5 N"), true, "a number with a unit");
  assert.equal(holds(r({ value: 12.5 }), 12.6), false);
  assert.equal(holds(r({ from: 1, to: 2 }), 2), true);
  assert.equal(holds(r({ from: 1, to: 2 }), 2.1), false);
  assert.equal(holds(r({ value: "soft" }), undefined), false);
  assert.equal(holds(r({}), 1), false);
});

test("what came of a value, weighted attempts with a decimal", () => {
  const p = parameter("params.force", [], "N");
  const r = record(12, 4, 1) as Parameter["values"][number];
  assert.equal(sentence(p, r, words), "12 N slipped 3 of 4");
  assert.equal(sentence(p, r, words, true), "12 N held 1 of 4");
  assert.equal(sentence(p, record(12, 3.14159, 3) as Parameter["values"][number], words), "12 N held 3 of 3.1");
});

test("parameters that separate the outcomes come first, those of one value not at all", () => {
  const [a, b, c] = [
    parameter("a", [record(1, 1, 1), record(2, 1, 0)]),
    parameter("b", [record(1, 1, 1), record(2, 1, 0)]),
    parameter("c", [record(1, 1, 1)]),
  ];
  assert.deepEqual(ordered(advice([a, b, c], { differs: [{ path: "b" }, { path: "c" }] })), [b, a]);
});

test("the verdict names the value of this failure and the suggestion", () => {
  const p = parameter("params.force", [record(8, 5, 0), record(10, 4, 1), record(13, 6, 6)], "N");
  const a = advice([p], { suggestion: { parameters: { "params.force": 13 } } });
  assert.deepEqual(verdict(a, words, { params: { force: "10 N" } }), {
    path: "params.force",
    good: "13 N held 6 of 6",
    bad: "10 N slipped 3 of 4",
    value: 13,
  });
  assert.equal(verdict(a, words)!.bad, "8 N slipped 5 of 5", "else the worst");
  assert.equal(
    verdict(a, words, { params: { force: 13 } })!.bad,
    "8 N slipped 5 of 5",
    "a value that works did not fail",
  );
  assert.equal(verdict(advice([p]), words)!.good, undefined, "nothing but a suggestion recommends");
  assert.equal(verdict(advice([]), words), undefined);
  assert.equal(verdict(undefined, words), undefined);
});

test("a value that failed in most attempts is not recommended alone", () => {
  const speed = parameter("params.approach_speed", [record(0.1, 7, 4), record(0.3, 7, 3)], "m/s");
  const force = parameter("params.force", [record(19, 4, 1), record(21, 4, 3)], "N");
  const suggestion = { parameters: { "params.approach_speed": "0.3 m/s", "params.force": "21 N" } };
  const told = verdict(advice([speed, force], { suggestion }), words, { params: { force: "19 N" } });
  assert.equal(told!.path, "params.force");
  assert.equal(told!.good, "21 N held 3 of 4");
  assert.equal(told!.bad, "19 N slipped 3 of 4");
  const alone = verdict(advice([speed], { suggestion }), words);
  assert.deepEqual([alone!.good, alone!.value], [undefined, undefined]);
});

test("what is doubtful in an advice, and what it suggests together", () => {
  const speed = parameter("params.speed", [record(0.1, 7, 4), record(0.3, 7, 3)], "m/s");
  const force = parameter("params.force", [record(19, 4, 1), record(21, 4, 3)], "N");
  const both = [speed, force];
  assert.equal(doubt(advice(both, { evidence: "good" })), undefined);
  assert.equal(doubt(advice(both, { evidence: "weak" })), "mayBeChance");
  assert.equal(doubt(advice(both, { evidence: "weak", differs: [{ path: "robot" }] })), "mayBeChance");
  assert.equal(doubt(advice(both, { evidence: "weak", differs: [{ path: "params.force" }] })), "fewNear");
  const suggestion = { parameters: { "params.speed": 0.3, "params.force": "21 N" } };
  assert.equal(together(advice(both, { suggestion })), "speed 0.3, force 21 N");
  assert.equal(together(advice([force], { suggestion })), undefined);
});

test("the values of the most attempts stay in their order, with this one and the suggested one", () => {
  const all = [1, 5, 2, 4, 3].map((n, i) => record(i, n, 0)) as unknown as Parameter["values"];
  const values = (most: number, shown: (value: unknown) => boolean) =>
    mostTried(all, most, (r) => shown(r.value)).map((r) => r.value);
  assert.deepEqual(values(2, () => false), [1, 3]);
  assert.deepEqual(values(2, (v) => v === 0), [0, 1]);
  assert.deepEqual(values(9, () => false), [0, 1, 2, 3, 4]);
});
