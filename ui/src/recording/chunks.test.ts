import assert from "node:assert/strict";
import { test } from "node:test";
import { parse, units } from "./chunks";

const of = (format: string, ...data: number[][]) =>
  parse({
    topic: "/camera",
    schema: "foxglove.CompressedVideo",
    messages: data.map((bytes, i) => ({ time: i, value: { format, data: Uint8Array.from(bytes) } })),
  });

const [sps, idr, slice] = [
  [0, 0, 0, 1, 0x67, 0x64, 0x00, 0x28],
  [0, 0, 1, 0x65, 0x88],
  [0, 0, 1, 0x41, 0x9a],
];

test("units of a stream, after start codes of three and four bytes", () => {
  assert.deepEqual(units(Uint8Array.from([...sps!, ...idr!])), [
    [4, 0x67],
    [11, 0x65],
  ]);
  assert.deepEqual(units(Uint8Array.from([0, 0, 1])), [], "a start code without a unit");
});

test("the codec of H.264 is profile, constraints and level of its parameters", () => {
  assert.equal(of("h264", [...sps!, ...idr!]).codec, "avc1.640028");
  assert.equal(of("H264", slice!).codec, "avc1.42E01E", "a stream without parameters");
});

test("chunks that stand alone", () => {
  const keys = (format: string, ...data: number[][]) => of(format, ...data).chunks.map((c) => c.key);
  assert.deepEqual(keys("h264", [...sps!, ...idr!], slice!), [true, false]);
  assert.deepEqual(keys("h265", [0, 0, 1, 19 << 1, 1], [0, 0, 1, 1 << 1, 1]), [true, false]);
  assert.deepEqual(keys("vp9", [0x82], [0x86]), [true, false]);
  assert.deepEqual(keys("av1", [0x0a, 1], [0x32, 1]), [true, false]);
});

test("codecs without parameters in the stream", () => {
  assert.deepEqual(
    ["h265", "vp9", "av1", "mjpeg"].map((format) => of(format, [0]).codec),
    ["hev1.1.6.L93.B0", "vp09.00.10.08", "av01.0.04M.08", "mjpeg"],
  );
});

test("a temporal delimiter may stand before the sequence header of AV1", () => {
  assert.deepEqual(
    of("av1", [0x12, 0, 0x0a, 1], [0x12, 0, 0x32, 1]).chunks.map((c) => c.key),
    [true, false],
  );
});
