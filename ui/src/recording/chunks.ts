// Compressed video as chunks of a decoder.

import { text, type Recorded } from "./messages";

export interface Chunk {
  time: number; // seconds since the epoch
  data: Uint8Array;
  key: boolean;
}

/** The types of the NAL units of an Annex B stream (ITU-T H.264 and H.265, annex B), with where each begins. */
export function units(data: Uint8Array): [at: number, head: number][] {
  const out: [number, number][] = [];
  for (let i = 0; i + 3 < data.length; i++) {
    if (data[i] === 0 && data[i + 1] === 0 && data[i + 2] === 1) {
      out.push([i + 3, data[i + 3]!]);
      i += 3;
    }
  }
  return out;
}

const hex = (v: number) => v.toString(16).padStart(2, "0");

/**
 * Whether a chunk of AV1 begins with a sequence header, perhaps behind a temporal delimiter (AV1 specification, 5.3
 * and 6.2.2).
 */
function startsSequence(data: Uint8Array): boolean {
  const type = (at: number) => (data[at]! >> 3) & 15;
  // A delimiter is a header and, if the header says so, a size of 0.
  const delimiter = type(0) !== 2 ? 0 : data[0]! & 2 ? 2 : 1;
  return type(delimiter) === 1;
}

/** The codec as WebCodecs names it, and which chunks stand alone. */
export function parse(recorded: Recorded): { codec: string; chunks: Chunk[] } {
  const format = text(recorded.messages[0]!.value.format).toLowerCase();
  let codec =
    { h265: "hev1.1.6.L93.B0", hevc: "hev1.1.6.L93.B0", vp9: "vp09.00.10.08", av1: "av01.0.04M.08" }[format] ?? format;
  const chunks = recorded.messages.map(({ time, value }): Chunk => {
    const data = value.data instanceof Uint8Array ? value.data : new Uint8Array();
    if (format !== "h264" && format !== "h265" && format !== "hevc")
      return { time, data, key: format === "vp9" ? (data[0]! & 0x04) === 0 : startsSequence(data) };
    const all = units(data);
    if (format !== "h264")
      return { time, data, key: all.some(([, head]) => ((head >> 1) & 63) >= 16 && ((head >> 1) & 63) <= 21) };
    const sps = all.find(([, head]) => (head & 31) === 7)?.[0];
    if (sps !== undefined && codec === format)
      codec = `avc1.${hex(data[sps + 1]!)}${hex(data[sps + 2]!)}${hex(data[sps + 3]!)}`;
    return { time, data, key: all.some(([, head]) => (head & 31) === 5) };
  });
  return { codec: codec === "h264" ? "avc1.42E01E" : codec, chunks };
}
