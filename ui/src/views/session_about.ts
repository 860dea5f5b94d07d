// What an episode was about, as its context and its facts say.

import type { Memory } from "../api/client";
import { taskOf } from "../app/context";

/** The robot of an episode, as its context names it. */
export function robotOf(s: { context?: unknown }): string | undefined {
  const robot = (s.context as { robot?: unknown } | undefined)?.robot;
  const name =
    typeof robot === "object" && robot ? ((robot as { id?: unknown }).id ?? (robot as { name?: unknown }).name) : robot;
  return typeof name === "string" ? name : undefined;
}

/** What an episode was about: its task or its recording, else the task that its facts name, else its collection. */
export function about(s: { context?: unknown; collection: string }, told?: Memory): string {
  return taskOf(s.context) ?? source(s)?.recording ?? taskOf(told?.context) ?? s.collection;
}

/** Of the facts of episodes, newest first, the one that tells how each went: a failure before what is newer. */
export function tellers(facts: Memory[]): Map<string, Memory> {
  const out = new Map<string, Memory>();
  const weight = (m: Memory) => (m.outcome === "failure" ? 2 : m.outcome === undefined ? 0 : 1);
  for (const m of facts) {
    const known = m.session_id ? out.get(m.session_id) : undefined;
    if (m.session_id && (!known || weight(m) > weight(known))) out.set(m.session_id, m);
  }
  return out;
}

export const source = (s: { context?: unknown }) =>
  (s.context as { source?: { recording?: string; began?: string } } | undefined)?.source;

/** When an episode began: a recording at its own time, not at that of its import. */
export const began = (s: { context?: unknown; created_at: string }): string => source(s)?.began ?? s.created_at;
