// One incident: the moment of a failure with every stream that covers it, earlier
// failures like it, the nearest success, and what other attempts advise.

import { useSignal, type Signal } from "@preact/signals";
import { useMemo, useRef, useState } from "preact/hooks";
import type { Answer, Memory } from "../api/client";
import { go, route, withQuery } from "../app/address";
import { useAsk } from "../app/ask";
import { attempted, differences, lived, merged, taskOf } from "../app/context";
import { useEpisode } from "../app/episode";
import { useMoment } from "../app/moment";
import { ago, day, moment, number } from "../app/text";
import { useTitle } from "../app/title";
import { who } from "../app/who";
import { Button, copy, Select } from "../parts/controls";
import { drawable } from "../parts/drawable";
import { Icon } from "../parts/icons";
import { likeness } from "../parts/likeness";
import { MemoryRow, Outcome, outcome, Thumb, When } from "../parts/memory_row";
import { comparable } from "../parts/perception_facts";
import { placeInFrame } from "../parts/place";
import type { Stretch } from "../parts/perception_samples";
import { Await, ErrorBox, Loading } from "../parts/states";
import { AnswerCard, useAdvice } from "./incident_answer";
import { Overlay } from "./incident_overlay";
import { verbs, verdict, type Verdict } from "./incident_verdict";
import { StreamList } from "./streams_list";
import { around, arranged, failing, gap, rank, shotAt, streams, type Stream } from "./streams";
import { t } from "./incident.text";
import { Write } from "./incident_write";
import { shownSimilar, succeeding, useNear, type Near, type Success } from "./incident_near";
import { Timeline } from "./session_timeline";

const choices = 200; // memories of another episode that are read
const mostDifferences = 14;

type Refer = { session_id: string } | { memory_id: number };

export function IncidentView({ kind, id }: { kind: string; id: string }) {
  return kind === "s" ? <Episode id={id} /> : <OfMemory id={Number(id)} />;
}

function OfMemory({ id }: { id: number }) {
  const memory = useAsk("get", { memory_id: id }, { live: 2000 });
  return (
    <Await of={memory} lines={8}>
      {(m) => (m.session_id ? <Episode id={m.session_id} failure={id} /> : <Incident refer={{ memory_id: id }} collection={m.collection} memories={[m]} failure={m} done total={1} />)}
    </Await>
  );
}

function Episode({ id, failure }: { id: string; failure?: number }) {
  const session = useAsk("session", { session_id: id }, { live: 2000 });
  const episode = useEpisode(id);
  if (episode.memories.length === 0 && episode.error) return <ErrorBox error={episode.error} />;
  const told = failure === undefined ? failing(episode.memories) : episode.memories.find((m) => m.memory_id === failure);
  return (
    <Await of={session} lines={8}>
      {(s) => (!episode.done && !told ? <Loading lines={8} /> : <Incident refer={failure === undefined ? { session_id: id } : { memory_id: failure }} session={s} collection={s.collection} memories={episode.memories} failure={told} done={episode.done} total={episode.total} />)}
    </Await>
  );
}

interface IncidentProps {
  /** What names it. */
  refer: Refer;
  session?: Answer<"session">;
  collection: string;
  memories: Memory[];
  failure?: Memory;
  done: boolean;
  total: number;
}

function Incident({ refer, session, collection, memories, failure, done, total }: IncidentProps) {
  const { cursor, view } = useMoment();
  const at = Date.parse(failure?.observed_at ?? memories.at(-1)?.observed_at ?? session?.ended_at ?? session?.created_at ?? "") / 1000;
  const all = useMemo(() => streams(memories), [memories]);
  const order = useMemo(() => arranged(all, at), [all, at]);
  // It opens at the failure, unless the address names another moment.
  const opened = useRef(false);
  if (!opened.current && Number.isFinite(at)) {
    opened.current = true;
    if (cursor.peek() === undefined) {
      cursor.value = at;
      if (!view.peek()) view.value = around(order, memories, at);
    }
  }
  const first = order[0] && shotAt(order[0], at);
  const deciding = first && gap(first, at) === 0 && rank(first.m) < 9 ? first.m : undefined;
  const said = failure?.content ?? session?.summary?.text ?? t("incident");
  const context = useMemo(() => attempted(merged(session?.context, deciding?.context), memories, failure), [session, deciding, memories, failure]);
  const task = taskOf(context);
  const near = useNear({ collection, session: session?.session_id, deciding, at, failure, context });
  const advice = useAdvice(collection, task, said, context);
  const words = verbs(said, near.said);
  const told = verdict(advice.answer, words, context);
  useTitle(`${said}, ${moment(new Date(at * 1000))}`);
  return (
    <article class="incident stack">
      <Head refer={refer} session={session} failure={failure} said={said} task={task} collection={collection} at={at} told={told} memories={memories} />
      {!done && <p class="dim">{t("reading", { n: number(memories.length) })}</p>}
      {done && total > memories.length && <p class="notice card">{t("truncated", { n: number(memories.length), all: number(total) })}</p>}
      <div class="incident-columns">
        <div class="stack incident-side">
          <AnswerCard advice={advice} said={said} verbs={words} context={context} />
          <Similar near={near} deciding={deciding} />
        </div>
        <div class="stack">
          <Streams order={order} collection={collection} cursor={cursor} view={view} at={at} memories={memories} />
          <NearestSuccess near={near} deciding={deciding} cursor={cursor} view={view} session={session} context={context} />
        </div>
      </div>
    </article>
  );
}

