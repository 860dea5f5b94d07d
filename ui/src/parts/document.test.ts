import assert from "node:assert/strict";
import { test } from "node:test";
import { documentLabel } from "./document";

test("a passage says its document, pages and section", () => {
  const of = (document: object, type = "document") => documentLabel({ type, context: { document } } as never);
  assert.equal(of({ name: "a.pdf", page: 12, section: "Safety > Grippers" }), "a.pdf p. 12, Safety > Grippers");
  assert.equal(of({ name: "a.pdf", page: 12, last_page: 13 }), "a.pdf p. 12-13");
  assert.equal(of({ name: "a.md" }), "a.md");
  assert.equal(of({ name: "a.md" }, "fact"), "");
  assert.equal(of({}), "");
});
