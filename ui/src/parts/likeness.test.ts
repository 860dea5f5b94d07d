import assert from "node:assert/strict";
import { test } from "node:test";
import type { Memory } from "../api/client";
import { drawable, messagesOnly } from "./drawable";
import { byLikeness, likeness } from "./likeness";

const found = (memory_id: number, value?: number) =>
  ({
    memory_id,
    found:
      value === undefined
        ? []
        : [
            { list: "bm25", value: 9 },
            { list: "likeness", value },
          ],
  }) as unknown as Memory;

test("the distance of a perception", () => {
  assert.equal(likeness(found(1, 0.5)), 0.5);
  assert.equal(likeness(found(1)), undefined);
});

test("nearest first, and last what has no distance", () => {
  const list = [found(1), found(2, 3), found(3, 0.5)];
  assert.deepEqual(
    byLikeness(list).map((m) => m.memory_id),
    [3, 2, 1],
  );
  assert.deepEqual(
    list.map((m) => m.memory_id),
    [1, 2, 3],
    "the list stays as it was",
  );
});

const perception = (summary: string, schema?: string, sha256 = "x") =>
  ({ sha256, status: "active", summary, metadata: schema ? { schema } : undefined }) as unknown as Memory;

test("what the node can draw", () => {
  assert.equal(drawable(perception("6-axis wrench, 1,000 samples over 1.00 s")), true);
  assert.equal(drawable(perception("12,345 bytes of application/zip")), false);
  assert.equal(drawable(perception("text, 3 lines")), false);
  assert.equal(drawable(perception("6-axis wrench", undefined, "")), false, "its bytes are gone");
});

test("topics of messages alone", () => {
  for (const schema of [
    "tf2_msgs/TFMessage",
    "rcl_interfaces/Log",
    "std_msgs/String",
    "foxglove.Log",
    "diagnostic_msgs/DiagnosticArray",
  ]) {
    assert.equal(messagesOnly(perception("", schema)), true, schema);
  }
  for (const schema of ["sensor_msgs/Imu", "custom/StringArray", "custom/Blog"])
    assert.equal(messagesOnly(perception("", schema)), false, schema);
});
