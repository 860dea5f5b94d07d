// Search as one types, with filters built by clicking. The address holds the
// whole question.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Memory, Request } from "../api/client";
import { useAsk } from "../app/ask";
import { searchShown, useKeys, walk } from "../app/keys";
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

const answers = 50; // hits asked for at first
const mostAnswers = 100; // of one recall
const pageOfNewest = 30;
const mostOfNewest = 990; // of one list

export function Search() {
  const q = read(route.value.query);
  useTitle(q.query ? `${t("title")}: ${q.query}` : undefined);
  const set = (next: Question) => go(address({ ...next, rows: undefined }), "replace");
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
          <div data-found>
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
            document.querySelector<HTMLElement>("[data-found] .row-title")?.focus();
          }
        }}
      />
      <kbd>/</kbd>
    </div>
  );
}

function Found({ q }: { q: Question }) {
  const request = recall(q, minute.value);
  return request ? <Hits q={q} request={request} /> : <Newest q={q} />;
}

function Hits({ q, request }: { q: Question; request: Request<"recall"> }) {
  const n = Math.min(Math.max(q.rows ?? 0, answers), mostAnswers);
  const asked = useAsk("recall", { ...request, n, explain: true, as_you_type: true }, { live: 2000 });
  return (
    <Await of={asked} lines={8}>
      {(a) => (
        <div class={asked.asking ? "older" : ""}>
          <div class="search-head">
            <p role="status">
              {t(a.total >= n ? "foundMore" : "found", { n: number(a.total), ms: number(a.query_ms, 1), mode: mode(a.mode) })}
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
            <ul>
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
          {a.total >= n && n < mostAnswers && <More q={q} rows={mostAnswers} asking={asked.asking} />}
          {a.total >= mostAnswers && <p class="dim more">{t("best", { n: number(mostAnswers) })}</p>}
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

/** Rows that the arrows walk through, as j and k do in every list. */
function Rows({ memories, words = "" }: { memories: Memory[]; words?: string }) {
  useKeys({ ArrowDown: () => walk(1), ArrowUp: () => walk(-1) });
  return (
    <div class="card rows">
      {memories.map((m) => (
        <MemoryRow key={m.memory_id} m={m} words={words}>
          <Why m={m} />
        </MemoryRow>
      ))}
    </div>
  );
}

/** More rows of the same question. Their number stands in the address, so that the way back leads to them. */
function More({ q, rows, asking }: { q: Question; rows: number; asking: boolean }) {
  return (
    <p class="more">
      <Button disabled={asking} onClick={() => go(address({ ...q, rows }), "replace")}>
        {t("more")}
      </Button>
    </p>
  );
}

function Newest({ q }: { q: Question }) {
  const limit = Math.min(Math.max(q.rows ?? 0, pageOfNewest), mostOfNewest);
  const asked = useAsk("list", { limit }, { live: 2000 });
  return (
    <Await of={asked} lines={8}>
      {(a) =>
        a.memories.length === 0 ? (
          <Empty icon="fact" title={t("nothingYet")} />
        ) : (
          <>
            <div class="search-head">
              <h2>{t("newest")}</h2>
              <p class="dim">{t("total", { n: number(a.total) })}</p>
            </div>
            <Rows memories={a.memories} />
            {a.next && limit < mostOfNewest && <More q={q} rows={limit + pageOfNewest} asking={asked.asking} />}
          </>
        )
      }
    </Await>
  );
}
