import assert from "node:assert/strict";
import { test } from "node:test";
import { byKind, kindOf, placeOf } from "./subjects_groups";

test("subjects are divided by kind, in the order of the kinds", () => {
  const of = (name: string, kind?: string) => ({ name, kind, memories: 1 });
  const groups = byKind([of("dock B", "place"), of("arm-7", "robot"), of("x"), of("arm-8", "robot"), of("y", "ghost")]);
  assert.deepEqual(
    groups.map(([kind, list]) => [kind, list.map((s) => s.name)]),
    [
      ["robot", ["arm-7", "arm-8"]],
      ["place", ["dock B"]],
      ["other", ["x", "y"]],
    ],
  );
  assert.deepEqual(byKind([]), []);
});

test("a kind that the page does not know is another one", () => {
  assert.equal(kindOf("person"), "person");
  assert.equal(kindOf("ghost"), "other");
  assert.equal(kindOf(undefined), "other");
});

test("a place is its name, its map and its coordinates", () => {
  const seen = { memory_id: 1, observed_at: "2026-01-01T00:00:00Z" };
  assert.equal(placeOf({ ...seen, place: "bay 4", map_id: "hall", position: [1.234, 0, -2] }), "bay 4 hall (1.23, 0, -2)");
  assert.equal(placeOf({ ...seen, map_id: "hall" }), "hall");
  assert.equal(placeOf(seen), "");
});
