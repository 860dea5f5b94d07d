// One episode: what happened when, under one cursor; how it went; what it
// recalled.

import type { Answer, Memory } from "../api/client";
import { useAsk } from "../app/ask";
import { useEpisode, type Episode } from "../app/episode";
import { useMoment } from "../app/moment";
import { summary } from "../app/summary";
import { moment, number } from "../app/text";
import { useTitle } from "../app/title";
import { Icon } from "../parts/icons";
import { kindIcon, Status } from "../parts/memory_row";
import { Score } from "../parts/score";
import { Await, Empty, ErrorBox, Loading } from "../parts/states";
import { Tree } from "../parts/tree";
import { Tries } from "./session_attempt";
import { AtCursor } from "./session_cursor";
import { Timeline } from "./session_timeline";
import { about, began, robotOf, tellers } from "./session_about";
import { failing } from "./streams";
import { t } from "./session.text";

export { Compare } from "./session_compare";

export function SessionView({ id }: { id: string }) {
  const session = useAsk("session", { session_id: id }, { live: 2000 });
  const episode = useEpisode(id);
  return (
    <Await of={session} lines={8}>
      {(s) => (
        <div class="stack">
          <SessionHead s={s} told={tellers(episode.memories.filter((m) => m.type === "fact").reverse()).get(id)} />
          <Tries of={s.attempt} />
          <Lived episode={episode} />
          <div class="memory-columns">
            <Recalled s={s} />
            <div class="stack">
              <About s={s} />
              <Streams s={s} />
            </div>
          </div>
        </div>
      )}
    </Await>
  );
}

function SessionHead({ s, told }: { s: Answer<"session">; told?: Memory }) {
  const failed = s.outcome_score !== undefined ? s.outcome_score < 0.5 : (s.summary?.failures ?? 0) > 0;
  const name = [robotOf(s), about(s, told)].filter(Boolean).join(": ");
  useTitle(`${name}, ${moment(began(s))}`);
  return (
    <header>
      <h1 dir="auto">{name}</h1>
      <p class="row-facts session-facts">
        <Score of={s.outcome_score} />
        <a href={`/search?collection=${encodeURIComponent(s.collection)}`}>{s.collection}</a>
        <span>{t("memories", { n: number(s.memory_count) })}</span>
        {s.status === "active" && <span class="chip">{t("active")}</span>}
        <time dateTime={began(s)}>{moment(began(s))}</time>
        {failed && <a href={`/incident/s/${encodeURIComponent(s.session_id)}`}>{t("incident")}</a>}
        <a href={`/search?session_id=${encodeURIComponent(s.session_id)}`}>{t("searchIn")}</a>
        <a href={`/sessions/compare?a=${encodeURIComponent(s.session_id)}`}>{t("compare")}</a>
        <span class="id">{s.session_id}</span>
      </p>
      {s.summary?.text && <p>{summary(s.summary.text)}</p>}
    </header>
  );
}

function Lived({ episode }: { episode: Episode }) {
  const { cursor, view } = useMoment();
  // It opens at its failure, unless the address names another moment.
  if (episode.done && cursor.peek() === undefined) {
    const failure = failing(episode.memories);
    if (failure) cursor.value = Date.parse(failure.observed_at) / 1000;
  }
  if (episode.error && episode.memories.length === 0) return <ErrorBox error={episode.error} />;
  if (!episode.done && episode.memories.length === 0) return <Loading lines={6} />;
  if (episode.memories.length === 0) {
    return (
      <div class="card">
        <Empty icon="sessions" title={t("empty")} />
      </div>
    );
  }
  return (
    <>
      <section class="card">
        <header>
          <h2>{t("timeline")}</h2>
          <span class="dim">{episode.done ? t("timelineHint") : t("reading", { n: number(episode.memories.length) })}</span>
        </header>
        {episode.done && episode.total > episode.memories.length && <p class="dim">{t("truncated", { n: number(episode.memories.length), all: number(episode.total) })}</p>}
        {episode.done && <Timeline memories={episode.memories} cursor={cursor} view={view} />}
      </section>
      <AtCursor memories={episode.memories} cursor={cursor} view={view} />
    </>
  );
}

function Recalled({ s }: { s: Answer<"session"> }) {
  const recalled = [...s.recalled].sort((a, b) => Number(b.used) - Number(a.used));
  return (
    <section class="card">
      <header>
        <h2>{t("recalled")}</h2>
      </header>
      {recalled.length === 0 ? (
        <p class="dim">{t("noRecalled")}</p>
      ) : (
        <>
          <p class="dim">{t("recalledHint")}</p>
          <ul class="recalled">
            {recalled.map((m) => (
              <li key={m.memory_id}>
                <Icon name={kindIcon(m)} size={16} />
                <a class="row-title" dir="auto" href={`/memory/${m.memory_id}`}>
                  {m.summary}
                </a>
                <span class="row-facts">
                  {m.used && (
                    <span class="mark good">
                      <Icon name="check" size={13} />
                      {t("helped")}
                    </span>
                  )}
                  <Status of={m.status} />
                  <span class="id">[{m.memory_id}]</span>
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function About({ s }: { s: Answer<"session"> }) {
  if (!s.context || Object.keys(s.context).length === 0) return null;
  return (
    <section class="card">
      <header>
        <h2>{t("context")}</h2>
      </header>
      <Tree value={s.context} />
    </section>
  );
}

function Streams({ s }: { s: Answer<"session"> }) {
  if (!s.streams?.length) return null;
  return (
    <section class="card">
      <header>
        <h2>{t("streams")}</h2>
      </header>
      <dl class="facts number">
        {s.streams.map((x) => [
          <dt key={x.source}>{x.source}</dt>,
          <dd key={x.source + "-count"} class={x.dropped > 0 ? "mark bad" : ""}>
            {t("stream", { stored: number(x.stored), received: number(x.received), dropped: number(x.dropped), missed: number(x.missed) })}
          </dd>,
        ])}
      </dl>
    </section>
  );
}
