// The gallery of what the robot sensed, newest first, or of what is like one of
// them, nearest first.

import { useEffect, useRef, useState } from "preact/hooks";
import { Problem, type Memory } from "../api/client";
import { useAsk } from "../app/ask";
import { useKeys } from "../app/keys";
import { summary } from "../app/summary";
import { go, route, withQuery } from "../app/address";
import { number } from "../app/text";
import { Button, Select } from "../parts/controls";
import { Icon } from "../parts/icons";
import { kindIcon, Outcome, outcome, When } from "../parts/memory_row";
import { byLikeness, likeness } from "../parts/likeness";
import { comparable, Thumbnail } from "../parts/perception_facts";
import { Empty, ErrorBox, Loading } from "../parts/states";
import { filtered, filterOf, kinds, usePages, type PerceptionFilter } from "./perceptions_pages";
import { t } from "./perceptions.text";

export function Perceptions() {
  const { query } = route.value;
  const filter = filterOf(query);
  const alike = Number(query.get("alike"));
  return (
    <>
      <div class="head">
        <h1>{t(alike > 0 ? "titleAlike" : "title")}</h1>
        <Filters filter={filter} />
      </div>
      {alike > 0 ? <AlikeGallery key={alike} id={alike} filter={filter} /> : <Gallery key={JSON.stringify(filter)} filter={filter} />}
    </>
  );
}

function Filters({ filter }: { filter: PerceptionFilter }) {
  const collections = useAsk("collections", {}, { live: 5000 });
  const names = (collections.answer?.collections ?? []).map((c) => c.collection);
  if (filter.collection && !names.includes(filter.collection)) names.push(filter.collection);
  const set = (values: Record<string, string | undefined>) => go(withQuery(values), "replace");
  return (
    <div class="gallery-filters">
      <Select hideLabel label={t("type")} value={filter.perception_type ?? ""} options={[["", t("any")], ...kinds.map((k) => [k, t(k)] as const)]} onChange={(v) => set({ perception_type: v })} />
      <Select hideLabel label={t("collection")} value={filter.collection ?? ""} options={[["", t("everywhere")], ...names.map((n) => [n, n] as const)]} onChange={(v) => set({ collection: v })} />
      <Select
        hideLabel
        label={t("outcome")}
        value={filter.outcome ?? ""}
        options={[
          ["", t("anyOutcome")],
          ["worked", t("worked")],
          ["failed", t("failed")],
        ]}
        onChange={(v) => set({ outcome: v })}
      />
      {filter.session && (
        <span class="chip">
          <a href={`/sessions/${encodeURIComponent(filter.session)}`}>{t("episode", { id: filter.session.slice(-6) })}</a>
          <Button icon="cross" kind="quiet" label={t("dropEpisode")} onClick={() => set({ session: undefined })} />
        </span>
      )}
      {filtered(filter) && (
        <Button icon="cross" onClick={() => set({ perception_type: undefined, collection: undefined, outcome: undefined, session: undefined })}>
          {t("clear")}
        </Button>
      )}
    </div>
  );
}

function Gallery({ filter }: { filter: PerceptionFilter }) {
  const pages = usePages(filter);
  const foot = useRef<HTMLDivElement>(null);
  const { more, asking, items, error } = pages;
  const next = useRef(pages.ask);
  next.current = pages.ask;
  useEffect(() => {
    if (!foot.current || !more || error) return;
    const observer = new IntersectionObserver((seen) => seen.some((s) => s.isIntersecting) && next.current(), { rootMargin: "600px" });
    observer.observe(foot.current);
    return () => observer.disconnect();
  }, [more, items?.length, error]);
  if (error && !items) return <ErrorBox error={error} again={pages.ask} />;
  if (!items) return <Loading lines={8} />;
  if (items.length === 0) return <Nothing filter={filter} />;
  return (
    <>
      <Cards of={items} />
      {error && <ErrorBox error={error} again={pages.ask} />}
      <div class="gallery-foot" ref={foot}>
        {more ? (
          <Button disabled={asking} onClick={pages.ask}>
            {t("more")}
          </Button>
        ) : (
          <p class="dim">
            {t("total", { n: number(items.length) })}. {t("keys")}
          </p>
        )}
      </div>
    </>
  );
}

