// What other attempts of the task say: which values failed, which worked, in words and bars.

import type { Answer, Memory } from "../api/client";
import { useAsk, type Asked } from "../app/ask";
import { at, objectOf } from "../app/context";
import { lang, significant } from "../app/text";
import { ErrorBox, Loading } from "../parts/states";
import { t } from "./incident.text";

type Advice = Answer<"advise">;
type Parameter = Advice["parameters"][number];
type Record = Parameter["values"][number];

const mostParameters = 3;
const mostValues = 8;

/** What other attempts advise, and of which attempts it is. */
export interface AskedAdvice extends Asked<Advice> {
  task?: string;
  object?: string;
}

/** Asks about the attempts of the task with the same object; if these are too few, about those of the task. */
export function useAdvice(collection: string | undefined, task: string | undefined, said: string, context: unknown): AskedAdvice {
  const request = collection ? { collection, ...(task ? { task } : { query: said }) } : undefined;
  const object = task ? objectOf(context) : undefined;
  const narrow = useAsk("advise", request && object ? { ...request, context_filter: { [object.path]: object.name } } : undefined, { live: 5000 });
  const few = !!object && narrow.answer?.evidence === "none";
  const wide = useAsk("advise", !object || few ? request : undefined, { live: 5000 });
  return object && !few ? { ...narrow, task, object: object.name } : { ...wide, task };
}

export interface Verdict {
  path: string;
  /** The value to try, in words. */
  good?: string;
  bad?: string;
  /** The value to try. */
  value?: unknown;
}

/** The words of a failure and of a success, where their texts say more than failed and worked. */
export interface Verbs {
  failed: string;
  worked: string;
}

const failures = /\b(slipped|slips|dropped|jammed|stuck|collided|missed|fell|broke|tipped|overshot|stalled|crashed|spilled|lost)\b/i;
const successes = /\b(held|holds|grasped|placed|inserted|reached|opened|arrived|docked|delivered|lifted|passed)\b/i;
const past: { [word: string]: string } = { slips: "slipped", holds: "held" };

export function verbs(said: string, success?: string): Verbs {
  const usual = { failed: t("failedWord"), worked: t("heldWord") };
  if (lang.value === "zh") return usual;
  const word = (text: string | undefined, of: RegExp) => of.exec(text ?? "")?.[1]?.toLowerCase();
  const bad = word(said, failures);
  const good = word(success, successes);
  return { failed: bad ? (past[bad] ?? bad) : usual.failed, worked: good ? (past[good] ?? good) : usual.worked };
}

const named = (p: Parameter) => p.path.replace(/^params\./, "");

function valueText(p: Parameter, r: Record): string {
  const unit = p.unit ? ` ${p.unit}` : "";
  if (r.value !== undefined) return typeof r.value === "number" ? significant(r.value) + unit : String(r.value);
  if (r.from === undefined || r.to === undefined) return "–";
  return r.from === r.to ? significant(r.from) + unit : `${significant(r.from)} … ${significant(r.to)}${unit}`;
}

const round = (n: number) => Math.round(n * 10) / 10;

function sentence(p: Parameter, r: Record, v: Verbs, good = r.rate >= 0.5): string {
  const worked = r.successes ?? 0;
  return t("of", { value: valueText(p, r), verb: good ? v.worked : v.failed, n: round(good ? worked : r.attempts - worked), all: round(r.attempts) });
}

/** Parameters with more than one value, those that separate the outcomes first. */
function ordered(a: Advice): Parameter[] {
  const place = (p: Parameter) => {
    const i = a.differs.findIndex((d) => d.path === p.path);
    return i < 0 ? a.differs.length : i;
  };
  return a.parameters.filter((p) => p.values.length > 1).sort((x, y) => place(x) - place(y));
}

/**
 * The suggestion of advise in words, with what came of the values beside it, and the value of this
 * failure, or the worst where this one did not fail by it. Nothing but advise recommends a value.
 */
