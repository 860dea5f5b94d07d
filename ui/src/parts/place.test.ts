import assert from "node:assert/strict";
import { test } from "node:test";
import { placeInFrame, placeOf } from "./place";

test("the first coordinates of a place", () => {
  assert.equal(placeOf({ frame_id: "map", position: [1.234, -2, 0.005] }), "position 1.23, -2, 0.01");
  assert.equal(placeOf({ cell: [1], xy: [3, 4] }), "xy 3, 4");
  for (const none of [undefined, null, "map", {}, { position: [1, "2"] }, { position: [1, 2, 3, 4] }])
    assert.equal(placeOf(none), "");
});

test("a place with its frame", () => {
  assert.equal(placeInFrame({ spatial: { frame_id: "map", position: [1, 2] } }), "1, 2 (map)");
  assert.equal(placeInFrame({ spatial: { position: [1, 2] } }), "1, 2");
  assert.equal(placeInFrame({}), "");
});
