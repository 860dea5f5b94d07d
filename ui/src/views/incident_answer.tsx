// What other attempts of the task say: which values failed, which worked, in words and bars.

import { useAsk, type Asked } from "../app/ask";
import { at, objectOf } from "../app/context";
import { lang } from "../app/text";
import { ErrorBox, Loading } from "../parts/states";
import { t } from "./incident.text";
import { doubt, holds, mostTried, named, ordered, sentence, together, verdict, type Advice, type Parameter, type Verbs } from "./incident_verdict";

const mostParameters = 3;
const mostValues = 10;

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

interface AnswerCardProps {
  advice: AskedAdvice;
  said: string;
  verbs: Verbs;
  /** What the failure attempted. */
  context: unknown;
}

export function AnswerCard({ advice, said, verbs: v, context }: AnswerCardProps) {
  const { answer: a, task, object } = advice;
  if (!a) return <section class="card incident-answer">{advice.error ? <ErrorBox error={advice.error} again={advice.again} /> : <Loading lines={4} />}</section>;
  const told = verdict(a, v, context);
  const parameters = ordered(a).slice(0, mostParameters);
  const doubtful = told && doubt(a);
  const values = told && together(a);
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
      {doubtful && <p class="incident-doubt">{t(doubtful)}</p>}
      {values && <p class="dim">{t("together", { values })}</p>}
      {parameters.map((p) => (
        <Bars key={p.path} of={p} verbs={v} mine={at(context, p.path)} suggested={a.suggestion?.parameters[p.path]} />
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

function Bars({ of, verbs: v, mine, suggested }: { of: Parameter; verbs: Verbs; mine: unknown; suggested: unknown }) {
  const values = mostTried(of.values, mostValues, (r) => holds(r, mine) || holds(r, suggested));
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