interface HeadProps {
  refer: Refer;
  session?: Answer<"session">;
  failure?: Memory;
  said: string;
  task?: string;
  collection: string;
  at: number;
  told?: Verdict;
  memories: Memory[];
}

function Head({ refer, session, failure, said, task, collection, at, told, memories }: HeadProps) {
  const [writing, write] = useState<"lesson" | "resolve">();
  const context = (failure?.context ?? session?.context ?? {}) as Record<string, unknown>;
  const about = { ...session?.context, ...failure?.context } as Record<string, unknown>;
  const robot = failure?.provenance?.robot ?? (about.robot as { id?: unknown } | undefined)?.id;
  const place = placeInFrame(context);
  const listed = useAsk("incidents", refer, { live: 2000 });
  const known = listed.answer?.incidents[0];
  const settled = known?.resolved;
  const parts = [told?.bad, told?.good].filter(Boolean).join("; ");
  const lesson = [task ? `${task}: ${said}` : said, parts].filter(Boolean).join(". ");
  const learnt: Record<string, unknown> = {
    ...(task ? { task: { name: task } } : {}),
    ...(context.spatial ? { spatial: context.spatial } : {}),
    ...(told?.value !== undefined ? { lesson: { [told.path.replace(/^params\./, "")]: told.value } } : {}),
    ...(writing === "resolve" ? { resolves: refer } : { from: refer }),
  };
  return (
    <header class="incident-head">
      <h1 dir="auto">{said}</h1>
      <p class="row-facts">
        <Outcome of={failure ? outcome(failure) : undefined} />
        {settled && (
          <a class="mark good" href={`/memory/${settled.memory_id}`} title={settled.lesson}>
            <Icon name="check" size={13} />
            {t("resolved")}
          </a>
        )}
        {known && known.repeats > 1 && <span class="mark bad">{t("repeats", { n: number(known.repeats), day: day(known.first_at) })}</span>}
        {task && <span>{task}</span>}
        {typeof robot === "string" && <span>{robot}</span>}
        <a href={`/search?collection=${encodeURIComponent(collection)}`}>{collection}</a>
        {Number.isFinite(at) && (
          <time dateTime={new Date(at * 1000).toISOString()}>
            {moment(new Date(at * 1000))} <span class="dim">({ago(new Date(at * 1000))})</span>
          </time>
        )}
        {place && <span>{t("place", { place })}</span>}
        {failure && <a href={`/memory/${failure.memory_id}`}>[{failure.memory_id}]</a>}
        {session && <a href={`/sessions/${encodeURIComponent(session.session_id)}`}>{t("episode")}</a>}
      </p>
      {!failure && memories.length > 0 && <p class="dim">{t("notFailed")}</p>}
      <p class="incident-do">
        <Button icon="copy" onClick={() => void copy(location.href)}>
          {t("copyLink")}
        </Button>
        {session && (
          <a class="button" href={`/api/sessions/${encodeURIComponent(session.session_id)}/mcap`} download={`episode-${session.session_id}.mcap`}>
            <Icon name="download" />
            {t("download")}
          </a>
        )}
        {who.value.read_only ? (
          <span class="dim">{t("readOnly")}</span>
        ) : (
          <>
            <Button icon="edit" onClick={() => write("lesson")}>
              {t("lesson")}
            </Button>
            <Button icon="check" onClick={() => write("resolve")}>
              {t("resolve")}
            </Button>
          </>
        )}
      </p>
      {writing && <Write key={writing} resolve={writing === "resolve"} collection={collection} text={lesson} context={learnt} onClose={() => write(undefined)} onSaved={listed.again} />}
    </header>
  );
}

function Similar({ near, deciding }: { near: Near; deciding?: Memory }) {
  const by = deciding && comparable(deciding);
  return (
    <section class="card incident-alike">
      <header>
        <h2>{t("similar")}</h2>
      </header>
      <p class="dim">{by ? t("compared", { what: deciding.content, id: deciding.memory_id, n: number(near.of) }) : t("comparedWords")}</p>
      {near.failed && !near.failures ? (
        <ErrorBox error={near.failed} />
      ) : !near.failures ? (
        <Loading lines={3} />
      ) : near.failures.length === 0 ? (
        <p class="dim">{t("similarNone")}</p>
      ) : by ? (
        <ol class="incident-similar">
          {near.failures.slice(0, shownSimilar).map((m) => (
            <li key={m.memory_id} data-session={m.session_id}>
              <a class="row-title" dir="auto" href={m.session_id && outcome(m) === undefined ? `/incident/s/${encodeURIComponent(m.session_id)}` : `/incident/m/${m.memory_id}`}>
                {m.content}
              </a>
              <p class="row-facts">
                <Outcome of={false} />
                <span class="number">{t("distance", { d: number(likeness(m) ?? 0, 3) })}</span>
                <When time={m.observed_at} />
                <span class="id">[{m.memory_id}]</span>
              </p>
              {drawable(m) && <Thumb m={m} />}
            </li>
          ))}
        </ol>
      ) : (
        near.failures.map((m) => <MemoryRow key={m.memory_id} m={m} />)
      )}
    </section>
  );
}

