// An episode whole: all its memories in the order they were lived, page by page.

import { useEffect, useState } from "preact/hooks";
import { call, Problem, type Memory } from "../api/client";
import { useFollow } from "./ask";

const page = 500;
const most = 20_000; // memories drawn at once

export interface Episode {
  memories: Memory[];
  total: number;
  done: boolean;
  error?: Problem;
}

/** Reads an episode, and reads on when it grows. */
export function useEpisode(id: string): Episode {
  const [state, set] = useState<Episode>({ memories: [], total: 0, done: false });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    const read = async () => {
      let memories: Memory[] = [];
      let cursor: string | undefined;
      do {
        const part = await call("session_memories", { session_id: id, limit: page, ...(cursor ? { cursor } : {}) }, abort.signal);
        memories = [...memories, ...part.memories];
        cursor = part.next;
        // While a page that is there is read anew, it stays as it was.
        if (round === 0 || !cursor || memories.length >= most) set({ memories, total: part.total, done: !cursor || memories.length >= most });
      } while (cursor && memories.length < most);
    };
    read().catch((e) => abort.signal.aborted || set((s) => ({ ...s, error: Problem.from(e) })));
    return () => abort.abort();
  }, [id, round]);
  useFollow(2000, () => setRound((n) => n + 1));
  return state;
}
