// The lines of a list of incidents: their titles and their addresses.

import type { Answer } from "../api/client";

export type Line = Answer<"incidents">["lines"][number];

/** A text for many that differ in their numbers. A number within a name, such as arm-7, stays. */
export const unnumbered = (text: string) => text.replace(/(?<![\p{L}\p{N}_.])(?<!\p{L}-)[−+-]?\d+(?:[.,]\d+)*/gu, "…");

/** The list of the incidents of a robot and task. What has no name cannot be asked for. */
export function listOf(l: Line): string {
  const query = new URLSearchParams({
    state: "open",
    collection: l.collection,
    ...(l.robot ? { robot: l.robot } : {}),
    ...(l.task ? { task: l.task } : {}),
  });
  return `/incidents?${query}`;
}
