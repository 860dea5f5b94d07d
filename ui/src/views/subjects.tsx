// What is known of a robot, an object, a place, a part or a person, and the list of them.

import type { Answer } from "../api/client";
import { go } from "../app/address";
import { useAsk } from "../app/ask";
import { moment, number } from "../app/text";
import { useTitle } from "../app/title";
import { Button } from "../parts/controls";
import { Await, Empty } from "../parts/states";
import { byKind, kindOf, placeOf, type Subject } from "./subjects_groups";
import { t } from "./subjects.text";

type Page = Answer<"about">;
type Line = NonNullable<Page["rules"]>[number];

export function Subjects() {
  const list = useAsk("about", {}, { live: 5000 });
  return (
    <>
      <div class="head">
        <h1>{t("title")}</h1>
        <FindSubject />
      </div>
      <p class="dim">{t("hint")}</p>
      <Await of={list} lines={8}>
        {(a) =>
          a.subjects?.length ? (
            <div class="subject-kinds">
              {byKind(a.subjects).map(([kind, subjects]) => (
                <section class="card" key={kind}>
                  <header>
                    <h2>{t(kind)}</h2>
                  </header>
                  <SubjectList subjects={subjects} />
                </section>
              ))}
            </div>
          ) : (
            <div class="card">
              <Empty icon="cube" title={t("none")}>
                {t("noneHint")}
              </Empty>
            </div>
          )
        }
      </Await>
    </>
  );
}

function FindSubject() {
  return (
    <form
      class="subject-find"
      onSubmit={(e) => {
        e.preventDefault();
        const name = String(new FormData(e.currentTarget).get("name")).trim();
        if (name) go(addressOf(name));
      }}
    >
      <input name="name" aria-label={t("find")} placeholder={t("find")} dir="auto" />
      <Button submit>{t("open")}</Button>
    </form>
  );
}

function addressOf(name: string): string {
  return "/subjects/" + encodeURIComponent(name);
}

function SubjectList({ subjects }: { subjects: readonly Subject[] }) {
  return (
    <ul class="subject-list">
      {subjects.map((s) => (
        <li key={s.name + s.kind}>
          <a dir="auto" href={addressOf(s.name)}>
            {s.name}
          </a>
          <span class="dim number">{number(s.memories)}</span>
        </li>
      ))}
    </ul>
  );
}

const kindNames = { robot: "isRobot", object: "isObject", place: "isPlace", part: "isPart", person: "isPerson" } as const;
const outcomes = [
  ["success", "nSuccess", "mark good"],
  ["failure", "nFailure", "mark bad"],
  ["partial", "nPartial", "mark warn"],
  ["unknown", "nUnknown", "dim"],
] as const;

export function SubjectView({ name }: { name: string }) {
  const page = useAsk("about", { subject: name, n: 10 }, { live: 5000 });
  useTitle(name);
  return (
    <Await of={page} lines={8}>
      {(a) => (
        <div class="stack">
          <SubjectHead a={a} name={name} />
          {a.memories === 0 ? (
            <div class="card">
              <Empty icon="cube" title={t("nothing")}>
                {a.notes?.join(" ")}
              </Empty>
            </div>
          ) : (
            <div class="subject-parts">
              <Lines title={t("current")} lines={a.current} />
              <Lines title={t("rules")} lines={a.rules} />
              <Lines title={t("worked")} lines={a.worked} />
              <Lines title={t("failed")} lines={a.failed} />
              {a.related && (
                <section class="card">
                  <header>
                    <h2>{t("related")}</h2>
                  </header>
                  <SubjectList subjects={a.related} />
                </section>
              )}
            </div>
          )}
        </div>
      )}
    </Await>
  );
}

function SubjectHead({ a, name }: { a: Page; name: string }) {
  const kind = kindOf(a.kind);
  const place = a.last_seen && placeOf(a.last_seen);
  return (
    <header>
      <h1 dir="auto">{a.subject ?? name}</h1>
      <p class="row-facts">
        <a href="/subjects">{t("all")}</a>
        {kind !== "other" && <span class="chip">{t(kindNames[kind])}</span>}
        {a.aliases && <span dir="auto">{t("also", { names: a.aliases.join(", ") })}</span>}
        <span>{a.memories === 1 ? t("memory") : t("memories", { n: number(a.memories) })}</span>
        {outcomes.map(([outcome, text, look]) => {
          const n = a.counts?.[outcome];
          return n ? (
            <span key={outcome} class={look}>
              {t(text, { n: number(n) })}
            </span>
          ) : null;
        })}
      </p>
      {a.last_seen && (
        <p class="row-facts">
          <span>
            {t("lastSeen")} <time dateTime={a.last_seen.observed_at}>{moment(a.last_seen.observed_at)}</time> {place && <bdi>{t("at", { place })}</bdi>}
          </span>
          <a href={`/memory/${a.last_seen.memory_id}`}>[{a.last_seen.memory_id}]</a>
        </p>
      )}
      {a.memories > 0 && a.notes?.map((note) => <p key={note} class="dim">{note}</p>)}
    </header>
  );
}

function Lines({ title, lines }: { title: string; lines?: Line[] }) {
  if (!lines?.length) return null;
  return (
    <section class="card">
      <header>
        <h2>{title}</h2>
      </header>
      <ul class="subject-lines">
        {lines.map((l) => (
          <li key={l.memory_id}>
            <a dir="auto" href={`/memory/${l.memory_id}`}>
              {l.line}
            </a>
            {l.memory_ids && (
              <span class="row-facts">
                {l.memory_ids.map((id) => (
                  <a key={id} href={`/memory/${id}`}>
                    [{id}]
                  </a>
                ))}
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
