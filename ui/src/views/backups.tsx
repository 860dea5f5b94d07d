// The backups of the memory: the last one, a new one, and the commands that restore them.

import { useState } from "preact/hooks";
import { call, Problem, type Answer } from "../api/client";
import { useAsk } from "../app/ask";
import { ago, bytes, duration, moment, number } from "../app/text";
import { who } from "../app/who";
import { Button, copy, Dialog, say } from "../parts/controls";
import { Await, ErrorBox } from "../parts/states";
import { t } from "./backups.text";

const shown = 5; // newest backups

export function Backups({ state }: { state?: Answer<"stats">["backup"] }) {
  const asked = useAsk("backups", who.value.read_only ? undefined : {}, { live: 0 });
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [all, setAll] = useState(false);
  const [error, setError] = useState<Problem>();
  if (who.value.read_only || asked.error?.kind === "not_found") return null; // a node that makes none
  const dir = asked.answer?.dir ?? "";
  async function make() {
    setAsking(false);
    setBusy(true);
    setError(undefined);
    try {
      const made = await call("make_backup", {});
      say(t("made", { name: made.backups[0]?.name ?? "" }));
    } catch (e) {
      setError(Problem.from(e));
    }
    setBusy(false);
    asked.again();
  }
  return (
    <section class="card backups">
      <header>
        <h2>{t("title")}</h2>
        <Button disabled={busy || !asked.answer} onClick={() => setAsking(true)}>
          {t("make")}
        </Button>
      </header>
      {busy && (
        <p aria-live="polite">
          {t("making")} <progress aria-label={t("making")} />
        </p>
      )}
      {error && <ErrorBox error={error} />}
      <Await of={asked}>
        {(a) => {
          const last = a.backups.find((b) => b.created_at && !b.problem);
          return (
            <>
              <dl class="facts">
                <dt>{t("last")}</dt>
                <dd>{last ? <time title={moment(last.created_at!)}>{ago(last.created_at!)}</time> : t("never")}</dd>
                <dt>{t("folder")}</dt>
                <dd class="mono">{a.dir}</dd>
                <dt>{t("schedule")}</dt>
                <dd>{state ? t("every", { time: duration(state.every_seconds) }) : t("noSchedule")}</dd>
                {state?.failure && <dt>{t("failed")}</dt>}
                {state?.failure && (
                  <dd class="mark bad">
                    {state.last_failure && ago(state.last_failure)}: {state.failure}
                  </dd>
                )}
              </dl>
              {state?.own_disk && <p class="mark warn">{t("ownDisk")}</p>}
              {a.backups.length === 0 ? (
                <p class="dim">{t("none", { dir: a.dir })}</p>
              ) : (
                <>
                  <ul class="backup-list">
                    {a.backups.slice(0, all ? undefined : shown).map((b) => (
                      <li key={b.name}>
                        <span class="mono">{b.name}</span>
                        <span class="dim">
                          {b.created_at && <time title={moment(b.created_at)}>{ago(b.created_at)}</time>} {bytes(b.bytes)}
                        </span>
                        {b.problem ? (
                          <span class="mark bad">{b.problem}</span>
                        ) : (
                          <span class="backup-restore">
                            <code>{b.restore}</code>
                            <Button kind="quiet" icon="copy" label={t("copy")} onClick={() => void copy(b.restore)} />
                          </span>
                        )}
                      </li>
                    ))}
                  </ul>
                  {!all && a.backups.length > shown && <Button onClick={() => setAll(true)}>{t("more", { n: number(a.backups.length) })}</Button>}
                  <p class="dim">{t("restoreHint")}</p>
                </>
              )}
            </>
          );
        }}
      </Await>
      {asking && (
        <Dialog title={t("makeTitle")} onClose={() => setAsking(false)}>
          <p>{t("makeText", { dir })}</p>
          <footer>
            <Button onClick={() => setAsking(false)}>{t("cancel")}</Button>
            <Button kind="main" onClick={() => void make()}>
              {t("make")}
            </Button>
          </footer>
        </Dialog>
      )}
    </section>
  );
}