export function verdict(a: Advice | undefined, v: Verbs, context?: unknown): Verdict | undefined {
  const p = a && ordered(a)[0];
  if (!p) return undefined;
  const worst = [...p.values].sort((x, y) => x.high - y.high || x.rate - y.rate)[0]!;
  const mine = p.values.find((r) => r.rate < 0.5 && holds(r, at(context, p.path))) ?? worst;
  const value = a.suggestion?.parameters[p.path];
  return { path: p.path, good: suggested(p, value, v), bad: mine.rate < 0.5 ? sentence(p, mine, v) : undefined, value };
}

function suggested(p: Parameter, value: unknown, v: Verbs): string | undefined {
  if (value === undefined) return undefined;
  const record = p.values.find((r) => holds(r, value));
  if (record?.value !== undefined) return sentence(p, record, v, true);
  const words = typeof value === "number" ? significant(value) : String(value);
  return record ? t("try", { value: words, evidence: sentence(p, record, v, true) }) : t("tryAlone", { value: words });
}

interface AnswerCardProps {
  advice: AskedAdvice;
  said: string;
  verbs: Verbs;
  failed?: Memory;
}

export function AnswerCard({ advice, said, verbs: v, failed }: AnswerCardProps) {
  const { answer: a, task, object } = advice;
  if (!a) return <section class="card incident-answer">{advice.error ? <ErrorBox error={advice.error} again={advice.again} /> : <Loading lines={4} />}</section>;
  const told = verdict(a, v, failed?.context);
  const parameters = ordered(a).slice(0, mostParameters);
  return (
    <section class="card incident-answer" aria-labelledby="incident-answer">
      <header>
        <h2 id="incident-answer">{t("answer")}</h2>
      </header>
      {advice.error && <ErrorBox error={advice.error} again={advice.again} />}
      {told ? (
        <p class="incident-verdict">
          {told.bad && <b class="bad">{told.bad}</b>}
          {told.bad && told.good && <span class="dim">; </span>}
          {told.good && <b class="good">{told.good}</b>}
        </p>
      ) : (
        <>
          <p>{t("noAnswer")}</p>
          <p class="dim">{t("noAnswerHint")}</p>
        </>
      )}
      {parameters.map((p) => (
        <Bars key={p.path} of={p} verbs={v} mine={at(failed?.context, p.path)} suggested={a.suggestion?.parameters[p.path]} />
      ))}
      {a.differs
        .filter((d) => !parameters.some((p) => p.path === d.path))
        .map((d) => (
          <p key={d.path} class="dim">
            {lang.value === "zh" ? t("separates", { path: d.path }) : d.text}
          </p>
        ))}
      <p class="dim">{t("asked", { n: a.attempts, what: !task ? t("like", { said }) : object ? t("taskWith", { task, object }) : t("task", { task }) })}</p>
    </section>
  );
}

const numberOf = (v: unknown) => (typeof v === "number" ? v : parseFloat(String(v)));

function holds(r: Record, value: unknown): boolean {
  if (value === undefined) return false;
  if (r.value !== undefined && typeof r.value !== "number") return r.value === value;
  const n = numberOf(value);
  return r.value !== undefined ? Math.abs((r.value as number) - n) < 1e-9 : r.from !== undefined && r.to !== undefined && n >= r.from && n <= r.to;
}

function Bars({ of, verbs: v, mine, suggested }: { of: Parameter; verbs: Verbs; mine: unknown; suggested: unknown }) {
  const values = of.values.length <= mostValues ? of.values : [...of.values].sort((a, b) => b.attempts - a.attempts).slice(0, mostValues);
  return (
    <figure class="incident-bars" title={t("barHint")}>
      <figcaption>{named(of)}</figcaption>
      <ul>
        {values.map((r, i) => {
          const worked = (100 * (r.successes ?? 0)) / Math.max(r.attempts, 1e-9);
          const text = sentence(of, r, v);
          return (
            <li key={i}>
              <span class="number">{text}</span>
              <span class="incident-bar" role="img" aria-label={text}>
                <i class="good" style={{ width: `${worked}%` }} />
                <i class="bad" style={{ width: `${100 - worked}%` }} />
              </span>
              {holds(r, mine) && <span class="chip">{t("now")}</span>}
              {holds(r, suggested) && <span class="mark good">{t("suggested")}</span>}
            </li>
          );
        })}
      </ul>
    </figure>
  );
}