interface StreamsProps {
  order: Stream[];
  collection: string;
  cursor: Signal<number | undefined>;
  view: Signal<Stretch | undefined>;
  at: number;
  memories: Memory[];
}

function Streams({ order, collection, cursor, view, at, memories }: StreamsProps) {
  return (
    <section class="card">
      <header>
        <h2>{t("streams")}</h2>
        <Button icon="back" onClick={() => ((cursor.value = at), (view.value = around(order, memories, at)))}>
          {t("toFailure")}
        </Button>
      </header>
      <p class="dim">{t("streamsHint")}</p>
      {memories.length > 0 && <Timeline memories={memories} cursor={cursor} view={view} mark={at} />}
      {order.length === 0 && <p class="dim">{t("noStreams")}</p>}
      <StreamList order={order} collection={collection} cursor={cursor} view={view} at={at} />
    </section>
  );
}

interface SuccessProps {
  near: Near;
  deciding?: Memory;
  cursor: Signal<number | undefined>;
  view: Signal<Stretch | undefined>;
  session?: Answer<"session">;
  /** What the failure attempted. */
  context: unknown;
}

function NearestSuccess({ near, deciding, cursor, view, session, context }: SuccessProps) {
  const asked = route.value.query.get("with");
  const chosen = near.successes?.find(({ m }) => String(m.memory_id) === asked) ?? near.successes?.[0];
  if (!deciding || !comparable(deciding)) return null;
  return (
    <section class="card">
      <header>
        <h2>{t("success")}</h2>
        {chosen?.m.session_id && session && <a href={`/sessions/compare?a=${encodeURIComponent(session.session_id)}&b=${encodeURIComponent(chosen.m.session_id)}`}>{t("wholeCompare")}</a>}
      </header>
      {near.failed && !near.successes ? (
        <ErrorBox error={near.failed} />
      ) : !near.successes ? (
        <Loading lines={5} />
      ) : !chosen ? (
        <p class="dim">{t("successNone")}</p>
      ) : (
        <>
          <p class="dim">{t("successHint", { what: deciding.source || deciding.content })}</p>
          <Select
            label={t("choose")}
            value={String(chosen.m.memory_id)}
            options={near.successes.slice(0, 20).map(({ m, fact }) => [String(m.memory_id), `${(fact ?? m).content}, ${moment(m.observed_at)}, ${t("distance", { d: number(likeness(m) ?? 0, 3) })}`] as const)}
            onChange={(v) => go(withQuery({ with: v }))}
          />
          <Overlay key={chosen.m.memory_id} failure={deciding} success={chosen.m} cursor={cursor} view={view} />
          <Differs key={`d${chosen.m.memory_id}`} failed={context} success={chosen} />
        </>
      )}
    </section>
  );
}

/** Context values that are not the same in the failure and in the success. */
function Differs({ failed, success: { m: success, fact: known } }: { failed: unknown; success: Success }) {
  const other = useAsk("session", success.session_id ? { session_id: success.session_id } : undefined, { live: 0 });
  const episode = useAsk("session_memories", success.session_id ? { session_id: success.session_id, limit: choices } : undefined, { live: 0 });
  const all = useSignal(false);
  if (success.session_id && !(other.answer && episode.answer)) return other.error ? <ErrorBox error={other.error} again={other.again} /> : <Loading lines={3} />;
  const fact = known ?? (outcome(success) === undefined ? succeeding(episode.answer?.memories) : undefined);
  const mine = lived(failed, []);
  const theirs = lived(attempted(merged(other.answer?.context, success.context), episode.answer?.memories ?? [], fact), []);
  const rows = differences(mine, theirs).filter(([path]) => !path.startsWith("resolves") && path !== "task.success");
  return (
    <>
      <h3>{t("differs")}</h3>
      {rows.length === 0 ? (
        <p class="dim">{t("differsNone")}</p>
      ) : (
        <div class="table" role="region" aria-label={t("differs")} tabIndex={0}>
          <table class="incident-differs">
            <thead>
              <tr>
                <th scope="col">{t("value")}</th>
                <th scope="col">{t("this")}</th>
                <th scope="col">{t("other")}</th>
              </tr>
            </thead>
            <tbody>
              {(all.value ? rows : rows.slice(0, mostDifferences)).map(([path, x, y]) => (
                <tr key={path}>
                  <th scope="row">{path}</th>
                  <td class="bad">{x || "–"}</td>
                  <td class="good">{y || "–"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {rows.length > mostDifferences && !all.value && <Button onClick={() => (all.value = true)}>{`${number(rows.length)}…`}</Button>}
    </>
  );
}
