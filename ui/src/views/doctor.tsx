// Whether the node is well: every check with its remedy, its work in the
// background, what recorders dropped, its tokens, what a budget would take away.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { call, Problem, type Answer, type Request } from "../api/client";
import { useAsk } from "../app/ask";
import { bytes, number, percent } from "../app/text";
import { who } from "../app/who";
import { Button, Dialog, say } from "../parts/controls";
import { Icon } from "../parts/icons";
import { Running, useLong } from "../parts/long";
import { Await, Empty, ErrorBox } from "../parts/states";
import { Backups } from "./backups";
import { detailOf, nameOf, remedyOf } from "./doctor_names";
import { t } from "./doctor.text";
import { Tokens } from "./tokens";

export function Doctor() {
  const checkup = useAsk("doctor", {}, { live: 0 });
  const stats = useAsk("stats", {});
  const [other, setOther] = useState<Answer<"doctor">>(); // of a deep check or a repair
  const [asking, setAsking] = useState(false);
  const long = useLong();
  const busy = !!long.running;

  async function repair() {
    setAsking(false);
    const res = await long.run(t("repair"), "repair", {});
    if (!res) return;
    setOther(res.doctor);
    say(res.repaired.length > 0 ? t("repaired", { what: res.repaired.join(", ") }) : t("nothingRepaired"));
  }
  function again() {
    setOther(undefined);
    checkup.again();
  }
  return (
    <>
      <div class="head">
        <h1>{t("title")}</h1>
        <Button onClick={again} disabled={checkup.asking || busy}>
          {t("again")}
        </Button>
        <Button onClick={async () => setOther((await long.run(t("deep"), "doctor", { deep: true })) ?? other)} disabled={busy}>
          {t("deep")}
        </Button>
        {!who.value.read_only && (
          <Button kind="danger" onClick={() => setAsking(true)} disabled={busy}>
            {t("repair")}
          </Button>
        )}
      </div>
      <div class="stack">
        <Running of={long} />
        <Await of={other ? { ...checkup, answer: other, error: undefined } : checkup} lines={10}>
          {(d) => <Checks d={d} />}
        </Await>
        <Await of={stats} lines={6}>
          {(s) => (
            <>
              <div class="halves">
                <Work s={s} again={stats.again} />
                <Space s={s} />
              </div>
              <Recorders s={s} />
            </>
          )}
        </Await>
        <Backups state={stats.answer?.backup} />
        <Tokens />
        <Retention off={stats.answer?.workers.some((w) => w.name === "retention" && w.status === "off")} />
      </div>
      {asking && (
        <Dialog title={t("repairTitle")} onClose={() => setAsking(false)}>
          <p>{t("repairText")}</p>
          <footer>
            <Button onClick={() => setAsking(false)}>{t("cancel")}</Button>
            <Button kind="danger" onClick={repair}>
              {t("repair")}
            </Button>
          </footer>
        </Dialog>
      )}
    </>
  );
}

const marks = { ok: ["good", "check"], warn: ["warn", "warn"], fail: ["bad", "cross"], skipped: ["", "info"] } as const;
const states = { ok: "good", warn: "warning", fail: "fault", skipped: "skipped" } as const;
const verdicts = { good: "well", warn: "warned", bad: "ill" } as const;

