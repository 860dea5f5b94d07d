import assert from "node:assert/strict";
import { test } from "node:test";
import { lines, parsed } from "./bytes_lines";

test("offset, bytes and ASCII of a line", () => {
  const data = Uint8Array.from([0x41, 0x42, 0, 0x7e, 0x7f, 0xff, 0x20, 0x31, 0x32]);
  assert.equal(
    lines(data, 0x1f0, 8),
    "000001f0  41 42 00 7e 7f ff 20 31  AB·~·· 1\n000001f8  32                       2",
  );
});

test("eight bytes stand apart", () => {
  const data = new Uint8Array(16);
  assert.equal(lines(data, 0, 16), `00000000  ${"00 ".repeat(8)} ${"00 ".repeat(8)} ${"·".repeat(16)}`);
});

test("the object or list of a text", () => {
  assert.deepEqual(parsed('{"a":1}'), { a: 1 });
  assert.deepEqual(parsed("[1]"), [1]);
  for (const text of ["1", "null", "{", ""]) assert.equal(parsed(text), undefined, text);
});
