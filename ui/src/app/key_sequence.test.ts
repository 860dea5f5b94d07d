import assert from "node:assert/strict";
import { test } from "node:test";
import { press } from "./key_sequence";

/** What the keys of a sequence do, one after the other. */
function type(keys: string, taken = ""): string[] {
  let prefix = "";
  const out: string[] = [];
  for (const key of keys) {
    const { act, next } = press(prefix, key, taken.includes(key));
    if (act) out.push(act.kind === "go" ? act.to : act.kind === "walk" ? String(act.step) : act.kind);
    prefix = next;
  }
  return out;
}

test("g and a letter open a view", () => {
  assert.deepEqual(type("ghgigsgpgegmgd"), [
    "/",
    "/incidents",
    "/search",
    "/perceptions",
    "/sessions",
    "/map",
    "/doctor",
  ]);
  assert.deepEqual(type("h"), [], "a letter alone opens nothing");
  assert.deepEqual(type("gxh"), [], "another key ends the sequence");
  assert.deepEqual(type("ggh"), [], "so does a second g");
  assert.deepEqual(type("gggh"), ["/"], "a third begins another");
});

test("j and k walk through a list, unless the view has them", () => {
  assert.deepEqual(type("jjk"), ["1", "1", "-1"]);
  assert.deepEqual(type("jk", "j"), ["-1"]);
  assert.deepEqual(type("gj"), [], "after g they are letters of a sequence");
});

test("search and the list of keys", () => {
  assert.deepEqual(type("/?g/"), ["search", "keys", "search"]);
});
