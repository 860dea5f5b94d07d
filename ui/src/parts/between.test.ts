import assert from "node:assert/strict";
import { test } from "node:test";
import { between, date } from "./between";

// The tests run in UTC.
test("dates are whole days", () => {
  assert.deepEqual(between("2026-03-01", "2026-03-02"), {
    after: "2026-03-01T00:00:00.000Z",
    before: "2026-03-03T00:00:00.000Z",
  });
  assert.deepEqual(between("2026-02-28T15:00:00Z", "2024-02-28"), {
    after: "2026-02-28T00:00:00.000Z",
    before: "2024-02-29T00:00:00.000Z",
  });
});

test("an age counts back from the full hour", () => {
  const now = Date.now();
  const { after, before } = between("7d");
  assert.equal(before, undefined);
  assert.equal(Date.parse(after!) % 3_600_000, 0);
  const age = (now - Date.parse(after!)) / 3_600_000;
  assert.ok(age >= 7 * 24 && age < 7 * 24 + 1.1, `${age} hours`);
  const hours = (now - Date.parse(between("24h").after!)) / 3_600_000;
  assert.ok(hours >= 24 && hours < 25.1, `${hours} hours`);
});

test("what is neither is no bound", () => {
  assert.deepEqual(between(), { after: undefined, before: undefined });
  assert.deepEqual(between("soon", "7d"), { after: undefined, before: undefined });
  assert.deepEqual(between("2026-13-01"), { after: undefined, before: undefined });
});

test("the date of a text", () => {
  assert.equal(date("2026-03-01T10:00:00Z"), "2026-03-01");
  assert.equal(date("7d"), "");
  assert.equal(date(undefined), "");
});
