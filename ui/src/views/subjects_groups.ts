// How the list of subjects is divided.

import type { Answer } from "../api/client";

export type Subject = NonNullable<Answer<"about">["subjects"]>[number];
export const kinds = ["robot", "object", "place", "part", "person", "other"] as const;
export type Kind = (typeof kinds)[number];

/** The subjects of each kind that has any, in the order of the kinds. */
export function byKind(subjects: readonly Subject[]): [Kind, Subject[]][] {
  return kinds.map((kind): [Kind, Subject[]] => [kind, subjects.filter((s) => kindOf(s.kind) === kind)]).filter(([, list]) => list.length > 0);
}

/** The kind of a subject; other for none, and for one that this page does not know. */
export function kindOf(kind: string | undefined): Kind {
  return kinds.find((k) => k === kind) ?? "other";
}

/** A place in words: its name, its map, or its coordinates. */
export function placeOf(seen: NonNullable<Answer<"about">["last_seen"]>): string {
  const at = seen.position?.map((x) => String(Math.round(x * 100) / 100)).join(", ");
  return [seen.place, seen.map_id, at && `(${at})`].filter(Boolean).join(" ");
}
