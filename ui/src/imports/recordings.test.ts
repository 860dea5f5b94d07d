import assert from "node:assert/strict";
import { test } from "node:test";
import { recordingsOf } from "./recordings";

const of = (...paths: string[]) =>
  recordingsOf(paths.map((path) => ({ path, file: { name: path.split("/").at(-1)!, size: 10 } as File }))).map(
    (r) => `${r.name}${r.folder ? "/" : ""} ${r.files.map((f) => f.name).join(",")} ${r.size}`,
  );

test("files are recordings of their own, whatever their names", () => {
  assert.deepEqual(of("a.mcap", "b.log"), ["a.mcap a.mcap 10", "b.log b.log 10"]);
});

test("a folder with its metadata is one recording", () => {
  assert.deepEqual(of("bag/metadata.yaml", "bag/bag_0.db3", "bag/bag_1.db3", "bag/notes.txt"), [
    "bag/ metadata.yaml,bag_0.db3,bag_1.db3 30",
  ]);
});

test("a folder without it holds recordings", () => {
  assert.deepEqual(of("day/a.mcap", "day/b.bag.zst", "day/notes.txt"), ["a.mcap a.mcap 10", "b.bag.zst b.bag.zst 10"]);
});

test("folders within a folder are told apart", () => {
  assert.deepEqual(of("day/1/metadata.yaml", "day/1/x_0.db3", "day/2/y.ulg"), ["1/ metadata.yaml,x_0.db3 20", "y.ulg y.ulg 10"]);
});

test("metadata beside its file without a folder", () => {
  assert.deepEqual(of("bag_0.db3", "metadata.yaml"), ["bag/ bag_0.db3,metadata.yaml 20"]);
});
