// Two episodes side by side: how they went, where their contexts differ, and
// both timelines under one cursor, counted from the beginning of each.

import { effect, useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Answer } from "../api/client";
import { useAsk } from "../app/ask";
import { differences, lived } from "../app/context";
import { useEpisode, type Episode } from "../app/episode";
import { go, route } from "../app/address";
import { useMoment } from "../app/moment";
import { moment, number, percent } from "../app/text";
import { useTitle } from "../app/title";
import { Button, Select } from "../parts/controls";
import type { Stretch } from "../parts/perception_samples";
import { Await, Loading } from "../parts/states";
import { AtCursor } from "./session_cursor";
import { span, timed } from "./session_lanes";
import { Timeline } from "./session_timeline";
import { about, began } from "./session_about";
import { t } from "./session.text";

const choices = 200; // newest episodes to choose from

export function Compare() {
  const { query } = route.value;
  const a = query.get("a") ?? "";
  const b = query.get("b") ?? "";
  const sessions = useAsk("sessions", { limit: choices }, { live: 10_000 });
  const to = (x: string, y: string) => go(`/sessions/compare?a=${encodeURIComponent(x)}&b=${encodeURIComponent(y)}`, "replace");
  const options = (sessions.answer?.sessions ?? []).map((s) => [s.session_id, `${about(s)}, ${moment(began(s))}, ${s.outcome_score === undefined ? t("noOutcome") : percent(s.outcome_score)}`] as const);
  const withChosen = (id: string) => [["", t("chooseTwo")] as const, ...(id && !options.some(([x]) => x === id) ? [[id, id] as const] : []), ...options];
  return (
    <>
      <div class="head">
        <h1>{t("compareTitle")}</h1>
        <Button onClick={() => to(b, a)}>{t("swap")}</Button>
      </div>
      <div class="halves">
        <Select label={t("first")} value={a} options={withChosen(a)} onChange={(x) => to(x, b)} />
        <Select label={t("second")} value={b} options={withChosen(b)} onChange={(x) => to(a, x)} />
      </div>
      {a && b && <Both a={a} b={b} key={a + b} />}
    </>
  );
}

function Both({ a, b }: { a: string; b: string }) {
  const first = useAsk("session", { session_id: a }, { live: 2000 });
  const second = useAsk("session", { session_id: b }, { live: 2000 });
  const [one, other] = [useEpisode(a), useEpisode(b)];
  const { cursor: ago, view } = useMoment(); // seconds from the beginning of each
  useTitle(t("compareTitle"));
  return (
    <div class="stack compare">
      <Await of={first}>{(x) => <Await of={second}>{(y) => <Differences a={x} b={y} first={one} second={other} />}</Await>}</Await>
      <div class="compare-two">
        <Side episode={one} ago={ago} shared={view} />
        <Side episode={other} ago={ago} shared={view} />
      </div>
    </div>
  );
}

/** One timeline; its cursor and the shared one follow each other. */
function Side({ episode, ago, shared }: { episode: Episode; ago: Signal<number | undefined>; shared: Signal<Stretch | undefined> }) {
  const cursor = useSignal<number | undefined>(undefined);
  const view = useSignal<Stretch | undefined>(undefined);
  const begin = episode.memories.length > 0 ? span(timed(episode.memories))[0] : undefined;
  useEffect(() => {
    if (begin === undefined) return;
    const down = effect(() => {
      if (ago.value !== undefined) cursor.value = begin + ago.value;
    });
    const up = effect(() => {
      if (cursor.value !== undefined) ago.value = cursor.value - begin;
    });
    const zoomDown = effect(() => {
      const next = shared.value && ([shared.value[0] + begin, shared.value[1] + begin] as Stretch);
      if (String(next) !== String(view.peek())) view.value = next;
    });
    const zoomUp = effect(() => {
      const next = view.value && ([view.value[0] - begin, view.value[1] - begin] as Stretch);
      const now = shared.peek();
      if (!next || !now ? next !== now : Math.abs(next[0] - now[0]) + Math.abs(next[1] - now[1]) > 1e-6) shared.value = next;
    });
    return () => {
      down();
      up();
      zoomDown();
      zoomUp();
    };
  }, [begin]);
  if (episode.memories.length === 0) return episode.done ? <p class="dim">{t("empty")}</p> : <Loading lines={5} />;
  return (
    <div class="stack">
      <section class="card">
        <Timeline memories={episode.memories} cursor={cursor} view={view} />
      </section>
      <AtCursor memories={episode.memories} cursor={cursor} view={view} />
    </div>
  );
}

type Whole = Answer<"session">;

/** What was counted, and the contexts of the episodes with those of their facts, parameters first. */
function Differences({ a, b, first, second }: { a: Whole; b: Whole; first: Episode; second: Episode }) {
  const rows: [string, string, string][] = [
    [t("outcome"), share(a.outcome_score), share(b.outcome_score)],
    [t("started"), moment(began(a)), moment(began(b))],
    [t("learnt"), count(a.summary?.facts), count(b.summary?.facts)],
    [t("perceived"), count(a.summary?.perceptions), count(b.summary?.perceptions)],
    [t("worked"), count(a.summary?.successes), count(b.summary?.successes)],
    [t("failed"), count(a.summary?.failures), count(b.summary?.failures)],
    [t("recalled"), number(a.recalled.length), number(b.recalled.length)],
    ...differences(lived(a.context, first.memories), lived(b.context, second.memories)),
  ];
  return (
    <section class="card">
      <header>
        <h2>{t("differs")}</h2>
      </header>
      <div class="table" role="region" aria-label={t("differs")} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("value")}</th>
              <th scope="col">{t("first")}</th>
              <th scope="col">{t("second")}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, x, y]) => (
              <tr key={name} class={x === y ? "dim" : ""}>
                <th scope="row">{name}</th>
                <td>{x}</td>
                <td>{y}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const share = (n?: number) => (n === undefined ? t("noOutcome") : percent(n));
const count = (n?: number) => (n === undefined ? "" : number(n));
