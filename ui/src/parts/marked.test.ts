import assert from "node:assert/strict";
import { test } from "node:test";
import { markedParts } from "./marked";

/** A text with its marked parts in brackets. */
const shown = (text: string, words: string) =>
  markedParts(text, words)
    .map((part, i) => (i % 2 ? `[${part}]` : part))
    .join("");

test("words and their beginnings are marked", () => {
  assert.equal(shown("Wet glass slipped", "wet slip"), "[Wet] glass [slipped]");
  assert.equal(shown("the gripping force", "grips"), "the [gripping] force", "by the stem of a word");
  assert.equal(shown("sweat", "wet eat"), "sweat", "not within a word");
});

test("single letters mark nothing, single characters of Han do", () => {
  assert.equal(shown("a b c", "a"), "a b c");
  assert.equal(shown("湿玻璃杯", "杯"), "湿玻璃[杯]");
});

test("signs of the question are no pattern", () => {
  assert.equal(shown("gain 1.5 or 125", "1.5"), "gain [1.5] or 125");
  assert.equal(shown("a(b", "(("), "a(b");
  assert.equal(shown("nothing asked", ""), "nothing asked");
});
