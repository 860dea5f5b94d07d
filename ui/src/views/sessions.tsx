// Episodes with their outcome, filtered and in an order. Two can be chosen to be compared.

import { useMemo, useState } from "preact/hooks";
import type { Memory, Session } from "../api/client";
import { useAsk } from "../app/ask";
import { taskOf } from "../app/context";
import { go, route, withQuery } from "../app/address";
import { number } from "../app/text";
import { useTitle } from "../app/title";
import { Button, Segments, Select } from "../parts/controls";
import { When } from "../parts/memory_row";
import { Pager } from "../parts/pager";
import { Score } from "../parts/score";
import { Await, Empty } from "../parts/states";
import { between } from "../parts/between";
import { placeOf } from "../parts/place";
import { TimeFilter } from "../parts/time_filter";
import { about, began, robotOf, tellers } from "./session_about";
import { t } from "./session.text";

const page = 30;
const orders = ["time", "outcome", "robot", "task", "place"] as const;
type Order = (typeof orders)[number];
type Status = "" | "active" | "ended";
const outcomes = ["success", "failure", "partial", "unknown"] as const;
type Outcome = "" | (typeof outcomes)[number];

const oneOf = <T extends string>(text: string | null, values: readonly T[]): T | undefined => values.find((v) => v === text);

export function Sessions() {
  const { query } = route.value;
  const has = (name: string) => query.get(name) || undefined;
  const status = oneOf(query.get("status"), ["active", "ended"] as const);
  const outcome = oneOf(query.get("outcome"), outcomes);
  const sort = oneOf(query.get("sort"), orders) ?? "time";
  const collections = useAsk("collections", {}, { live: 10_000 });
  const [chosen, setChosen] = useState<string[]>([]);
  const filters = { collection: has("collection"), status, outcome, robot: has("robot"), task: has("task"), words: has("words"), ...between(has("after"), has("before")) };
  const sessions = useAsk("sessions", { ...filters, sort, limit: page, page: Math.max(1, Math.floor(Number(has("page"))) || 1) }, { live: 2000, settle: 150 });
  const told = useTold(sessions.answer?.sessions);
  const filtered = Object.values(filters).some((v) => v !== undefined);
  const set = (name: string) => (value: string) => go(withQuery({ [name]: value || undefined, page: undefined }), "replace");
  const choose = (id: string) => setChosen((c) => (c.includes(id) ? c.filter((x) => x !== id) : [...c, id].slice(-2)));
  useTitle([t("title"), has("task"), has("robot"), has("words")].filter(Boolean).join(", "));
  const names = { robot: [] as string[], task: [] as string[] };
  for (const s of sessions.answer?.sessions ?? []) {
    const robot = robotOf(s);
    const task = taskOf(s.context) ?? taskOf(told.get(s.session_id)?.context);
    if (robot && !names.robot.includes(robot)) names.robot.push(robot);
    if (task && !names.task.includes(task)) names.task.push(task);
  }
  return (
    <>
      <div class="head">
        <h1>{t("title")}</h1>
        <Segments<Status>
          label={t("status")}
          value={status ?? ""}
          options={[
            ["", t("all")],
            ["active", t("active")],
            ["ended", t("ended")],
          ]}
          onChange={set("status")}
        />
        <Button disabled={chosen.length !== 2} onClick={() => go(`/sessions/compare?a=${encodeURIComponent(chosen[0] ?? "")}&b=${encodeURIComponent(chosen[1] ?? "")}`)}>
          {t(chosen.length === 2 ? "compareTwo" : "chooseTwo")}
        </Button>
      </div>
      <div class="list-filters">
        <Select<Outcome> label={t("outcome")} value={outcome ?? ""} options={[["", t("all")], ...outcomes.map((o) => [o, t(o)] as const)]} onChange={set("outcome")} />
        {(["robot", "task"] as const).map((name) => (
          <label key={name} class="field">
            <span class="field-label">{t(name)}</span>
            <input type="search" list={`all-${name}`} value={has(name) ?? ""} onChange={(e) => set(name)(e.currentTarget.value)} autocomplete="off" />
            <datalist id={`all-${name}`}>
              {names[name].map((x) => (
                <option key={x} value={x} />
              ))}
            </datalist>
          </label>
        ))}
        <label class="field">
          <span class="field-label">{t("words")}</span>
          <input type="search" value={has("words") ?? ""} onInput={(e) => set("words")(e.currentTarget.value)} autocomplete="off" />
        </label>
        <Select label={t("collection")} value={has("collection") ?? ""} options={[["", t("all")], ...(collections.answer?.collections ?? []).map((c) => [c.collection, c.collection] as const)]} onChange={set("collection")} />
        <TimeFilter after={has("after")} before={has("before")} set={(after, before) => go(withQuery({ after, before, page: undefined }), "replace")} />
        <Select<Order> label={t("sort")} value={sort} options={orders.map((o) => [o, t(o === "time" ? "byTime" : o === "outcome" ? "byOutcome" : o)] as const)} onChange={(v) => set("sort")(v === "time" ? "" : v)} />
      </div>
      <Await of={sessions} lines={8}>
        {(a) =>
          a.sessions.length === 0 ? (
            <Empty icon="sessions" title={t(filtered || a.total > 0 ? "noneSuch" : "none")}>
              {filtered || a.total > 0 ? <a href="/sessions">{t("clear")}</a> : t("noneHint")}
            </Empty>
          ) : (
            <>
              <p class="dim list-total">
                {t("total", { n: number(a.total) })}
                {filtered && <a href="/sessions">{t("clear")}</a>}
              </p>
              <ul class="card sessions">
                {a.sessions.map((s) => (
                  <Row key={s.session_id} s={s} told={told.get(s.session_id)} chosen={chosen.includes(s.session_id)} choose={() => choose(s.session_id)} />
                ))}
              </ul>
              <Pager page={a.page ?? 1} limit={page} total={a.total} />
            </>
          )
        }
      </Await>
    </>
  );
}

