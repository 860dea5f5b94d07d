// What went wrong, what the node holds and has learnt lately, how it is.

import type { ComponentChildren } from "preact";
import type { Answer } from "../api/client";
import { useAsk } from "../app/ask";
import { go, route, withQuery } from "../app/address";
import { bytes, number, percent } from "../app/text";
import { Bars } from "../parts/bars";
import { Segments } from "../parts/controls";
import { Icon } from "../parts/icons";
import { Await, Empty } from "../parts/states";
import { LatestIncidents } from "./incidents";
import { t } from "./home.text";

const lowDisk = 1 << 30; // bytes free

const ranges = { day: 1, week: 7, month: 30, year: 365 } as const; // days
type Range = keyof typeof ranges;

export function Home() {
  const stats = useAsk("stats", {});
  return (
    <>
      <div class="head">
        <h1>{t("title")}</h1>
      </div>
      {stats.answer && stats.answer.total === 0 && stats.answer.sessions === 0 ? (
        <FirstSteps />
      ) : (
        <div class="stack">
          <LatestIncidents />
          <Await of={stats} lines={8}>
            {(s) => <Overview s={s} />}
          </Await>
        </div>
      )}
    </>
  );
}

function FirstSteps() {
  return (
    <div class="card">
      <Empty icon="fact" title={t("empty")}>
        <p>{t("emptyHint")}</p>
        <pre class="snippet">robotmem learn "grip_force=12.5 N holds wet glass"</pre>
      </Empty>
    </div>
  );
}

function Overview({ s }: { s: Answer<"stats"> }) {
  return (
    <div class="stack">
      <div class="tiles">
        <Tile to="/search" value={number(s.total)} name={t("memories")} detail={t(s.collections === 1 ? "memoriesOfOne" : "memoriesOf", { n: number(s.collections) })} />
        <Tile to="/search" value={number(s.last_day)} name={t("learnt")} detail={t("lastDay")} />
        <Tile to="/perceptions" value={number(s.by_type.perception ?? 0)} name={t("perceptions")} detail={t("stored", { bytes: bytes(s.stored_bytes) })} />
        <Tile to="/sessions" value={number(s.sessions)} name={t("sessions")} />
        <Tile to="/doctor" value={number(s.recalls)} name={t("recalls")} detail={s.recalls ? t("zero", { share: percent(s.zero_hits / s.recalls) }) : t("noRecalls")} />
      </div>
      <div class="halves">
        <Health s={s} />
        <Collections />
      </div>
      <Activity />
    </div>
  );
}

function Tile(props: { to: string; value: string; name: string; detail?: string }) {
  return (
    <a class="card tile" href={props.to}>
      <span class="tile-value number">{props.value}</span>
      <span class="tile-name">{props.name}</span>
      {props.detail && <span class="dim tile-detail">{props.detail}</span>}
    </a>
  );
}

function Activity() {
  const asked = route.value.query.get("range") as Range | null;
  const range: Range = asked && asked in ranges ? asked : "month";
  const activity = useAsk("activity", { days: ranges[range] }, { live: 5000 });
  return (
    <section class="card">
      <header>
        <Segments<Range>
          label={t("range")}
          value={range}
          options={(Object.keys(ranges) as Range[]).map((r) => [r, t(r)] as const)}
          onChange={(r) => go(withQuery({ range: r === "month" ? undefined : r }), "replace")}
        />
      </header>
      <Await of={activity} lines={6}>
        {(a) => {
          const common = { times: a.buckets.map((b) => b.from), bucket: a.bucket as "hour" | "day" };
          return (
            <div class="activity">
              <div>
                <h2>{t("learning")}</h2>
                <Bars
                  {...common}
                  label={t("learning")}
                  series={[
                    { name: t("facts"), colour: "c1", values: a.buckets.map((b) => b.facts) },
                    { name: t("perceptions"), colour: "c6", values: a.buckets.map((b) => b.perceptions) },
                  ]}
                />
              </div>
              <div>
                <h2>{t("recalled")}</h2>
                <Bars
                  {...common}
                  label={t("recalled")}
                  series={[
                    { name: t("found"), colour: "c3", values: a.buckets.map((b) => b.recalls - b.zero_hits) },
                    { name: t("nothing"), colour: "c2", values: a.buckets.map((b) => b.zero_hits) },
                  ]}
                />
              </div>
            </div>
          );
        }}
      </Await>
    </section>
  );
}

function Health({ s }: { s: Answer<"stats"> }) {
  const received = (s.streams ?? []).reduce((sum, x) => sum + x.received, 0);
  const dropped = (s.streams ?? []).reduce((sum, x) => sum + x.dropped, 0);
  return (
    <section class="card">
      <header>
        <h2>{t("health")}</h2>
        <a href="/doctor">{t("checkup")}</a>
      </header>
      <ul class="health">
        <Line good={s.backlog === 0} name={t("embedder")}>
          {s.embedder === "none" ? t("noEmbedder") : `${s.embedder}, ${s.backlog > 0 ? t("backlog", { n: number(s.backlog) }) : t("noBacklog")}`}
        </Line>
        <Line good={s.disk_free_bytes > lowDisk} name={t("disk")}>
          {t("diskText", { used: bytes(s.db_bytes + s.stored_bytes), free: bytes(s.disk_free_bytes) })}
        </Line>
        {s.to_compare > 0 && (
          <Line good name={t("features")}>
            {t("comparing", { n: number(s.to_compare) })}
          </Line>
        )}
        {received > 0 && (
          <Line good={dropped === 0} name={t("streams")}>
            {dropped === 0 ? t("noDrops", { n: number(received) }) : t("drops", { n: number(received), dropped: number(dropped) })}
          </Line>
        )}
      </ul>
    </section>
  );
}

function Line({ good, name, children }: { good: boolean; name: string; children: ComponentChildren }) {
  return (
    <li>
      <span class={`mark ${good ? "good" : "warn"}`}>
        <Icon name={good ? "check" : "warn"} size={16} />
      </span>
      <span>
        <b>{name}</b> {children}
      </span>
    </li>
  );
}

function Collections() {
  const collections = useAsk("collections", {}, { live: 5000 });
  return (
    <section class="card">
      <header>
        <h2>{t("collections")}</h2>
      </header>
      <Await of={collections}>
        {(c) => {
          const most = Math.max(...c.collections.map((x) => x.active), 1);
          return (
            <ul class="shares">
              {c.collections.map((x) => (
                <li key={x.collection}>
                  <a href={`/search?collection=${encodeURIComponent(x.collection)}`}>{x.collection}</a>
                  <meter aria-label={x.collection} value={x.active} max={most} />
                  <span class="number">{number(x.active)}</span>
                </li>
              ))}
            </ul>
          );
        }}
      </Await>
    </section>
  );
}
