import assert from "node:assert/strict";
import { test } from "node:test";
import { listOf, unnumbered, type Line } from "./incident_lines";
import { filtered, filterOf } from "./perceptions_pages";
import { about, began, robotOf } from "./session_about";

test("a title for many leaves the numbers out in which they differ", () => {
  assert.equal(unnumbered("slipped by 12.5 mm at -3 N"), "slipped by … mm at … N");
  assert.equal(
    unnumbered("arm-7 dropped cup_2 after 1,000 s"),
    "arm-7 dropped cup_2 after … s",
    "numbers of names stay",
  );
  assert.equal(unnumbered("v1.2 of 3"), "v1.2 of …");
  assert.equal(unnumbered("偏差 5 毫米"), "偏差 … 毫米");
});

test("the incidents of a robot and task", () => {
  assert.equal(
    listOf({ collection: "a b", robot: "arm&7", task: "polish" } as Line),
    "/incidents?state=open&collection=a+b&robot=arm%267&task=polish",
  );
  assert.equal(listOf({ collection: "c" } as Line), "/incidents?state=open&collection=c");
});

test("the robot and the subject of an episode", () => {
  assert.equal(robotOf({ context: { robot: { id: "arm7", name: "Arm" } } }), "arm7");
  assert.equal(robotOf({ context: { robot: { name: "Arm" } } }), "Arm");
  assert.equal(robotOf({ context: { robot: "arm7" } }), "arm7");
  assert.equal(robotOf({ context: { robot: 7 } }), undefined);
  assert.equal(robotOf({}), undefined);
  const recording = { source: { recording: "run.mcap", began: "2026-01-01T00:00:00Z" } };
  assert.equal(about({ collection: "c", context: { ...recording, task: { name: "polish" } } }), "polish");
  assert.equal(about({ collection: "c", context: recording }), "run.mcap");
  assert.equal(about({ collection: "c" }), "c");
  assert.equal(began({ context: recording, created_at: "2026-02-02T00:00:00Z" }), "2026-01-01T00:00:00Z");
  assert.equal(began({ created_at: "2026-02-02T00:00:00Z" }), "2026-02-02T00:00:00Z");
});

test("the filter of a gallery", () => {
  const of = (query: string) => filterOf(new URLSearchParams(query));
  assert.deepEqual(of("perception_type=visual&collection=kitchen&outcome=failed&session=s1"), {
    perception_type: "visual",
    collection: "kitchen",
    outcome: "failed",
    session: "s1",
  });
  assert.deepEqual(of("perception_type=smell&collection=&outcome=success"), {
    perception_type: undefined,
    collection: undefined,
    outcome: undefined,
    session: undefined,
  });
  assert.deepEqual([filtered(of("")), filtered(of("collection=a"))], [false, true]);
});