const mostFacts = 100; // that are read of the episodes of a page

/** What the facts of episodes tell of how they went. An episode of which none is among those that are read is told by its own context. */
function useTold(of: Session[] | undefined): Map<string, Memory> {
  const ids = of?.map((s) => s.session_id) ?? [];
  const request = { collection: "*", type: "fact", context_filter: { session_id: { $in: ids } }, min_confidence: 0, n: mostFacts, as_you_type: true } as const;
  const { answer } = useAsk("recall", ids.length > 0 ? request : undefined, { live: 5000 });
  return useMemo(() => tellers(answer?.memories ?? []), [answer]);
}

interface RowProps {
  s: Session;
  told?: Memory;
  chosen: boolean;
  choose: () => void;
}

function Row({ s, told, chosen, choose }: RowProps) {
  const where = placeOf((s.context as { spatial?: unknown } | undefined)?.spatial);
  return (
    <li>
      <input type="checkbox" aria-label={t("choose")} checked={chosen} onChange={choose} />
      <div>
        <a class="row-title" dir="auto" href={`/sessions/${encodeURIComponent(s.session_id)}`}>
          {about(s, told)}
        </a>
        {told && (
          <p class="row-summary" dir="auto">
            {told.content}
          </p>
        )}
        <p class="row-facts">
          {robotOf(s) && <span>{robotOf(s)}</span>}
          <span>{s.collection}</span>
          {where && <span>{t("at", { place: where })}</span>}
          <span>{s.memory_count === 1 ? t("memory") : t("memories", { n: number(s.memory_count) })}</span>
          {s.status === "active" && <span class="chip">{t("active")}</span>}
          <When time={began(s)} />
        </p>
      </div>
      <Score of={s.outcome_score} />
    </li>
  );
}
