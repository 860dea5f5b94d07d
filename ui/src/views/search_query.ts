// The question that an address asks, and the same question for other callers.

import type { Request } from "../api/client";
import { outside } from "../app/base";

/** One condition on a path of the context. */
export interface Condition {
  path: string;
  op: "$eq" | "$ne" | "$gte" | "$lte" | "$exists";
  value: unknown;
}

/** A place to search around. */
export interface Place {
  field: string;
  target: number[];
  radius?: number;
  frame?: string;
  map?: string;
}

const plain = ["collection", "category", "type", "perception_type", "session_id"] as const;

export interface Question {
  query: string;
  fields: Partial<Record<(typeof plain)[number], string>>;
  tags: string[];
  outcome?: boolean;
  /** An age such as "24h", or a pair of dates. */
  after?: string;
  before?: string;
  confidence: number;
  conditions: Condition[];
  place?: Place;
  /** How many rows are asked for, if more than at first. */
  rows?: number;
}

export function read(query: URLSearchParams): Question {
  const fields: Question["fields"] = {};
  for (const name of plain) {
    const value = query.get(name);
    if (value) fields[name] = value;
  }
  const outcome = query.get("outcome");
  return {
    query: query.get("q") ?? "",
    fields,
    tags: query.getAll("tag"),
    outcome: outcome === "worked" ? true : outcome === "failed" ? false : undefined,
    after: query.get("after") ?? undefined,
    before: query.get("before") ?? undefined,
    confidence: Number(query.get("confidence") ?? 0) || 0,
    conditions: conditionsOf(parse(query.get("where"))),
    place: placeOf(parse(query.get("place"))),
    rows: rowsOf(Number(query.get("rows"))),
  };
}

const ops: readonly unknown[] = ["$eq", "$ne", "$gte", "$lte", "$exists"] satisfies Condition["op"][];

/** The conditions of an address. What is none is left out, since anybody can write an address. */
function conditionsOf(value: unknown): Condition[] {
  if (!Array.isArray(value)) return [];
  return (value as (Partial<Condition> | null)[]).filter(
    (c): c is Condition => typeof c?.path === "string" && ops.includes(c.op),
  );
}

function placeOf(value: unknown): Place | undefined {
  const p = value as Partial<Place> | null | undefined;
  const located =
    typeof p?.field === "string" && Array.isArray(p.target) && p.target.every((n) => typeof n === "number");
  return located ? (p as Place) : undefined;
}

const rowsOf = (n: number) => (Number.isFinite(n) && n >= 1 ? Math.floor(n) : undefined);

function parse(text: string | null): unknown {
  try {
    return text ? JSON.parse(text) : undefined;
  } catch {
    return undefined; // an address cut short in a chat
  }
}

/** The address of a question. */
export function address(q: Question): string {
  const out = new URLSearchParams();
  if (q.query) out.set("q", q.query);
  for (const [name, value] of Object.entries(q.fields)) if (value) out.set(name, value);
  for (const tag of q.tags) out.append("tag", tag);
  if (q.outcome !== undefined) out.set("outcome", q.outcome ? "worked" : "failed");
  if (q.after) out.set("after", q.after);
  if (q.before) out.set("before", q.before);
  if (q.confidence > 0) out.set("confidence", String(q.confidence));
  if (q.conditions.length > 0) out.set("where", JSON.stringify(q.conditions));
  if (q.place) out.set("place", JSON.stringify(q.place));
  if (q.rows) out.set("rows", String(q.rows));
  const text = out.toString();
  return text ? "/search?" + text : "/search";
}

const ages: Record<string, number> = { "24h": 24, "7d": 7 * 24, "30d": 30 * 24 }; // hours

