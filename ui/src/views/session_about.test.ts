import assert from "node:assert/strict";
import { test } from "node:test";
import type { Memory } from "../api/client";
import { about, tellers } from "./session_about";

const fact = (memory_id: number, session_id: string, outcome?: string, context: object = {}) =>
  ({ memory_id, session_id, outcome, context, type: "fact" }) as unknown as Memory;

test("what an episode was about", () => {
  const told = fact(1, "a", "failure", { task: { name: "pick" } });
  assert.equal(about({ context: { task: "wipe" }, collection: "shop" }, told), "wipe");
  assert.equal(about({ context: { source: { recording: "run.mcap" } }, collection: "shop" }, told), "run.mcap");
  assert.equal(about({ context: { robot: "arm-7" }, collection: "shop" }, told), "pick", "as its facts say");
  assert.equal(about({ collection: "shop" }), "shop");
});

test("the fact that tells how an episode went", () => {
  const facts = [fact(5, "a"), fact(4, "a", "success"), fact(3, "a", "failure"), fact(2, "a", "failure"), fact(1, "b")];
  const got = tellers(facts);
  assert.equal(got.get("a")!.memory_id, 3, "the newest failure");
  assert.equal(got.get("b")!.memory_id, 1);
  assert.equal(got.size, 2);
  assert.equal(tellers([fact(9, "")]).size, 0);
});
