// Asking the node from a view: loading, error and answer as one value that
// follows the question and the changes of the file.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { call, Problem, type Answer, type Op, type Request } from "../api/client";
import { change, online } from "./live";

export interface Asked<T> {
  /** The last answer; it stays while the next is on its way. */
  answer?: T;
  error?: Problem;
  /** A question is on its way. */
  asking: boolean;
  again: () => void;
}

export interface AskOptions {
  /** Ask again when the file changes, at most every so many milliseconds. 0 never. */
  live?: number;
  /** Wait so many milliseconds for the question to settle. */
  settle?: number;
}

/** Asks an operation. No request, no question. The answer to an older question never replaces that to a newer. */
export function useAsk<O extends Op>(op: O, request: Request<O> | undefined, options: AskOptions = {}): Asked<Answer<O>> {
  const key = request === undefined ? "" : JSON.stringify(request);
  const [state, set] = useState<{ key?: string; answer?: Answer<O>; error?: Problem; asking: boolean }>({ asking: key !== "" });
  const turn = useSignal(0);
  const again = useCallback(() => void turn.value++, []);
  const round = turn.value;

  useEffect(() => {
    if (!key) {
      set({ asking: false });
      return;
    }
    const abort = new AbortController();
    set((s) => ({ ...s, asking: true }));
    const timer = setTimeout(() => {
      call(op, JSON.parse(key) as Request<O>, abort.signal).then(
        (answer) => abort.signal.aborted || set({ key, answer, asking: false }),
        (e) => abort.signal.aborted || set((s) => ({ key, answer: s.key === key ? s.answer : undefined, error: Problem.from(e), asking: false })),
      );
    }, options.settle ?? 0);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [op, key, round]);

  // What could not be reached is asked again once the node answers.
  const back = online.value && state.error?.kind === "unreachable";
  useEffect(() => {
    if (back) again();
  }, [back]);
  useFollow(options.live ?? 1000, again);
  return { answer: state.answer, error: state.error, asking: state.asking, again };
}

/** Calls f after the file has changed, at most every `every` milliseconds, while the page is seen. */
export function useFollow(every: number, f: () => void): void {
  const now = change.value;
  const first = useRef(now);
  const last = useRef(0);
  useEffect(() => {
    if (first.current === 0) first.current = now; // the stream has just begun: what is shown is as new
    if (every === 0 || now === first.current) return;
    const wait = Math.max(0, last.current + every - Date.now());
    const timer = setTimeout(() => {
      const run = () => {
        first.current = now;
        last.current = Date.now();
        f();
      };
      if (!document.hidden) run();
      else document.addEventListener("visibilitychange", run, { once: true });
    }, wait);
    return () => clearTimeout(timer);
  }, [now]);
}
