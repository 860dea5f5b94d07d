// Coordinates in a few words.

import { number } from "../app/text";

/** Coordinates that a memory carries, short. */
export function placeOf(value: unknown): string {
  const spatial = value as Record<string, unknown> | undefined;
  if (!spatial || typeof spatial !== "object") return "";
  for (const [name, value] of Object.entries(spatial)) {
    const list = Array.isArray(value) ? value : undefined;
    if (list && (list.length === 2 || list.length === 3) && list.every((n) => typeof n === "number")) {
      return `${name} ${list.map((n) => number(n as number, 2)).join(", ")}`;
    }
  }
  return "";
}

/** Coordinates of a context, short. */
export function placeInFrame(context: Record<string, unknown>): string {
  const spatial = context.spatial as Record<string, unknown> | undefined;
  for (const v of Object.values(spatial ?? {})) {
    if (Array.isArray(v) && v.length >= 2 && v.length <= 3 && v.every((n) => typeof n === "number")) {
      return `${v.map((n) => number(n as number, 2)).join(", ")}${typeof spatial!.frame_id === "string" ? ` (${spatial!.frame_id})` : ""}`;
    }
  }
  return "";
}
