import type { Memory } from "../api/client";

/** How far apart two perceptions of a recall by likeness are. */
export function likeness(m: Pick<Memory, "found">): number | undefined {
  return m.found?.find((entry) => entry.list === "likeness")?.value;
}

/** Nearest first. */
export function byLikeness(of: Memory[]): Memory[] {
  return [...of].sort((a, b) => (likeness(a) ?? Infinity) - (likeness(b) ?? Infinity));
}
