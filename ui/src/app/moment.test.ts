import assert from "node:assert/strict";
import { test } from "node:test";
import { exact, read } from "./moment";

const of = (query: string) => read(new URLSearchParams(query));

test("cursor and zoom of an address", () => {
  assert.deepEqual(of("at=1.5&zoom=-2,3.25"), { at: 1.5, zoom: [-2, 3.25] });
  assert.deepEqual(of("at=0"), { at: 0, zoom: undefined });
});

test("what is no number or stretch is left out", () => {
  for (const query of ["", "at=", "at=soon", "zoom=3", "zoom=3,2", "zoom=1,1", "zoom=1,2,3", "zoom=a,2"]) {
    assert.deepEqual(of(query), { at: undefined, zoom: undefined }, query);
  }
});

test("times in an address are exact to 10 microseconds", () => {
  assert.equal(exact(1700000000.123456), "1700000000.12346");
  assert.equal(exact(2), "2");
});
