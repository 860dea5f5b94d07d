import assert from "node:assert/strict";
import { test } from "node:test";
import { go, route, withQuery } from "./address";

test("path, parts and query of an address", () => {
  go("/sessions/a%2Fb?at=3&zoom=1,2", "replace");
  assert.equal(route.value.path, "/sessions/a%2Fb");
  assert.deepEqual(route.value.parts, ["sessions", "a/b"]);
  assert.equal(route.value.query.get("zoom"), "1,2");
});

test("other query values, in the order in which they stood", () => {
  go("/search?q=wet+glass&type=fact", "replace");
  assert.equal(withQuery({ type: "perception", tag: "x&y" }), "/search?q=wet+glass&type=perception&tag=x%26y");
  assert.equal(withQuery({ q: undefined, type: "" }), "/search");
});

test("a path that is not encoded properly is shown as it is", () => {
  go("/sessions/100%", "replace");
  assert.deepEqual(route.value.parts, ["sessions", "100%"]);
});
