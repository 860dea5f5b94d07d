import assert from "node:assert/strict";
import { test } from "node:test";
import { inside, outside } from "./base";

test("at the root of a host a path is its own", () => {
  assert.equal(outside("/map"), "/map");
  assert.equal(inside("/map?heat=count"), "/map?heat=count");
  assert.equal(inside(""), "/");
  assert.equal(inside("?q=x"), "/?q=x");
  assert.equal(inside("elsewhere"), undefined);
});
