// What an address of the map shows, and the questions that follow from it.

import type { Answer, Request } from "../api/client";
import type { PlaneCell, PlanePoint } from "../plots/plane_draw";
import type { Box } from "../plots/plane_view";
import { stepAbove } from "../plots/steps";
import type { Condition, Place, Question } from "./search_query";

/** Coordinates that can be compared: a field in one frame and map. */
export type Space = Answer<"places">["fields"][number];

export type Axes = "xy" | "xz" | "yz";
export type HeatKind = "" | "count" | "failures";

/** Which coordinates are drawn right, up, and not at all. */
export const order: Record<Axes, readonly [number, number, number]> = { xy: [0, 1, 2], xz: [0, 2, 1], yz: [1, 2, 0] };
export const letters = ["x", "y", "z"] as const;

export interface MapState {
  space?: Pick<Space, "field" | "frame_id" | "map_id" | "dims">;
  axes: Axes;
  collection?: string;
  type?: "fact" | "perception";
  outcome?: boolean;
  heat: HeatKind;
  /** Whether the map beneath the points is hidden. */
  bare?: boolean;
  /** The place that is picked, with all its coordinates. */
  at?: number[];
  radius?: number;
  /** The part that is shown: its middle, and units from left to right. */
  view?: [number, number, number];
}

/** A number of an address; NaN for an empty text, which Number takes for 0. */
const coordinate = (text: string) => (text.trim() === "" ? NaN : Number(text));

const numbers = (text: string | null) => {
  const list = text?.split(",").map(coordinate) ?? [];
  return (list.length === 2 || list.length === 3) && list.every(Number.isFinite) ? list : undefined;
};

const stand = (text: string | null): [number, number, number] | undefined => {
  const [u, v, span] = text?.split(",").map(coordinate) ?? [];
  return Number.isFinite(u) && Number.isFinite(v) && span! > 0 && Number.isFinite(span) ? [u!, v!, span!] : undefined;
};

const oneOf = <T extends string>(text: string | null, values: readonly T[]): T | undefined =>
  values.find((v) => v === text);

export function read(query: URLSearchParams): MapState {
  const field = query.get("field");
  const outcome = query.get("outcome");
  const radius = Number(query.get("radius"));
  return {
    space: field
      ? {
          field,
          frame_id: query.get("frame") ?? undefined,
          map_id: query.get("map") ?? undefined,
          dims: query.get("dims") === "3" ? 3 : 2,
        }
      : undefined,
    axes: oneOf(query.get("axes"), ["xy", "xz", "yz"]) ?? "xy",
    collection: query.get("collection") ?? undefined,
    type: oneOf(query.get("type"), ["fact", "perception"]),
    outcome: outcome === "worked" ? true : outcome === "failed" ? false : undefined,
    heat: oneOf(query.get("heat"), ["count", "failures"]) ?? "",
    ...(query.get("plan") === "off" ? { bare: true } : {}),
    at: numbers(query.get("at")),
    view: stand(query.get("view")),
    radius: Number.isFinite(radius) && radius > 0 ? radius : undefined,
  };
}

export function address(s: MapState): string {
  const out = new URLSearchParams();
  const set = (name: string, value?: string) => value && out.set(name, value);
  set("field", s.space?.field);
  set("frame", s.space?.frame_id);
  set("map", s.space?.map_id);
  set("dims", s.space && String(s.space.dims));
  if (s.axes !== "xy") set("axes", s.axes);
  set("collection", s.collection);
  set("type", s.type);
  if (s.outcome !== undefined) set("outcome", s.outcome ? "worked" : "failed");
  set("heat", s.heat);
  if (s.bare) set("plan", "off");
  set("at", s.at?.join(","));
  set("view", s.view?.map((n) => Number(n.toPrecision(7))).join(","));
  if (s.radius) set("radius", String(s.radius));
  const text = out.toString();
  return text ? "/map?" + text : "/map";
}

/** Coordinates of one field, frame and map are one space, whether or not all of them have a height. */
export function spacesOf(fields: Space[]): Space[] {
  const by = new Map<string, Space>();
  for (const f of fields) {
    const known = by.get(key(f));
    by.set(key(f), known ? both(known, f) : f);
  }
  return [...by.values()].sort((a, b) => b.memories - a.memories);
}

function both(a: Space, b: Space): Space {
  const [flat, high] = a.dims < b.dims ? [a, b] : [b, a];
  const fold = (of: "min" | "max") => high[of].map((n, i) => (i < flat[of].length ? Math[of](n, flat[of][i]!) : n));
  return { ...high, memories: a.memories + b.memories, min: fold("min"), max: fold("max") };
}

/** The space that is asked for; the fullest if there is no such. */
export function choose(spaces: Space[], asked: MapState["space"]): Space | undefined {
  return spaces.find((f) => asked && key(f) === key(asked)) ?? spaces[0];
}