function Checks({ d }: { d: Answer<"doctor"> }) {
  const worst = d.status === "ok" || d.status === "skipped" ? "good" : d.healthy ? "warn" : "bad";
  return (
    <section class="card">
      <p class={`verdict mark ${worst}`}>
        <Icon name={worst === "good" ? "check" : "warn"} size={24} />
        {t(verdicts[worst])}
      </p>
      <ul class="checks" aria-label={t("checks")}>
        {d.checks.map((c) => {
          const [tone, icon] = marks[c.status as keyof typeof marks] ?? marks.warn;
          return (
            <li key={c.name}>
              <span class={`mark ${tone}`}>
                <Icon name={icon} size={17} />
                <span class="hidden">{t(states[c.status as keyof typeof states] ?? "warning")}</span>
              </span>
              <b>{nameOf(c.name)}</b>
              <span>
                {detailOf(c)}
                {c.remedy && (
                  <span class="remedy">
                    <b>{t("remedy")}</b> {remedyOf(c)}
                  </span>
                )}
              </span>
            </li>
          );
        })}
      </ul>
      {d.lost && d.lost.length > 0 && (
        <>
          <h2>{t("lost")}</h2>
          <ul>
            {d.lost.map((l) => (
              <li key={l.memory_id}>
                <a href={`/memory/${l.memory_id}`}>[{l.memory_id}]</a> {l.reason}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

const workerStates = { idle: "idle", working: "working", waiting: "waiting", paused: "paused", off: "off" } as const;

type Fact = [name: string, text: string];

function Facts({ title, facts, children }: { title: string; facts: Fact[]; children?: ComponentChildren }) {
  return (
    <section class="card">
      <header>
        <h2>{title}</h2>
        {children}
      </header>
      <dl class="facts number">
        {facts.map(([name, text]) => [<dt key={name}>{name}</dt>, <dd key={name + "-text"}>{text}</dd>])}
      </dl>
    </section>
  );
}

/** The background work, and a pause of it for the time when the robot needs the machine. */
function Work({ s, again }: { s: Answer<"stats">; again: () => void }) {
  const [asking, setAsking] = useState(false);
  const [error, setError] = useState<Problem>();
  const paused = s.workers.some((w) => w.status === "paused");
  async function change(op: "pause_workers" | "resume_workers") {
    setAsking(false);
    setError(undefined);
    try {
      await call(op, {});
      say(t(op === "pause_workers" ? "pausedNow" : "resumed"));
    } catch (e) {
      setError(Problem.from(e));
    }
    again();
  }
  const facts = s.workers.map((w): Fact => [nameOf(w.name), `${t(workerStates[w.status as keyof typeof workerStates] ?? "idle")}: ${detailOf(w)}`]);
  facts.push([t("zero"), t("zeroText", { zero: number(s.zero_hits), all: number(s.recalls), share: percent(s.recalls ? s.zero_hits / s.recalls : 0) })]);
  return (
    <Facts title={t("work")} facts={facts}>
      {!who.value.read_only && <Button onClick={() => (paused ? void change("resume_workers") : setAsking(true))}>{t(paused ? "resume" : "pause")}</Button>}
      {error && <ErrorBox error={error} />}
      {asking && (
        <Dialog title={t("pauseTitle")} onClose={() => setAsking(false)}>
          <p>{t("pauseText")}</p>
          <footer>
            <Button onClick={() => setAsking(false)}>{t("cancel")}</Button>
            <Button kind="main" onClick={() => void change("pause_workers")}>
              {t("pause")}
            </Button>
          </footer>
        </Dialog>
      )}
    </Facts>
  );
}

function Space({ s }: { s: Answer<"stats"> }) {
  const facts: Fact[] = [
    [t("file"), bytes(s.db_bytes)],
    [t("payloads"), bytes(s.stored_bytes)],
    [t("payloadsWhole"), bytes(s.payload_bytes)],
    [t("free"), bytes(s.disk_free_bytes)],
  ];
  if (s.evicted > 0) facts.push([t("evicted"), t("evictedText", { n: number(s.evicted), bytes: bytes(s.evicted_bytes) })]);
  return <Facts title={t("space")} facts={facts} />;
}

function Recorders({ s }: { s: Answer<"stats"> }) {
  return (
    <section class="card">
      <header>
        <h2>{t("recorders")}</h2>
      </header>
      {!s.streams?.length ? (
        <p class="dim">{t("noRecorders")}</p>
      ) : (
        <div class="table" role="region" aria-label={t("recorders")} tabIndex={0}>
          <table>
            <thead>
              <tr>
                {(["source", "received", "stored", "dropped", "missed"] as const).map((name) => (
                  <th key={name} scope="col">
                    {t(name)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {s.streams.map((x) => (
                <tr key={x.source}>
                  <th scope="row">{x.source}</th>
                  <td>{number(x.received)}</td>
                  <td>{number(x.stored)}</td>
                  <td class={x.dropped > 0 ? "mark bad" : ""}>{number(x.dropped)}</td>
                  <td class={x.missed > 0 ? "mark warn" : ""}>{number(x.missed)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

const gib = 1 << 30;

/** What a budget would take away: that of the node, or one that is tried out. */
function Retention({ off }: { off?: boolean }) {
  const [plan, setPlan] = useState<Answer<"retain"> & { limits: Request<"retain"> }>();
  const [asking, setAsking] = useState(false);
  const [most, setMost] = useState("");
  const long = useLong();
  const bound = Number(most) > 0 ? Math.round(Number(most) * gib) : undefined;
  async function preview() {
    const limits: Request<"retain"> = bound ? { budgets: [{ max_bytes: bound }] } : {};
    const found = await long.run(t("preview"), "retain", limits);
    setPlan(found && { ...found, limits });
  }
  async function apply() {
    setAsking(false);
    const done = await long.run(t("retention"), "retain", { ...plan!.limits, apply: true });
    if (!done) return;
    setPlan(undefined);
    say(t("applied", { n: number(done.count), bytes: bytes(done.freed_bytes) }));
  }
  return (
    <section class="card">
      <header>
        <h2>{t("retention")}</h2>
        <label class="field budget">
          <span class="field-label">{t("budget")}</span>
          <input type="number" min="0" step="any" inputMode="decimal" value={most} onInput={(e) => setMost(e.currentTarget.value)} />
        </label>
        <Button onClick={() => void preview()} disabled={(off && !bound) || who.value.read_only || !!long.running}>
          {t("preview")}
        </Button>
      </header>
      {off && <p class="dim">{t("noBudget")}</p>}
      <Running of={long} />
      {plan?.count === 0 && <Empty icon="check" title={t("nothingGoes")} />}
      {plan && plan.count > 0 && (
        <div class="stack">
          <p>{t("wouldGo", { n: number(plan.count), bytes: bytes(plan.freed_bytes) })}</p>
          <ul class="evictions">
            {plan.evictions.slice(0, 20).map((e) => (
              <li key={e.memory_id}>
                <a href={`/memory/${e.memory_id}`}>[{e.memory_id}]</a> {e.perception_type}, {bytes(e.bytes)}, {e.value}: {e.reason}
              </li>
            ))}
          </ul>
          <div>
            <Button kind="danger" icon="trash" onClick={() => setAsking(true)}>
              {t("apply")}
            </Button>
          </div>
        </div>
      )}
      {asking && plan && (
        <Dialog title={t("applyTitle", { n: number(plan.count) })} onClose={() => setAsking(false)}>
          <p>{t("applyText", { bytes: bytes(plan.freed_bytes) })}</p>
          <footer>
            <Button onClick={() => setAsking(false)}>{t("cancel")}</Button>
            <Button kind="danger" onClick={apply}>
              {t("apply")}
            </Button>
          </footer>
        </Dialog>
      )}
    </section>
  );
}
