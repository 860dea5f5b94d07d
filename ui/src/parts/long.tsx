// Work that takes long: one call at a time, with its progress and a way to stop it.

import { useEffect, useRef, useState } from "preact/hooks";
import { callLong, Problem, type Answer, type Op, type Progress, type Request } from "../api/client";
import { bytes, number, texts } from "../app/text";
import { Button } from "./controls";
import { ErrorBox } from "./states";

const t = texts({ stop: "Stop" }, { stop: "停止" });

export interface Long {
  running?: { what: string; progress?: Progress };
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
    setRunning({ what });
    try {
      return await callLong(op, request, (progress) => setRunning({ what, progress }), abort.current.signal);
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
  const { what, progress } = of.running;
  const known = !!progress && progress.total > 0;
  const show = (n: number) => (progress?.unit === "bytes" ? bytes(n) : number(n));
  return (
    <section class="card" aria-live="polite">
      <header>
        <h2>
          {what}
          {progress?.stage ? `: ${progress.stage}` : ""}
        </h2>
        <Button onClick={of.stop}>{t("stop")}</Button>
      </header>
      <progress aria-label={what} max={known ? progress.total : undefined} value={known ? progress.done : undefined} />
      {progress && (
        <p class="dim number">
          {show(progress.done)}
          {known && ` / ${show(progress.total)}`} {progress.unit !== "bytes" && progress.unit}
        </p>
      )}
    </section>
  );
}
