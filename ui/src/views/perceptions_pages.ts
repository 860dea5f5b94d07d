// Pages of perceptions, one after the other, and what is new before the first.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { call, Problem, type Memory, type Request } from "../api/client";
import { useFollow } from "../app/ask";

export interface PerceptionFilter {
  perception_type?: NonNullable<Request<"list">["perception_type"]>;
  collection?: string;
  outcome?: "worked" | "failed";
  session?: string;
}

export const filtered = (f: PerceptionFilter) => Object.values(f).some((v) => v !== undefined);

interface Page {
  items: Memory[];
  /** What asks for the next page; undefined is the end. */
  next?: string;
}

const size = 48;
const outcomePage = 100; // the most that a recall answers

/** Asks for a page. Outcomes are known to recall alone, which has no cursor: it goes on by time. */
async function page(f: PerceptionFilter, cursor: string | undefined, signal: AbortSignal): Promise<Page> {
  const { perception_type, collection = "*", session: session_id } = f;
  if (!f.outcome) {
    const res = await call(
      "list",
      { type: "perception", perception_type, collection, session_id, limit: size, cursor },
      signal,
    );
    return { items: res.memories, next: res.next };
  }
  // An episode is answered in the order it was lived, anything else newest first.
  const res = await call(
    "recall",
    {
      type: "perception",
      perception_type,
      collection,
      session_id,
      context_filter: { "task.success": f.outcome === "worked" },
      min_confidence: 0,
      n: outcomePage,
      ...(session_id ? { after: cursor } : { before: cursor }),
    },
    signal,
  );
  const last = res.memories.at(-1)?.observed_at;
  if (res.memories.length < outcomePage || last === undefined) return { items: res.memories };
  // Others may share the last one's instant: before is exclusive, so it begins just after.
  const instant = session_id ? last : new Date(new Date(last).getTime() + 1).toISOString();
  return { items: res.memories, next: instant === cursor ? last : instant };
}

interface Pages {
  items?: Memory[];
  error?: Problem;
  asking: boolean;
  more: boolean;
  ask: () => void;
}

/** The pages of one filter: hand it another key for another filter. */
export function usePages(f: PerceptionFilter): Pages {
  const [state, set] = useState<{ items?: Memory[]; next?: string; error?: Problem; asking: boolean; more: boolean }>({
    asking: true,
    more: true,
  });
  const now = useRef(state);
  now.current = state;
  const abort = useRef(new AbortController());
  const busy = useRef(false);

  const ask = useCallback(() => {
    if (busy.current || !now.current.more) return;
    busy.current = true;
    set((s) => ({ ...s, asking: true, error: undefined }));
    const { signal } = abort.current;
    page(f, now.current.next, signal)
      .then(
        (got) =>
          signal.aborted ||
          set((s) => {
            const fresh = unknown(s.items, got.items);
            // A page that brings nothing new would be asked for without end.
            const more = got.next !== undefined && got.next !== s.next;
            return { items: [...(s.items ?? []), ...fresh], next: got.next, asking: false, more };
          }),
        (e) => signal.aborted || set((s) => ({ ...s, asking: false, error: Problem.from(e) })),
      )
      .finally(() => (busy.current = false));
  }, []);

  useEffect(() => {
    abort.current = new AbortController();
    busy.current = false;
    ask();
    return () => abort.current.abort();
  }, []);

  useFollow(1500, () => {
    if (!now.current.items || f.session) return;
    page(f, undefined, abort.current.signal).then(
      (got) => set((s) => ({ ...s, items: [...unknown(s.items, got.items), ...(s.items ?? [])] })),
      () => undefined, // the next change asks again
    );
  });
  return { items: state.items, error: state.error, asking: state.asking, more: state.more, ask };
}

/** Those of a page that are not among the items yet. */
function unknown(items: Memory[] | undefined, got: Memory[]): Memory[] {
  const known = new Set(items?.map((m) => m.memory_id));
  return got.filter((m) => !known.has(m.memory_id));
}

export const kinds = ["visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial"] as const;

export function filterOf(query: URLSearchParams): PerceptionFilter {
  const type = query.get("perception_type");
  const said = query.get("outcome");
  return {
    perception_type: kinds.find((k) => k === type),
    collection: query.get("collection") || undefined,
    outcome: said === "worked" || said === "failed" ? said : undefined,
    session: query.get("session") || undefined,
  };
}
