// Search as one types, with filters built by clicking. The address holds the
// whole question.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Answer, Memory, Request } from "../api/client";
import { useAsk } from "../app/ask";
import { searchShown, useKeys } from "../app/keys";
import { go, route } from "../app/address";
import { minute, number } from "../app/text";
import { useTitle } from "../app/title";
import { Button, copy } from "../parts/controls";
import { mode, Stages, Why } from "../parts/found";
import { Icon } from "../parts/icons";
import { MemoryRow } from "../parts/memory_row";
import { Await, Empty } from "../parts/states";
import { Filters } from "./search_filters";
import { Given } from "./search_given";
import { address, asCurl, asGo, asMCP, read, recall, type Question } from "./search_query";
import { t } from "./search.text";

const answers = 50; // hits asked for
const pageOfNewest = 30;

export function Search() {
  const q = read(route.value.query);
  useTitle(q.query ? `${t("title")}: ${q.query}` : undefined);
  const set = (next: Question) => go(address(next), "replace");
  const [filters, setFilters] = useState(false);
  useEffect(searchShown, []);
  return (
    <>
      <h1 class="hidden">{t("title")}</h1>
      <div class="search">
        <SearchField q={q} set={set} />
        <div class="search-bar">
          <Button icon="filter" pressed={filters} onClick={() => setFilters(!filters)}>
            {t("filters")}
          </Button>
          <Given q={q} set={set} />
        </div>
        <div class="search-columns">
          <div class="search-found">
            <Found q={q} />
          </div>
          <aside class={`card search-filters${filters ? " open" : ""}`} aria-label={t("filters")}>
            <Filters q={q} set={set} />
          </aside>
        </div>
      </div>
    </>
  );
}

function SearchField({ q, set }: { q: Question; set: (q: Question) => void }) {
  const ref = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (matchMedia("(hover: hover)").matches) ref.current?.focus();
  }, []);
  return (
    <div class="find big" role="search">
      <Icon name="search" size={20} />
      <input
        ref={ref}
        type="search"
        data-search
        aria-label={t("title")}
        placeholder={t("placeholder")}
        autocomplete="off"
        spellcheck={false}
        value={q.query}
        onInput={(e) => set({ ...q, query: e.currentTarget.value })}
        onKeyDown={(e) => {
          if (e.key === "ArrowDown" || e.key === "Enter") {
            e.preventDefault();
            document.querySelector<HTMLElement>(".search-found .row-title")?.focus();
          }
        }}
      />
      <kbd>/</kbd>
    </div>
  );
}

function Found({ q }: { q: Question }) {
  const request = recall(q, minute.value);
  return request ? <Hits q={q} request={request} /> : <Newest />;
}

function Hits({ q, request }: { q: Question; request: Request<"recall"> }) {
  const asked = useAsk("recall", { ...request, n: answers, explain: true, as_you_type: true }, { live: 2000 });
  return (
    <Await of={asked} lines={8}>
      {(a) => (
        <div class={asked.asking ? "older" : ""}>
          <div class="search-head">
            <p role="status">
              {t(a.total === answers ? "foundMore" : "found", { n: number(a.total), ms: number(a.query_ms, 1), mode: mode(a.mode) })}
            </p>
            <CopyAs request={request} />
          </div>
          {a.degraded.length > 0 && (
            <div class="degraded">
              <Icon name="info" size={16} /> {t("degraded")}
              <ul>
                {a.degraded.map((d) => (
                  <li key={d}>{d}</li>
                ))}
              </ul>
            </div>
          )}
          {a.notes && (
            <ul class="notes">
              {a.notes.map((n) => (
                <li key={n}>{n}</li>
              ))}
            </ul>
          )}
          {a.memories.length === 0 ? (
            <Empty icon="search" title={t("none")}>
              {t("noneHint")}
            </Empty>
          ) : (
            <Rows memories={a.memories} words={q.query} />
          )}
          <Stages of={a} />
        </div>
      )}
    </Await>
  );
}

function CopyAs({ request }: { request: Request<"recall"> }) {
  return (
    <div class="copy-as" role="group" aria-label={t("copy")}>
      <Icon name="copy" size={15} />
      <span class="dim">{t("copy")}</span>
      <button type="button" onClick={() => copy(asMCP(request))}>
        MCP
      </button>
      <button type="button" onClick={() => copy(asCurl(request))}>
        curl
      </button>
      <button type="button" onClick={() => copy(asGo(request))}>
        Go
      </button>
    </div>
  );
}

/** Rows that j and k walk through. */
function Rows({ memories, words = "" }: { memories: Memory[]; words?: string }) {
  const ref = useRef<HTMLDivElement>(null);
  const walk = (step: number) => {
    const titles = [...(ref.current?.querySelectorAll<HTMLElement>(".row-title") ?? [])];
    const at = titles.indexOf(document.activeElement as HTMLElement);
    titles[Math.min(Math.max(at + step, 0), titles.length - 1)]?.focus();
  };
  useKeys({ j: () => walk(1), k: () => walk(-1), ArrowDown: () => walk(1), ArrowUp: () => walk(-1) });
  return (
    <div class="card rows" ref={ref}>
      {memories.map((m) => (
        <MemoryRow key={m.memory_id} m={m} words={words}>
          <Why m={m} />
        </MemoryRow>
      ))}
    </div>
  );
}

function Newest() {
  const [pages, setPages] = useState<Answer<"list">[]>([]);
  const first = useAsk("list", { limit: pageOfNewest }, { live: 2000 });
  const [cursor, setCursor] = useState<string>();
  const next = useAsk("list", cursor ? { limit: pageOfNewest, cursor } : undefined, { live: 0 });
  useEffect(() => {
    if (next.answer) setPages((p) => [...p, next.answer!]);
  }, [next.answer]);
  return (
    <Await of={first} lines={8}>
      {(a) => {
        const last = pages.at(-1) ?? a;
        const seen = new Set<number>();
        const memories = [a, ...pages].flatMap((p) => p.memories).filter((m) => !seen.has(m.memory_id) && seen.add(m.memory_id));
        if (memories.length === 0) return <Empty icon="fact" title={t("nothingYet")} />;
        return (
          <>
            <div class="search-head">
              <h2>{t("newest")}</h2>
              <p class="dim">{t("total", { n: number(a.total) })}</p>
            </div>
            <Rows memories={memories} />
            {last.next && (
              <p class="more">
                <Button disabled={next.asking} onClick={() => setCursor(last.next)}>
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
