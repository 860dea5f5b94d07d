// Bytes and texts as they are shown.

/** Offset, bytes and what of them is ASCII, a line for every `each` bytes. */
export function lines(data: Uint8Array, from: number, each: number): string {
  const out: string[] = [];
  for (let i = 0; i < data.length; i += each) {
    const part = [...data.subarray(i, i + each)];
    const hex = part.map((b, k) => b.toString(16).padStart(2, "0") + (k % 8 === 7 ? " " : "")).join(" ");
    const ascii = part.map((b) => (b >= 0x20 && b < 0x7f ? String.fromCharCode(b) : "·")).join("");
    out.push(`${(from + i).toString(16).padStart(8, "0")}  ${hex.padEnd(each * 3 + each / 8 - 1)} ${ascii}`);
  }
  return out.join("\n");
}

/** The object or list that a text holds, undefined for any other. */
export function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