/** The recall that answers a question; undefined when it narrows nothing. */
export function recall(q: Question, now: number): Request<"recall"> | undefined {
  const where: Record<string, unknown>[] = q.conditions.map((c) => ({
    [c.path]: c.op === "$eq" ? c.value : { [c.op]: c.value },
  }));
  if (q.outcome !== undefined) where.push({ "task.success": q.outcome });
  const given = Object.fromEntries(Object.entries(q.fields).filter(([, value]) => value)); // undefined would win over "*"
  const r: Request<"recall"> = { collection: "*", min_confidence: q.confidence, ...given };
  if (q.query.trim()) r.query = q.query;
  if (q.tags.length > 0) r.tags = q.tags;
  const [after, before] = [q.after, q.before].map((text) => text && instant(text, now));
  if (after) r.after = after;
  if (before) r.before = before;
  if (where.length === 1) r.context_filter = where[0]!;
  if (where.length > 1) r.context_filter = { $and: where };
  if (q.place) {
    const { field, target, radius, frame, map } = q.place;
    r.spatial_sort = {
      field,
      target,
      ...(radius ? { max_distance: radius } : {}),
      ...(frame ? { frame_id: frame } : {}),
      ...(map ? { map_id: map } : {}),
    };
    if (r.query) r.spatial_sort = { ...(r.spatial_sort as object), mode: "fused" } as typeof r.spatial_sort;
  }
  const narrows =
    r.query ||
    r.tags ||
    r.after ||
    r.before ||
    r.context_filter ||
    r.spatial_sort ||
    Object.keys(given).length > 0 ||
    q.confidence > 0;
  return narrows ? r : undefined;
}

/**
 * The instant of an age or a date; undefined for another text. An age counts from the last full minute, so that the
 * same question stays the same.
 */
function instant(text: string, now: number): string | undefined {
  const hours = ages[text];
  if (hours === undefined) return Number.isNaN(Date.parse(text)) ? undefined : new Date(text).toISOString();
  return new Date(Math.floor(now / 60_000) * 60_000 - hours * 3_600_000).toISOString();
}

export const asMCP = (r: object) =>
  JSON.stringify({ method: "tools/call", params: { name: "recall", arguments: r } }, null, 2);

export const asCurl = (r: object) =>
  `curl -sS ${location.origin}${outside("/api/recall")} -H 'Content-Type: application/json' -d '${JSON.stringify(r).replaceAll("'", "'\\''")}'`;

const goNames: Record<string, string> = {
  session_id: "SessionID",
  max_distance: "MaxDistance",
  frame_id: "FrameID",
  map_id: "MapID",
};

const goName = (name: string) =>
  goNames[name] ?? name.replace(/(^|_)(\w)/g, (_, __, letter: string) => letter.toUpperCase());

/** The call as Go. Pointers and times are spelt so that it compiles with the imports robotmem and time. */
export function asGo(r: Request<"recall">): string {
  const lines = Object.entries(r).map(([name, value]) => `\t${goName(name)}: ${goValue(name, value)},`);
  return `res, err := m.Recall(ctx, &robotmem.RecallRequest{\n${lines.join("\n")}\n})`;
}

function goValue(name: string, value: unknown): string {
  if (name === "context_filter") return "robotmem.Object" + goLiteral(value).replace(/^map\[string\]any/, "");
  if (name === "spatial_sort") {
    const parts = Object.entries(value as object).map(
      ([n, v]) =>
        `${goName(n)}: ${n === "target" ? "[]float64" + braces(v as number[]) : n === "max_distance" ? `new(float64(${v}))` : JSON.stringify(v)}`,
    );
    return `&robotmem.SpatialSort{${parts.join(", ")}}`;
  }
  if (name === "min_confidence") return `new(float64(${value}))`;
  if (name === "after" || name === "before")
    return `new(time.Unix(${Math.floor(Date.parse(value as string) / 1000)}, 0))`;
  if (Array.isArray(value)) return "[]string" + braces(value);
  return JSON.stringify(value);
}

const braces = (list: unknown[]) => `{${list.map((v) => JSON.stringify(v)).join(", ")}}`;

function goLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[]any{${value.map(goLiteral).join(", ")}}`;
  if (typeof value === "object" && value !== null) {
    return `map[string]any{${Object.entries(value)
      .map(([k, v]) => `${JSON.stringify(k)}: ${goLiteral(v)}`)
      .join(", ")}}`;
  }
  return value === null ? "nil" : JSON.stringify(value);
}
