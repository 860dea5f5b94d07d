import assert from "node:assert/strict";
import { test } from "node:test";
import { visible } from "./visible";

test("hidden characters are shown as code points", () => {
  assert.equal(visible("a\u202eb"), "a\\u{202e}b", "an override of the direction");
  assert.equal(visible("a\u200bb"), "a\\u{200b}b", "a space without width");
  assert.equal(visible("\u0007"), "\\u{7}");
  assert.equal(visible("\u{e0041}"), "\\u{e0041}", "a tag");
});

test("what has a glyph or a place stays", () => {
  for (const text of ["two\nlines\tand a tab", "👩\u200d🚀", "می\u200cخواهم", "❤\ufe0f", "葛\u{e0100}"])
    assert.equal(visible(text), text);
});

test("joiners and variants that join nothing are shown", () => {
  assert.equal(visible("a \u200d b"), "a \\u{200d} b");
  assert.equal(visible("x\ufe0f"), "x\\u{fe0f}");
});
