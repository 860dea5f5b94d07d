// The filters that are set, each with a way to take it off.

import type { ComponentChildren } from "preact";
import { number, percent } from "../app/text";
import { Icon } from "../parts/icons";
import type { Condition, Question } from "./search_query";
import { t } from "./search.text";

const signs: Record<Condition["op"], string> = { $eq: "=", $ne: "≠", $gte: "≥", $lte: "≤", $exists: "" };

export const conditionText = (c: Condition) => (c.op === "$exists" ? `${c.path} ${t(c.value ? "exists" : "absent")}` : `${c.path} ${signs[c.op]} ${typeof c.value === "string" ? c.value : JSON.stringify(c.value)}`);

export function Given({ q, set }: { q: Question; set: (q: Question) => void }) {
  const chips: { text: string; without: Question }[] = [];
  for (const [name, value] of Object.entries(q.fields)) {
    if (value) chips.push({ text: name === "session_id" ? `${t("session")} ${value.slice(-6)}` : value, without: { ...q, fields: { ...q.fields, [name]: undefined } } });
  }
  for (const tag of q.tags) chips.push({ text: "#" + tag, without: { ...q, tags: q.tags.filter((x) => x !== tag) } });
  if (q.outcome !== undefined) chips.push({ text: t(q.outcome ? "worked" : "failed"), without: { ...q, outcome: undefined } });
  if (q.after) chips.push({ text: `${t("from")} ${q.after}`, without: { ...q, after: undefined } });
  if (q.before) chips.push({ text: `${t("until")} ${q.before}`, without: { ...q, before: undefined } });
  if (q.confidence > 0) chips.push({ text: `≥ ${percent(q.confidence)}`, without: { ...q, confidence: 0 } });
  q.conditions.forEach((c, i) => chips.push({ text: conditionText(c), without: { ...q, conditions: q.conditions.filter((_, j) => j !== i) } }));
  if (q.place) {
    const near = `${q.place.field} ≈ ${q.place.target.map((n) => number(n, 2)).join(", ")}`;
    chips.push({ text: q.place.radius ? `${near}, ${t("within", { r: number(q.place.radius, 3) })}` : near, without: { ...q, place: undefined } });
  }
  if (chips.length === 0) return null;
  return (
    <ul class="given">
      {chips.map((c) => (
        <li key={c.text}>
          <Chip text={c.text} onClick={() => set(c.without)} />
        </li>
      ))}
      <li>
        <button type="button" class="button quiet" onClick={() => set({ query: q.query, fields: {}, tags: [], confidence: 0, conditions: [] })}>
          {t("clear")}
        </button>
      </li>
    </ul>
  );
}

function Chip({ text, onClick }: { text: ComponentChildren; onClick: () => void }) {
  return (
    <button type="button" class="chip given-chip" aria-label={t("remove", { what: String(text) })} onClick={onClick}>
      {text}
      <Icon name="cross" size={13} />
    </button>
  );
}
