// What was understood of a recording.

import type { ComponentChildren } from "preact";
import { duration, moment, number } from "../app/text";
import { Icon } from "../parts/icons";
import { t } from "./panel.text";
import type { Import } from "./sending";

type Result = NonNullable<Import["result"]>;

export function Understood({ result: r }: { result: Result }) {
  const seconds = r.started_at && r.ended_at ? (Date.parse(r.ended_at) - Date.parse(r.started_at)) / 1000 : 0;
  return (
    <div class="imports-result">
      {r.known && <p class="mark good">{t("knownText")}</p>}
      {r.session_id && (
        <p>
          <a class="button main" href={`/sessions/${encodeURIComponent(r.session_id)}`}>
            {t("open")}
          </a>
        </p>
      )}
      <dl class="facts">
        <dt>{t("kind")}</dt>
        <dd>{r.kind}</dd>
        {r.started_at && <dt>{t("span")}</dt>}
        {r.started_at && (
          <dd>
            {moment(r.started_at)}
            {seconds > 0 && `, ${duration(seconds)}`}
          </dd>
        )}
        {!r.known && <dt>{t("messages")}</dt>}
        {!r.known && <dd class="number">{number(r.messages)}</dd>}
        {!r.known && <dt>{t("perceptions")}</dt>}
        {!r.known && <dd class="number">{t("stored", { n: number(r.perceptions), new: number(r.stored) })}</dd>}
        {r.robots && <dt>{t("robots")}</dt>}
        {r.robots && (
          <dd>
            {r.robots.map((name) => name || "/").join(", ")} <span class="dim">{t("robotsHint")}</span>
          </dd>
        )}
        {!!r.clock_resets && <dt>{t("resets")}</dt>}
        {!!r.clock_resets && <dd>{r.clock_resets === 1 ? t("once") : t("times", { n: number(r.clock_resets) })}</dd>}
      </dl>
      <Warnings r={r} />
      {r.episodes && (
        <Part title={t("episodes", { n: number(r.episode_count) })}>
          <ul class="imports-lines">
            {r.episodes.map((e) => (
              <li key={e.session_id}>
                <Outcome of={e.outcome} />
                <a href={`/sessions/${encodeURIComponent(e.session_id)}`}>{e.title}</a>
                {e.started_at && <span class="dim">{moment(e.started_at)}</span>}
              </li>
            ))}
          </ul>
        </Part>
      )}
      <Part title={t("facts", { n: number(r.fact_count) })}>
        {r.facts ? (
          <ul class="imports-lines">
            {r.facts.map((f) => (
              <li key={f.memory_id}>
                <Outcome of={f.outcome} />
                <a href={`/memory/${f.memory_id}`}>{f.text}</a>
                {f.observed_at && <span class="dim">{moment(f.observed_at)}</span>}
              </li>
            ))}
          </ul>
        ) : (
          <p class="dim">{t("noFacts")}</p>
        )}
        {r.facts && r.fact_count > r.facts.length && <p class="dim">{t("more", { n: number(r.fact_count - r.facts.length) })}</p>}
      </Part>
      {r.topics && !r.known && <Topics r={r} topics={r.topics} />}
    </div>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function Outcome({ of }: { of?: string }) {
  if (of !== "success" && of !== "failure") return <Icon name="info" size={15} />;
  const good = of === "success";
  return (
    <span class={`mark ${good ? "good" : "bad"}`}>
      <Icon name={good ? "check" : "cross"} size={15} />
    </span>
  );
}

function Warnings({ r }: { r: Result }) {
  const lines = [
    ...(r.broken ? [t("broken", { what: r.broken })] : []),
    ...(r.lost ? [t("lostMessages", { n: number(r.lost) })] : []),
    ...(r.undecoded ? [t("undecoded", { n: number(r.undecoded) })] : []),
    ...(r.mistimed ? [t("mistimed", { n: number(r.mistimed) })] : []),
    ...(r.warnings ?? []),
  ];
  if (lines.length === 0) return null;
  return (
    <Part title={t("warnings")}>
      <ul class="imports-lines">
        {lines.map((line) => (
          <li key={line}>
            <span class="mark warn">
              <Icon name="warn" size={15} />
            </span>
            <span>{line}</span>
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Topics({ r, topics }: { r: Result; topics: NonNullable<Result["topics"]> }) {
  return (
    <Part title={t("topics", { n: number(topics.length + (r.more_topics ?? 0)) })}>
      <div class="imports-topics" role="region" aria-label={t("topic")} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>{t("topic")}</th>
              <th>{t("type")}</th>
              <th class="number">{t("read")}</th>
              <th class="number">{t("kept")}</th>
              <th>{t("notes")}</th>
            </tr>
          </thead>
          <tbody>
            {topics.map((topic) => (
              <tr key={topic.topic}>
                <td class="mono">{topic.topic}</td>
                <td class="mono dim">{topic.type}</td>
                <td class="number">{number(topic.read)}</td>
                <td class="number">{number(topic.kept)}</td>
                <td>
                  {Object.entries({ ...topic.notes, ...topic.skipped }).map(([why, n]) => (
                    <p key={why}>{t("note", { n: number(n), why })}</p>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {!!r.more_topics && <p class="dim">{t("more", { n: number(r.more_topics) })}</p>}
    </Part>
  );
}
