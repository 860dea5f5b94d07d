// What is like a failure: earlier failures, and the successes to compare it with.

import { useMemo } from "preact/hooks";
import type { Answer, Memory } from "../api/client";
import { useAsk, type Asked } from "../app/ask";
import { equality, merged, objectOf, ofTask, taskOf } from "../app/context";
import { byLikeness, likeness } from "../parts/likeness";
import { outcome } from "../parts/memory_row";
import { comparable } from "../parts/perception_facts";

const compared = 100; // perceptions that are ordered by distance, and facts whose episodes are
const choices = 200; // episodes whose context is known
export const shownSimilar = 5;

export interface Near {
  /** Earlier failures of other episodes, nearest first. */
  failures?: Memory[];
  /** Successes of other episodes: of the same task first, then those with the most equal context, then the nearest. */
  successes?: Success[];
  /** How many were compared. */
  of: number;
  /** What the first success said. */
  said?: string;
  failed?: Asked<unknown>["error"];
}

export interface Success {
  m: Memory;
  /** The fact that tells it, where the perception does not. */
  fact?: Memory;
}

interface Failed {
  collection: string;
  session?: string;
  /** The perception that shows it. */
  deciding?: Memory;
  /** Its moment, in seconds. */
  at: number;
  failure?: Memory;
  /** What its episode and its fact know of it. */
  context: unknown;
}

/** What is like a perception, by how it went, what it was about, and its distance. Without a perception, by the words of the failure. */
export function useNear({ collection, session, deciding, at, failure, context }: Failed): Near {
  const like = deciding && comparable(deciding) ? deciding.memory_id : undefined;
  const common = { collection, min_confidence: 0, explain: true, as_you_type: true } as const;
  const alike = useAsk("recall", like === undefined ? undefined : { ...common, like: { memory_id: like }, n: compared }, { live: 0 });
  const byWords = useAsk("recall", like === undefined && failure ? { ...common, query: failure.content, context_filter: { "task.success": false }, n: shownSimilar + 1 } : undefined, { live: 0 });
  const ended = useAsk("sessions", like === undefined ? undefined : { collection, limit: choices }, { live: 0 });
  const same = useSameTask(collection, like === undefined ? undefined : context);
  const episodes = useMemo(() => [...new Set(same.facts?.map((m) => m.session_id))].filter((id) => id && id !== session).slice(0, compared), [same.facts, session]);
  const ofTheirs = useAsk("recall", like === undefined || episodes.length === 0 ? undefined : { ...common, like: { memory_id: like }, context_filter: { session_id: { $in: episodes } }, n: compared }, { live: 0 });

  // Nothing is shown of a part of the answers: the choice would change with each that comes.
  const waits = (a: Asked<unknown>) => !a.answer && !a.error;
  const found = alike.answer && !waits(ended) && !same.asking && !(episodes.length > 0 && waits(ofTheirs)) ? alike.answer.memories : undefined;
  const near = useMemo(() => {
    if (!found) return undefined;
    const known = { sessions: new Map(ended.answer?.sessions.map((s) => [s.session_id, s])), facts: new Map(same.facts?.map((m) => [m.session_id, m])) };
    const others = onlyNearest(byLikeness(found), session);
    const successes = onlyNearest(byLikeness(unique([...(ofTheirs.answer?.memories ?? []), ...found])), session);
    return {
      failures: others.filter((m) => went(m) === false && Date.parse(m.observed_at) / 1000 < at),
      successes: bySameness(successes.filter((m) => went(m) === true), context, known),
    };
  }, [found, ofTheirs.answer, same.facts, ended.answer, session, at]);

  const first = near?.successes[0];
  const told = first?.fact ?? (first && outcome(first.m) !== undefined ? first.m : undefined);
  const episode = useAsk("session_memories", first && !told && first.m.session_id ? { session_id: first.m.session_id, limit: choices } : undefined, { live: 0 });
  const said = (told ?? succeeding(episode.answer?.memories) ?? first?.m)?.content;
  const worded = byWords.answer?.memories.filter((m) => m.memory_id !== failure?.memory_id && (!session || m.session_id !== session)).slice(0, shownSimilar);
  return { failures: near?.failures ?? worded, successes: near?.successes, of: found?.length ?? 0, said, failed: alike.error ?? byWords.error };
}

/** The latest facts that tell a success of the same task with the same object; if there are none, of the same task. */
function useSameTask(collection: string, context: unknown): { facts?: Memory[]; asking: boolean } {
  const task = taskOf(context);
  const object = objectOf(context);
  const of = (filter: object) => ({ collection, type: "fact" as const, n: compared, min_confidence: 0, as_you_type: true, context_filter: { $and: [{ "task.success": true }, ofTask(task!), filter] } });
  const both = useAsk("recall", task && object ? of({ [object.path]: object.name }) : undefined, { live: 0 });
  const none = !object || both.answer?.memories.length === 0;
  const wide = useAsk("recall", task && none ? of({ "task.success": true }) : undefined, { live: 0 });
  const asked: Asked<Answer<"recall">> = none ? wide : both;
  return { facts: asked.answer?.memories, asking: !!task && !asked.answer && !asked.error };
}

/** How a perception went: as it says, else as its episode ended. */
function went(m: Memory): boolean | undefined {
  return outcome(m) ?? (m.episode_outcome === "success" ? true : m.episode_outcome === "failure" ? false : undefined);
}

/** What says itself how it went is an attempt of its own; of an episode, which says it for all, the nearest counts. */
function onlyNearest(of: Memory[], session: string | undefined): Memory[] {
  const seen = new Set<string>();
  return of.filter((m) => {
    if (outcome(m) !== undefined || !m.session_id) return true;
    if (m.session_id === session || seen.has(m.session_id)) return false;
    seen.add(m.session_id);
    return true;
  });
}

const unique = (of: Memory[]) => [...new Map(of.map((m) => [m.memory_id, m])).values()];

interface Known {
  sessions: Map<string, { context?: unknown }>;
  facts: Map<string | undefined, Memory>;
}

/** Successes of the same task first, then those with the same object, then by the share of the context that is equal. They come nearest first. */
function bySameness(successes: Memory[], context: unknown, { sessions, facts }: Known): Success[] {
  const [task, object] = [taskOf(context), objectOf(context)];
  const rated = successes.map((m) => {
    const fact = m.session_id ? facts.get(m.session_id) : undefined;
    const about = merged(merged(m.session_id ? sessions.get(m.session_id)?.context : {}, m.context), fact?.context);
    const same = [task !== undefined && taskOf(about) === task, object !== undefined && objectOf(about)?.name === object.name].map(Number);
    return { m, fact, weight: [...same, equality(context, about), -(likeness(m) ?? Infinity)] };
  });
  return rated.sort((a, b) => b.weight.reduce((sum, w, i) => sum || w - a.weight[i]!, 0));
}

/** The fact that tells the success of an episode. */
export const succeeding = (memories: Memory[] | undefined) => memories?.findLast((m) => m.type === "fact" && m.outcome === "success");
