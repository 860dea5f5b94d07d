// What an episode was about, as its context says.

/** The robot of an episode, as its context names it. */
export function robotOf(s: { context?: unknown }): string | undefined {
  const robot = (s.context as { robot?: unknown } | undefined)?.robot;
  const name =
    typeof robot === "object" && robot ? ((robot as { id?: unknown }).id ?? (robot as { name?: unknown }).name) : robot;
  return typeof name === "string" ? name : undefined;
}

export function taskOf(s: { context?: unknown }): string | undefined {
  const task = (s.context as { task?: unknown } | undefined)?.task;
  const name = typeof task === "object" && task ? (task as { name?: unknown }).name : task;
  return typeof name === "string" ? name : undefined;
}

/** What an episode was about, in a few words of its context. */
export const about = (s: { context?: unknown; collection: string }): string =>
  taskOf(s) ?? source(s)?.recording ?? s.collection;

export const source = (s: { context?: unknown }) =>
  (s.context as { source?: { recording?: string; began?: string } } | undefined)?.source;

/** When an episode began: a recording at its own time, not at that of its import. */
export const began = (s: { context?: unknown; created_at: string }): string => source(s)?.began ?? s.created_at;
