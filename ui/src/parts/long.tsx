// Work that takes long: one call at a time, with a way to stop it.

import { useEffect, useRef, useState } from "preact/hooks";
import { call, Problem, type Answer, type Op, type Request } from "../api/client";
import { texts } from "../app/text";
import { Button } from "./controls";
import { ErrorBox } from "./states";

const t = texts({ stop: "Stop" }, { stop: "停止" });

export interface Long {
  /** What is running. */
  running?: string;
  error?: Problem;
  /** Runs an operation; undefined when it failed or was stopped. */
  run: <O extends Op>(what: string, op: O, request: Request<O>) => Promise<Answer<O> | undefined>;
  stop: () => void;
}

export function useLong(): Long {
  const [running, setRunning] = useState<Long["running"]>();
  const [error, setError] = useState<Problem>();
  const abort = useRef<AbortController | null>(null);
  const stop = () => abort.current?.abort();
  useEffect(() => stop, []);
  const run: Long["run"] = async (what, op, request) => {
    abort.current = new AbortController();
    setError(undefined);
    setRunning(what);
    try {
      return await call(op, request, abort.current.signal);
    } catch (e) {
      const problem = Problem.from(e);
      if (problem.kind !== "aborted") setError(problem);
      return undefined;
    } finally {
      setRunning(undefined);
    }
  };
  return { running, error, run, stop };
}

export function Running({ of }: { of: Long }) {
  if (of.error) return <ErrorBox error={of.error} />;
  if (!of.running) return null;
  return (
    <section class="card" aria-live="polite">
      <header>
        <h2>{of.running}</h2>
        <Button onClick={of.stop}>{t("stop")}</Button>
      </header>
      <progress aria-label={of.running} />
    </section>
  );
}
