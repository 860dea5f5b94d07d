// The context of an attempt: its values by path, and how it differs from that of another.

import type { Memory } from "../api/client";

type Tree = Record<string, unknown>;

const object = (v: unknown): v is Tree => typeof v === "object" && v !== null && !Array.isArray(v);

/** The value at a path of a context. */
export function at(context: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((v, key) => (object(v) ? v[key] : undefined), context);
}

/** The second context over the first, section by section. */
export function merged(a: unknown, b: unknown): Tree {
  const out: Tree = { ...(object(a) ? a : {}) };
  for (const [key, value] of Object.entries(object(b) ? b : {})) out[key] = object(value) && object(out[key]) ? merged(out[key], value) : value;
  return out;
}

/** The values of a context as texts, by path. A list is one value. */
export function values(context: unknown, path = "", into = new Map<string, string>()): Map<string, string> {
  if (object(context)) for (const key of Object.keys(context)) values(context[key], path ? `${path}.${key}` : key, into);
  else if (path && context !== undefined) into.set(path, typeof context === "string" ? context : JSON.stringify(context));
  return into;
}

const mostValues = 4; // of one path of an episode

/** The values of an episode: those of its own context, and what its facts say, in the order of time. */
export function lived(context: unknown, memories: Memory[]): Map<string, string> {
  const said = new Map([...values(context)].map(([path, v]) => [path, new Set([v])] as const));
  const told = new Set<string>();
  for (const m of memories) {
    if (m.type !== "fact" || m.status === "invalidated") continue;
    for (const [path, v] of values(m.context)) {
      // What a fact says goes before what was planned.
      if (told.has(path)) said.get(path)!.add(v);
      else said.set(path, new Set([v]));
      told.add(path);
    }
  }
  return new Map([...said].map(([path, of]) => [path, [...of].slice(0, mostValues).join(", ") + (of.size > mostValues ? ", …" : "")]));
}

/** Paths of what an attempt chose. They are what may have been the cause. */
const chosen = (path: string) => path.startsWith("params.");

/** The paths at which two contexts differ, with both values; those of parameters first. */
export function differences(a: Map<string, string>, b: Map<string, string>): [path: string, a: string, b: string][] {
  const paths = [...new Set([...a.keys(), ...b.keys()])].filter((path) => a.get(path) !== b.get(path));
  paths.sort((x, y) => Number(chosen(y)) - Number(chosen(x)) || (x < y ? -1 : 1));
  return paths.map((path) => [path, a.get(path) ?? "", b.get(path) ?? ""]);
}

const result = /^(?:task\.)?(?:success|succeeded|outcome|result|status|completed|score)$/;

/** The share of the values of a context that another has as well, apart from parameters, places and results. */
export function equality(a: unknown, b: unknown): number {
  const other = values(b);
  const own = [...values(a)].filter(([path]) => !chosen(path) && !path.startsWith("spatial.") && !result.test(path));
  return own.length === 0 ? 0 : own.filter(([path, v]) => other.get(path) === v).length / own.length;
}

/** The sections of a context that tell what was attempted. */
const attempting = ["params", "task", "object"];

/**
 * The context of an attempt: of its episode, of what its facts said of it before, and of the memory that tells the
 * outcome. A fact with an outcome is an attempt of its own.
 */
export function attempted(episode: unknown, memories: Memory[], told?: Memory): Tree {
  const said = memories.filter(
    (m) =>
      m.type === "fact" && (m.status ?? "active") === "active" && m.outcome !== "success" && m.outcome !== "failure",
  );
  const before = said.filter((m) => !told || Date.parse(m.observed_at) <= Date.parse(told.observed_at));
  const plan = (m: Memory) => Object.fromEntries(Object.entries(m.context ?? {}).filter(([key]) => attempting.includes(key)));
  return merged(before.reduce((all, m) => merged(all, plan(m)), merged({}, episode)), told?.context);
}

/** Paths of the name of a task, as the node reads them. */
const taskPaths = ["task.name", "task", "task.type", "task.goal"];

/** The name of the task that a context tells. */
export function taskOf(context: unknown): string | undefined {
  return taskPaths.map((path) => at(context, path)).find((name): name is string => typeof name === "string" && !!name);
}

/** A filter for the memories of a task. */
export const ofTask = (task: string) => ({ $or: taskPaths.map((path) => ({ [path]: task })) });

const objectPaths = ["object", "object.name", "object.type", "object.class", "task.object", "task.object.name", "task.object.type"];

/** What an attempt was about, and the path of its context that tells it. */
export function objectOf(context: unknown): { path: string; name: string } | undefined {
  for (const path of objectPaths) {
    const name = at(context, path);
    if (typeof name === "string" && name) return { path, name };
  }
  return undefined;
}

/**
 * Filters for other attempts of what a context tells: those of the same task with the same object, if it names an
 * object, and those of the same task. What failed with one object may work with another.
 */
export function similar(context: unknown): { narrow?: object[]; wide: object[] } {
  const task = taskOf(context);
  const object = objectOf(context);
  const wide = task ? [ofTask(task)] : [];
  return { narrow: object && [...wide, { [object.path]: object.name }], wide };
}
