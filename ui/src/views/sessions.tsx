// Episodes, newest first, with their outcome. Two can be chosen to be compared.

import { useEffect, useState } from "preact/hooks";
import type { Answer, Session } from "../api/client";
import { useAsk } from "../app/ask";
import { go, route, withQuery } from "../app/address";
import { number } from "../app/text";
import { Button, Segments, Select } from "../parts/controls";
import { When } from "../parts/memory_row";
import { Score } from "../parts/score";
import { Await, Empty } from "../parts/states";
import { t } from "./session.text";

const page = 30;

type Status = "" | "active" | "ended";

export function Sessions() {
  const { query } = route.value;
  const collection = query.get("collection") ?? "";
  const status = (query.get("status") ?? "") as Status;
  const collections = useAsk("collections", {}, { live: 10_000 });
  const [chosen, setChosen] = useState<string[]>([]);
  const request = { limit: page, ...(collection ? { collection } : {}), ...(status ? { status } : {}) };
  const choose = (id: string) => setChosen((c) => (c.includes(id) ? c.filter((x) => x !== id) : [...c, id].slice(-2)));
  return (
    <>
      <div class="head">
        <h1>{t("title")}</h1>
        <Segments<Status>
          label={t("status")}
          value={status}
          options={[
            ["", t("all")],
            ["active", t("active")],
            ["ended", t("ended")],
          ]}
          onChange={(v) => go(withQuery({ status: v }), "replace")}
        />
        <Select
          label={t("collection")}
          hideLabel
          value={collection}
          options={[["", `${t("collection")}: ${t("all")}`], ...(collections.answer?.collections ?? []).map((c) => [c.collection, c.collection] as const)]}
          onChange={(v) => go(withQuery({ collection: v }), "replace")}
        />
        <Button disabled={chosen.length !== 2} onClick={() => go(`/sessions/compare?a=${chosen[0]}&b=${chosen[1]}`)}>
          {t(chosen.length === 2 ? "compareTwo" : "chooseTwo")}
        </Button>
      </div>
      <List key={JSON.stringify(request)} request={request} chosen={chosen} choose={choose} />
    </>
  );
}

interface ListProps {
  request: { limit: number; collection?: string; status?: "active" | "ended" };
  chosen: string[];
  choose: (id: string) => void;
}

function List({ request, chosen, choose }: ListProps) {
  const first = useAsk("sessions", request, { live: 2000 });
  const [cursor, setCursor] = useState<string>();
  const [pages, setPages] = useState<Answer<"sessions">[]>([]);
  const next = useAsk("sessions", cursor ? { ...request, cursor } : undefined, { live: 0 });
  useEffect(() => {
    if (next.answer) setPages((p) => [...p, next.answer!]);
  }, [next.answer]);
  return (
    <Await of={first} lines={8}>
      {(a) => {
        const sessions = [a, ...pages].flatMap((p) => p.sessions);
        const more = (pages.at(-1) ?? a).next;
        if (sessions.length === 0) {
          return (
            <Empty icon="sessions" title={t("none")}>
              {t("noneHint")}
            </Empty>
          );
        }
        return (
          <>
            <p class="dim">{t("total", { n: number(a.total) })}</p>
            <ul class="card sessions">
              {sessions.map((s) => (
                <Row key={s.session_id} s={s} chosen={chosen.includes(s.session_id)} choose={() => choose(s.session_id)} />
              ))}
            </ul>
            {more && (
              <p class="more">
                <Button disabled={next.asking} onClick={() => setCursor(more)}>
                  {t("more")}
                </Button>
              </p>
            )}
          </>
        );
      }}
    </Await>
  );
}

/** What an episode was about, in a few words of its context. */
export function about(s: { context?: unknown; collection: string }): string {
  const task = (s.context as { task?: unknown } | undefined)?.task;
  if (typeof task === "string") return task;
  const name = (task as { name?: unknown } | undefined)?.name;
  return typeof name === "string" ? name : s.collection;
}

function Row({ s, chosen, choose }: { s: Session; chosen: boolean; choose: () => void }) {
  return (
    <li>
      <input type="checkbox" aria-label={t("choose")} checked={chosen} onChange={choose} />
      <div>
        <a class="row-title" href={`/sessions/${s.session_id}`}>
          {about(s)}
        </a>
        <p class="row-facts">
          <span>{s.collection}</span>
          <span>{t("memories", { n: number(s.memory_count) })}</span>
          {s.status === "active" && <span class="chip">{t("active")}</span>}
          <When time={s.created_at} />
        </p>
      </div>
      <Score of={s.outcome_score} />
    </li>
  );
}
