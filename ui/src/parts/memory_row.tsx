// A memory in a list, and the small marks that stand beside it everywhere.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { previewURL, type Memory } from "../api/client";
import { summary } from "../app/summary";
import { ago, date, minute, moment, percent, texts } from "../app/text";
import { documentLabel } from "./document";
import { drawable } from "./drawable";
import { Icon, type IconName } from "./icons";
import { markedParts } from "./marked";
import { placeOf } from "./place";

const t = texts(
  {
    worked: "worked",
    failed: "failed",
    pinned: "pinned",
    superseded: "superseded",
    invalidated: "forgotten",
    at: "at {place}",
    sure: "{share} sure",
  },
  { worked: "成功", failed: "失败", pinned: "已固定", superseded: "已被取代", invalidated: "已遗忘", at: "位于 {place}", sure: "置信度 {share}" },
);

const fallbackCategory = "observation";

const icons: Record<string, IconName> = { visual: "image", tactile: "perceptions", auditory: "sound", proprioceptive: "path", procedural: "path", spatial: "cube" };

export function kindIcon(m: { type: string; perception_type?: string }): IconName {
  return m.type === "perception" ? (icons[m.perception_type ?? ""] ?? "perceptions") : "fact";
}

/** Whether a memory reports a success, undefined if that is unknown. */
export function outcome(m: Pick<Memory, "outcome">): boolean | undefined {
  return m.outcome === "success" ? true : m.outcome === "failure" ? false : undefined;
}

export function Outcome({ of }: { of: boolean | undefined }) {
  if (of === undefined) return null;
  return (
    <span class={`mark ${of ? "good" : "bad"}`}>
      <Icon name={of ? "check" : "cross"} size={13} />
      {t(of ? "worked" : "failed")}
    </span>
  );
}

export function Status({ of }: { of?: string }) {
  if (!of || of === "active") return null;
  return <span class="mark dim">{of === "superseded" ? t("superseded") : t("invalidated")}</span>;
}

/** What a fact is about; nothing for the category of what fits no other. */
export function Category({ of }: { of: string }) {
  return of === fallbackCategory ? null : <span class="chip">{of}</span>;
}

const agoUpTo = 7 * 86_400_000; // milliseconds; older times are told as a date

export function When({ time }: { time: string }) {
  return (
    <time dateTime={time} title={moment(time)}>
      {minute.value - new Date(time).getTime() < agoUpTo ? ago(time) : date(time)}
    </time>
  );
}

/** Marks the words of a question where a text holds them, also as beginnings. */
function Marked({ text, words }: { text: string; words: string }) {
  return <>{markedParts(text, words).map((part, i) => (i % 2 ? <mark key={i}>{part}</mark> : part))}</>;
}

/** A small picture of a perception; nothing where none can be drawn. */
export function Thumb({ m }: { m: Memory }) {
  const [gone, setGone] = useState(false);
  if (gone) return null;
  return <img class="row-thumb" src={previewURL(m.memory_id, 264, 148)} alt="" loading="lazy" decoding="async" onError={() => setGone(true)} />;
}

export function MemoryRow({ m, words = "", children }: { m: Memory; words?: string; children?: ComponentChildren }) {
  const where = placeOf(m.spatial);
  return (
    <article class={`row${m.status && m.status !== "active" ? " gone" : ""}`} data-memory={m.memory_id}>
      <span class="row-icon">
        <Icon name={kindIcon(m)} />
      </span>
      <div class="row-body">
        <a class="row-title" dir="auto" href={`/memory/${m.memory_id}`}>
          <Marked text={m.content} words={words} />
        </a>
        {m.type === "document" && <p class="row-summary">{documentLabel(m)}</p>}
        {m.type === "perception" && m.summary && m.summary !== m.content && <p class="row-summary">{summary(m.summary)}</p>}
        <p class="row-facts">
          <Outcome of={outcome(m)} />
          <Status of={m.status} />
          {m.pinned && (
            <span class="mark">
              <Icon name="pin" size={13} />
              {t("pinned")}
            </span>
          )}
          <Category of={m.category} />
          <span>{m.collection}</span>
          {where && <span>{t("at", { place: where })}</span>}
          <span title={String(m.confidence)}>{t("sure", { share: percent(m.confidence) })}</span>
          <When time={m.observed_at} />
          <span class="id">[{m.memory_id}]</span>
        </p>
        {children}
      </div>
      {drawable(m) && <Thumb m={m} />}
    </article>
  );
}