export const key = (f: Required<MapState>["space"]) => JSON.stringify([f.field, f.frame_id ?? "", f.map_id ?? ""]);

/** Coordinates that name no frame or map are asked for by the absence of the name, in every object around them. */
function unnamed(space: Space, spaces: Space[]): Condition[] {
  const steps = space.field.split(".").slice(0, -1);
  const around = ["", ...steps.map((_, i) => steps.slice(0, i + 1).join(".") + ".")];
  const named = (name: "frame_id" | "map_id") => !space[name] && spaces.some((f) => f.field === space.field && f[name]);
  return (["frame_id", "map_id"] as const)
    .filter(named)
    .flatMap((name) => around.map((prefix) => ({ path: prefix + name, op: "$exists" as const, value: false })));
}

/** The search that shows the same memories, without a place. */
export function question(s: MapState, space: Space, spaces: Space[]): Question {
  return {
    query: "",
    fields: { ...(s.collection ? { collection: s.collection } : {}), ...(s.type ? { type: s.type } : {}) },
    tags: [],
    outcome: s.outcome,
    confidence: 0,
    conditions: unnamed(space, spaces),
  };
}

export function place(space: Space, at: number[], radius?: number): Place {
  return {
    field: space.field,
    target: at,
    ...(radius ? { radius } : {}),
    ...(space.frame_id ? { frame: space.frame_id } : {}),
    ...(space.map_id ? { map: space.map_id } : {}),
  };
}

const heatCells = 40; // along the longer side

export function points(s: MapState, space: Space, spaces: Space[], part?: Box): Request<"places"> {
  const where: Record<string, unknown>[] = unnamed(space, spaces).map((c) => ({ [c.path]: { $exists: false } }));
  if (s.outcome !== undefined) where.push({ "task.success": s.outcome });
  const r: Request<"places"> = {
    collection: s.collection,
    field: space.field,
    frame_id: space.frame_id,
    map_id: space.map_id,
    type: s.type,
  };
  if (where.length > 0) r.context_filter = JSON.stringify({ $and: where });
  if (s.heat) r.grid = heatCells;
  return part ? { ...r, min: part.min, max: part.max } : r;
}

/** A radius that suits a space: a tenth of its longer side. */
export function usual(space: Space): number {
  const side = Math.max(...space.max.map((n, i) => n - space.min[i]!));
  return side > 0 ? stepAbove(side / 20) : 1;
}

/** What a plane shows of a space. */
export function extent(space: Space, axes: Axes): Box {
  const [u, v] = order[axes];
  return { min: [space.min[u]!, space.min[v]!], max: [space.max[u]!, space.max[v]!] };
}

/** The points that a plane can show: what has no height is seen from above only. */
export function onPlane(a: Answer<"places">, axes: Axes): PlanePoint[] {
  const [u, v, w] = order[axes];
  return a.points
    .filter((p) => axes === "xy" || p.z !== undefined)
    .map((p) => {
      const xyz = [p.x, p.y, p.z];
      return { id: p.memory_id, u: xyz[u]!, v: xyz[v]!, depth: xyz[w], good: p.success, text: p.summary };
    });
}

/** Cells counted from points, where the node's cells are of another plane. */
export function count(points: PlanePoint[], box: Box): { side: number; cells: PlaneCell[] } {
  const side = Math.max(box.max[0] - box.min[0], box.max[1] - box.min[1]) / heatCells;
  const cells = new Map<string, PlaneCell>();
  if (side > 0) {
    for (const p of points) {
      const [i, j] = [Math.floor((p.u - box.min[0]) / side), Math.floor((p.v - box.min[1]) / side)];
      const c = cells.get(`${i} ${j}`) ?? {
        u: box.min[0] + i * side,
        v: box.min[1] + j * side,
        memories: 0,
        successes: 0,
        failures: 0,
      };
      c.memories++;
      if (p.good === true) c.successes++;
      if (p.good === false) c.failures++;
      cells.set(`${i} ${j}`, c);
    }
  }
  return { side, cells: [...cells.values()] };
}

/** A bit more than what is shown, so that a small move shows no edge. */
export function wider(box: Box): Box {
  const [w, h] = [(box.max[0] - box.min[0]) / 4, (box.max[1] - box.min[1]) / 4];
  return { min: [box.min[0] - w, box.min[1] - h], max: [box.max[0] + w, box.max[1] + h] };
}

/** The hidden coordinate of the point nearest on the plane. */
export function depth(points: PlanePoint[], u: number, v: number): number | undefined {
  let best: PlanePoint | undefined;
  let least = Infinity;
  for (const p of points) {
    const d = (p.u - u) ** 2 + (p.v - v) ** 2;
    if (d < least) [least, best] = [d, p];
  }
  return best?.depth;
}
