// Why a memory is among the answers: its place in every ranked list, and what
// the stages of the recall kept.

import type { Answer, Memory } from "../api/client";
import { number, percent, significant, texts } from "../app/text";
import { likeness } from "./likeness";

const t = texts(
  {
    text: "text",
    bm25: "words",
    vector: "meaning",
    place: "place",
    likeness: "likeness",
    time: "time",
    rank: "{list} #{rank}",
    away: "{n} away",
    relevance: "{share} relevant",
    relevanceMeans: "Estimated probability that this memory answers the question: {share}. The bar shows the same number.",
    scoreMeans: "Score as a share of the best result of this answer, which has 100 %. Nothing is known of how well it answers the question.",
    textValue: "score {n}",
    bm25Value: "BM25 {n}",
    vectorValue: "cosine {n}",
    placeValue: "distance {n}",
    likenessValue: "distance {n}",
    hybrid: "by words and meaning",
    bm25_only: "by words",
    vec_only: "by meaning",
    structured: "by structure",
    stages: "What each stage kept",
    score: "{share} of the best",
  },
  {
    text: "文本",
    bm25: "词语",
    vector: "语义",
    place: "位置",
    likeness: "相似",
    time: "时间",
    rank: "{list} 第 {rank}",
    away: "相距 {n}",
    relevance: "相关度 {share}",
    relevanceMeans: "估计该记忆能回答问题的概率：{share}。条形表示同一数值。",
    scoreMeans: "相对于本次最佳结果（100 %）的得分，并不表示它能否回答问题。",
    textValue: "得分 {n}",
    bm25Value: "BM25 {n}",
    vectorValue: "余弦 {n}",
    placeValue: "距离 {n}",
    likenessValue: "距离 {n}",
    hybrid: "按词语与语义",
    bm25_only: "按词语",
    vec_only: "按语义",
    structured: "按结构",
    stages: "各阶段保留数量",
    score: "最佳的 {share}",
  },
);

type List = "text" | "bm25" | "vector" | "place" | "likeness" | "time";

const knownLists: readonly string[] = ["text", "bm25", "vector", "place", "likeness", "time"];

export function Why({ m }: { m: Memory }) {
  if (m.score === undefined && m.distance === undefined) return null;
  const measure = measured(m);
  return (
    <p class="why">
      {measure && (
        <span class="why-score" title={measure.means}>
          <meter aria-label={measure.text} value={measure.value} max={1} />
          <span class="number">{measure.text}</span>
        </span>
      )}
      {m.found?.map((f) => {
        const known = knownLists.includes(f.list);
        const list = known ? t(f.list as List) : f.list;
        const value = known && f.list !== "time" ? t(`${f.list as Exclude<List, "time">}Value`, { n: significant(f.value) }) : "";
        return (
          <span key={f.list} class="why-list" title={value}>
            {t("rank", { list, rank: f.rank + 1 })} {value && <span class="why-value">{value}</span>}
          </span>
        );
      })}
      {m.distance !== undefined && <span>{t("away", { n: significant(m.distance) })}</span>}
    </p>
  );
}

const tells = 0.5; // a smaller probability tells nothing of a result that stands where it stands

/** The one number that the bar and the words tell: how relevant it is, if it likely is; where that is unknown, how near to the best result; where distance orders, neither. */
function measured(m: Memory): { value: number; text: string; means: string } | undefined {
  if (m.relevance && m.relevance < tells) return undefined;
  if (m.relevance) return { value: m.relevance, text: t("relevance", { share: percent(m.relevance) }), means: t("relevanceMeans", { share: percent(m.relevance) }) };
  if (m.distance !== undefined || m.score === undefined || likeness(m) !== undefined) return undefined;
  return { value: m.score, text: t("score", { share: percent(m.score) }), means: t("scoreMeans") };
}

const modes = ["hybrid", "bm25_only", "vec_only", "structured"] as const;

export function mode(text: string): string {
  const known = modes.find((m) => m === text);
  return known ? t(known) : text;
}

export function Stages({ of }: { of: Answer<"recall"> }) {
  if (!of.stages?.length) return null;
  return (
    <details class="stages">
      <summary>{t("stages")}</summary>
      <ol>
        {of.stages.map((s) => (
          <li key={s.stage}>
            <span>{s.stage}</span>
            <span class="number">{number(s.kept)}</span>
            <span class="dim number">{number(s.ms, 2)} ms</span>
          </li>
        ))}
      </ol>
    </details>
  );
}
