import assert from "node:assert/strict";
import { test } from "node:test";
import type { PlanePoint } from "../plots/plane_draw";
import {
  address,
  choose,
  count,
  depth,
  extent,
  onPlane,
  place,
  points,
  question,
  read,
  spacesOf,
  usual,
  wider,
  type MapState,
  type Space,
} from "./map_query";

const of = (query: string) => read(new URLSearchParams(query));
const standard = of("");
const space = (rest: object = {}) =>
  ({
    field: "spatial.position",
    frame_id: "map",
    memories: 10,
    dims: 2,
    min: [0, 0],
    max: [4, 2],
    ...rest,
  }) as unknown as Space;

test("an address names what the map shows", () => {
  const state: MapState = {
    space: { field: "spatial.position", frame_id: "map", map_id: "kitchen", dims: 3 },
    axes: "xz",
    collection: "kitchen",
    type: "fact",
    outcome: true,
    heat: "failures",
    at: [1, -2.5, 0],
    radius: 0.8,
    view: [1, 2, 30],
  };
  assert.deepEqual(of(address(state).slice("/map?".length)), state);
  assert.equal(address(standard), "/map");
  assert.equal(address({ ...standard, view: [1.23456789, 0, 1e-9] }), "/map?view=1.234568%2C0%2C1e-9");
});

test("what an address does not say properly is left out", () => {
  assert.deepEqual(of("axes=zz&type=x&outcome=y&heat=z&at=1&radius=-1&view=1,2"), standard);
  assert.deepEqual(of("at=1,x&radius=far&view=1,2,0"), standard);
  assert.deepEqual(of("at=1,2,3,4&view=a,b,c"), standard);
});

test("a coordinate that is missing is not zero", () => {
  assert.deepEqual(of("at=1,&view=,2,3"), standard);
});

test("coordinates with and without a height are one space", () => {
  const flat = space({ memories: 5, min: [-1, 0], max: [2, 9] });
  const high = space({ memories: 7, dims: 3, min: [0, 0, 1], max: [4, 2, 3] });
  const other = space({ frame_id: "odom", memories: 20 });
  const [first, second] = spacesOf([flat, other, high]);
  assert.equal(first, other, "the fullest first");
  assert.deepEqual(second, space({ memories: 12, dims: 3, min: [-1, 0, 1], max: [4, 9, 3] }));
});

test("the space that is asked for, else the fullest", () => {
  const all = [space(), space({ frame_id: "odom" })];
  assert.equal(choose(all, { field: "spatial.position", frame_id: "odom", dims: 3 }), all[1]);
  assert.equal(choose(all, { field: "gone", dims: 2 }), all[0]);
  assert.equal(choose([], undefined), undefined);
});

test("coordinates without a frame are asked for by its absence", () => {
  const unnamed = space({ frame_id: undefined });
  const spaces = [space(), unnamed];
  assert.deepEqual(question(standard, unnamed, spaces).conditions, [
    { path: "frame_id", op: "$exists", value: false },
    { path: "spatial.frame_id", op: "$exists", value: false },
  ]);
  assert.deepEqual(question(standard, unnamed, [unnamed]).conditions, [], "where no frame has a name");
  const asked = points({ ...standard, outcome: false, heat: "count" }, unnamed, spaces);
  assert.equal(
    asked.context_filter,
    '{"$and":[{"frame_id":{"$exists":false}},{"spatial.frame_id":{"$exists":false}},{"task.success":false}]}',
  );
  assert.equal(asked.grid, 40);
});

test("the points of a part", () => {
  assert.deepEqual(
    points({ ...standard, type: "fact", collection: "kitchen" }, space(), [space()], { min: [0, 1], max: [2, 3] }),
    {
      collection: "kitchen",
      field: "spatial.position",
      frame_id: "map",
      map_id: undefined,
      type: "fact",
      min: [0, 1],
      max: [2, 3],
    },
  );
});

test("a place of a space", () => {
  assert.deepEqual(place(space(), [1, 2], 3), { field: "spatial.position", target: [1, 2], radius: 3, frame: "map" });
  assert.deepEqual(place(space({ frame_id: undefined, map_id: "m" }), [1, 2]), {
    field: "spatial.position",
    target: [1, 2],
    map: "m",
  });
});

test("a radius that suits a space", () => {
  assert.equal(usual(space()), 0.2, "a twentieth of 4");
  assert.equal(usual(space({ max: [50, 1] })), 5, "2.5, rounded up");
  assert.equal(usual(space({ max: [0, 0] })), 1);
});

test("what a plane shows of a space", () => {
  const high = space({ dims: 3, min: [0, 1, 2], max: [3, 4, 5] });
  assert.deepEqual(extent(high, "xy"), { min: [0, 1], max: [3, 4] });
  assert.deepEqual(extent(high, "xz"), { min: [0, 2], max: [3, 5] });
  assert.deepEqual(extent(high, "yz"), { min: [1, 2], max: [4, 5] });
});

test("points on a plane", () => {
  const answer = {
    points: [
      { memory_id: 1, x: 1, y: 2, z: 3, success: false, summary: "a" },
      { memory_id: 2, x: 4, y: 5, summary: "b" },
    ],
  } as Parameters<typeof onPlane>[0];
  assert.deepEqual(
    onPlane(answer, "yz"),
    [{ id: 1, u: 2, v: 3, depth: 1, good: false, text: "a" }],
    "what has no height is not seen from the side",
  );
  assert.deepEqual(
    onPlane(answer, "xy").map((p) => [p.u, p.v, p.depth]),
    [
      [1, 2, 3],
      [4, 5, undefined],
    ],
  );
});

const point = (u: number, v: number, good?: boolean, depth?: number): PlanePoint => ({
  id: 0,
  u,
  v,
  good,
  depth,
  text: "",
});

test("points are counted in cells, forty along the longer side", () => {
  const got = count([point(0, 0, true), point(0.05, 0.09, false), point(0.1, 0), point(4, 2, true)], {
    min: [0, 0],
    max: [4, 2],
  });
  assert.equal(got.side, 0.1);
  assert.deepEqual(got.cells, [
    { u: 0, v: 0, memories: 2, successes: 1, failures: 1 },
    { u: 0.1, v: 0, memories: 1, successes: 0, failures: 0 },
    { u: 4, v: 2, memories: 1, successes: 1, failures: 0 },
  ]);
  assert.deepEqual(count([point(1, 1)], { min: [1, 1], max: [1, 1] }), { side: 0, cells: [] });
});

test("a quarter more than what is shown, at each side", () => {
  assert.deepEqual(wider({ min: [0, 10], max: [8, 12] }), { min: [-2, 9.5], max: [10, 12.5] });
});

test("the hidden coordinate of the nearest point", () => {
  const all = [point(0, 0, true, 7), point(5, 5, true, 8)];
  assert.equal(depth(all, 1, 1), 7);
  assert.equal(depth(all, 4, 3), 8);
  assert.equal(depth([], 0, 0), undefined);
});

test("an address hides the map beneath the points", () => {
  assert.equal(read(new URLSearchParams("plan=off")).bare, true);
  assert.equal(address({ ...read(new URLSearchParams("plan=off")) }), "/map?plan=off");
});
