import assert from "node:assert/strict";
import { test } from "node:test";
import { chain, framesOf, motion, poseAt, yaw, type Pose } from "./frames";
import type { Recorded } from "./messages";

const half = Math.SQRT1_2; // sine and cosine of 45°, half of a quarter turn

const transform = (parent: string, child: string, sec: number, translation: number[], rotation = [0, 0, 0, 1]) => ({
  header: { frame_id: parent, stamp: { sec, nanosec: 0 } },
  child_frame_id: child,
  transform: {
    translation: { x: translation[0], y: translation[1], z: translation[2] },
    rotation: { x: rotation[0], y: rotation[1], z: rotation[2], w: rotation[3] },
  },
});

const recorded = (topic: string, ...transforms: object[]): Recorded => ({
  topic,
  schema: "tf2_msgs/TFMessage",
  messages: [{ time: 99, value: { transforms } }],
});

function near(got: number[], want: number[]): void {
  got.forEach((v, i) => assert.ok(Math.abs(v - want[i]!) < 1e-9, `${got.join()}, not ${want.join()}`));
  assert.equal(got.length, want.length);
}

// A robot drives along x and turns left by 90°; its camera is 1 m ahead of it.
const frames = framesOf([
  recorded(
    "/tf",
    transform("map", "base", 12, [4, 0, 0], [0, 0, half, half]),
    transform("/map", "/base", 10, [2, 0, 0]),
  ),
  recorded("/tf_static", transform("base", "camera", 5, [1, 0, 0])),
]);

test("transforms by frame, in the order of time", () => {
  assert.deepEqual([...frames.keys()], ["base", "camera"]);
  assert.deepEqual(frames.get("base")!.times, [10, 12]);
  assert.equal(frames.get("base")!.parent, "map");
  assert.deepEqual([frames.get("base")!.fixed, frames.get("camera")!.fixed], [false, true]);
});

test("a transform of Foxglove", () => {
  const value = {
    timestamp: { sec: 3, nsec: 500_000_000 },
    parent_frame_id: "map",
    child_frame_id: "base",
    translation: { x: 1 },
    rotation: {},
  };
  const got = framesOf([{ topic: "/tf", schema: "foxglove.FrameTransform", messages: [{ time: 9, value }] }]);
  assert.deepEqual(got.get("base"), {
    parent: "map",
    fixed: false,
    times: [3.5],
    poses: [{ position: [1, 0, 0], orientation: [0, 0, 0, 1] }],
  });
});

test("the frames up to the root", () => {
  assert.deepEqual(chain(frames, "camera"), ["camera", "base", "map"]);
  assert.deepEqual(chain(frames, "unknown"), ["unknown"]);
  const loop = framesOf([recorded("/tf", transform("a", "b", 1, [0, 0, 0]), transform("b", "a", 1, [0, 0, 0]))]);
  assert.deepEqual(chain(loop, "a"), ["a", "b"], "a loop ends");
});

test("between two transforms", () => {
  const { position, orientation } = poseAt(frames.get("base")!, 11);
  near(position, [3, 0, 0]);
  near([yaw({ position, orientation })], [45]);
});

test("before the first transform and after the last", () => {
  near(poseAt(frames.get("base")!, 1).position, [2, 0, 0]);
  near(poseAt(frames.get("base")!, 99).position, [4, 0, 0]);
});

test("along the shorter arc", () => {
  const link = framesOf([
    recorded(
      "/tf",
      transform("map", "base", 0.5, [0, 0, 0]),
      transform("map", "base", 1.5, [0, 0, 0], [0, 0, -half, -half]),
    ),
  ]).get("base")!;
  near([yaw(poseAt(link, 1))], [45]);
});

test("a frame in another", () => {
  const { times, poses } = motion(frames, "camera", "map", 100)!;
  assert.deepEqual(times, [10, 12]);
  near(poses[0]!.position, [3, 0, 0]);
  near(poses[1]!.position, [4, 1, 0]);
  near(
    poses.map((p: Pose) => yaw(p)),
    [0, 90],
  );
  const back = motion(frames, "map", "camera", 100)!;
  near(back.poses[0]!.position, [-3, 0, 0]);
  near(back.poses[1]!.position, [-1, 4, 0]);
});

test("frames that nothing joins", () => {
  assert.equal(motion(frames, "camera", "elsewhere", 100), undefined);
});

test("no more times than are asked for, with the first and the last", () => {
  const many = framesOf([
    recorded("/tf", ...Array.from({ length: 11 }, (_, i) => transform("map", "base", i + 1, [i, 0, 0]))),
  ]);
  assert.deepEqual(motion(many, "base", "map", 3)!.times, [1, 6, 11]);
});

test("transforms of a simulator stand at the times at which they were recorded", () => {
  const wall = 1_790_000_000;
  const messages = [12, 13].map((sec, i) => ({
    time: wall + i,
    value: { transforms: [transform("map", "base", sec, [i, 0, 0])] },
  }));
  const simulated = framesOf([{ topic: "/tf", schema: "tf2_msgs/TFMessage", messages }]);
  assert.deepEqual(simulated.get("base")!.times, [wall, wall + 1]);
});