function Nothing({ filter }: { filter: PerceptionFilter }) {
  if (filtered(filter)) {
    return (
      <Empty icon="filter" title={t("noneFiltered")}>
        <Button onClick={() => go("/perceptions", "replace")}>{t("clear")}</Button>
      </Empty>
    );
  }
  return (
    <Empty icon="perceptions" title={t("none")}>
      <p>{t("noneHint")}</p>
      <pre class="gallery-how">
        robotmem save-perception "the cup before the grasp" --file cup.png{"\n"}
        robotmem save-perception "wrist force while inserting" --file force.csv --perception-type tactile --metadata '{"{"}"rate_hz":1000{"}"}'{"\n"}
        robotmem import run_0.mcap
      </pre>
    </Empty>
  );
}

function AlikeGallery({ id, filter }: { id: number; filter: PerceptionFilter }) {
  const reference = useAsk("get", { memory_id: id }, { live: 0 });
  const asked = useAsk(
    "recall",
    {
      like: { memory_id: id },
      collection: filter.collection ?? "*",
      perception_type: filter.perception_type,
      session_id: filter.session,
      context_filter: filter.outcome && { "task.success": filter.outcome === "worked" },
      n: 60,
      min_confidence: 0,
      explain: true,
      as_you_type: true, // not counted
    },
    { live: 0 },
  );
  return (
    <>
      {reference.answer && (
        <section class="gallery-reference">
          <p class="dim">
            {t("reference")} {t("compared")}
          </p>
          <Card m={reference.answer} wide />
          <a class="button" href={withQuery({ alike: undefined })}>
            <Icon name="back" />
            {t("back")}
          </a>
        </section>
      )}
      <Found asked={asked} />
    </>
  );
}

function Found({ asked }: { asked: { answer?: { memories: Memory[] }; error?: Problem; again: () => void } }) {
  if (asked.error?.kind === "invalid") {
    return (
      <Empty icon="same" title={t("cannot")}>
        {asked.error.message}
      </Empty>
    );
  }
  if (asked.error) return <ErrorBox error={asked.error} again={asked.again} />;
  if (!asked.answer) return <Loading lines={8} />;
  if (asked.answer.memories.length === 0) {
    return (
      <Empty icon="same" title={t("noAlike")}>
        {t("noAlikeHint")}
      </Empty>
    );
  }
  return <Cards of={byLikeness(asked.answer.memories)} />;
}

/** Opens what the keys chose, unless a link or a button has the focus: Enter is theirs. */
function open(m: Memory) {
  const focused = document.activeElement;
  if (focused instanceof HTMLElement && focused.matches("a, button")) focused.click();
  else go(`/memory/${m.memory_id}`);
}

/** The cards, with one of them under the keys. */
function Cards({ of }: { of: Memory[] }) {
  const [at, setAt] = useState(-1);
  const list = useRef<HTMLUListElement>(null);
  const now = useRef(-1); // keys may come faster than pictures of them
  const move = (by: number) => {
    now.current = Math.min(Math.max(now.current + by, 0), of.length - 1);
    setAt(now.current);
    list.current?.children[now.current]?.scrollIntoView({ block: "nearest" });
  };
  const selected = of[at];
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ...(selected ? { Enter: () => open(selected) } : {}),
  });
  return (
    <ul class="gallery" ref={list}>
      {of.map((m, i) => (
        <li key={m.memory_id}>
          <Card m={m} selected={i === at} />
        </li>
      ))}
    </ul>
  );
}

function Card({ m, selected, wide }: { m: Memory; selected?: boolean; wide?: boolean }) {
  const far = likeness(m);
  return (
    <article class={`gallery-card${selected ? " selected" : ""}${wide ? " wide" : ""}`} data-memory={m.memory_id}>
      <a class="gallery-picture" href={`/memory/${m.memory_id}`} tabIndex={-1} aria-hidden="true">
        <Thumbnail m={m} />
      </a>
      <div class="gallery-text">
        <a class="gallery-title" dir="auto" href={`/memory/${m.memory_id}`}>
          {m.content}
        </a>
        {m.summary && m.summary !== m.content && <p class="gallery-summary">{summary(m.summary)}</p>}
        <p class="row-facts">
          <span class="mark" title={m.perception_type}>
            <Icon name={kindIcon(m)} size={14} />
            {far === undefined ? m.collection : t("distance", { d: number(far, 3) })}
          </span>
          <Outcome of={outcome(m)} />
          <When time={m.observed_at} />
          {!wide && comparable(m) && (
            <a class="gallery-alike" href={`/perceptions?alike=${m.memory_id}`} aria-label={t("alikeLabel", { id: m.memory_id })}>
              {t("alike")}
            </a>
          )}
        </p>
      </div>
    </article>
  );
}
