// What came of the values that attempts chose, in words.

import type { Answer } from "../api/client";
import { at } from "../app/context";
import { lang, significant } from "../app/text";
import { t } from "./incident.text";

export type Advice = Answer<"advise">;
export type Parameter = Advice["parameters"][number];
type Record = Parameter["values"][number];

export interface Verdict {
  path: string;
  /** The value to try, in words. */
  good?: string;
  bad?: string;
  /** The value to try. */
  value?: unknown;
}

/** The words of a failure and of a success, where their texts say more than failed and worked. */
export interface Verbs {
  failed: string;
  worked: string;
}

export const failures =
  /\b(slipped|slips|dropped|jammed|stuck|collided|missed|fell|broke|tipped|overshot|stalled|crashed|spilled|lost)\b/i;

export const successes =
  /\b(held|holds|grasped|placed|inserted|reached|opened|arrived|docked|delivered|lifted|passed)\b/i;

const past: { [word: string]: string } = { slips: "slipped", holds: "held" };

export function verbs(said: string, success?: string): Verbs {
  const usual = { failed: t("failedWord"), worked: t("heldWord") };
  if (lang.value === "zh") return usual;
  const word = (text: string | undefined, of: RegExp) => of.exec(text ?? "")?.[1]?.toLowerCase();
  const bad = word(said, failures);
  const good = word(success, successes);
  return { failed: bad ? (past[bad] ?? bad) : usual.failed, worked: good ? (past[good] ?? good) : usual.worked };
}

export const named = (p: Parameter) => p.path.replace(/^params\./, "");

export function valueText(p: Parameter, r: Record): string {
  const unit = p.unit ? ` ${p.unit}` : "";
  if (r.value !== undefined) return typeof r.value === "number" ? significant(r.value) + unit : String(r.value);
  if (r.from === undefined || r.to === undefined) return "–";
  return r.from === r.to ? significant(r.from) + unit : `${significant(r.from)} … ${significant(r.to)}${unit}`;
}

const round = (n: number) => Math.round(n * 10) / 10;

export function sentence(p: Parameter, r: Record, v: Verbs, good = r.rate >= 0.5): string {
  const worked = r.successes ?? 0;
  return t("of", {
    value: valueText(p, r),
    verb: good ? v.worked : v.failed,
    n: round(good ? worked : r.attempts - worked),
    all: round(r.attempts),
  });
}

/** Parameters with more than one value, those that separate the outcomes first. */
export function ordered(a: Advice): Parameter[] {
  const place = (p: Parameter) => {
    const i = a.differs.findIndex((d) => d.path === p.path);
    return i < 0 ? a.differs.length : i;
  };
  return a.parameters.filter((p) => p.values.length > 1).sort((x, y) => place(x) - place(y));
}

/**
 * The suggestion of advise in words, with what came of the values beside it, and the value of this
 * failure, or the worst where this one did not fail by it. Nothing but advise recommends a value. A
 * value that failed in most attempts is no recommendation alone, even if a combination with it worked.
 */
export function verdict(a: Advice | undefined, v: Verbs, context?: unknown): Verdict | undefined {
  const all = a ? ordered(a) : [];
  const value = (p: Parameter) => a?.suggestion?.parameters[p.path];
  const worked = (p: Parameter) => (p.values.find((r) => holds(r, value(p)))?.rate ?? 1) >= 0.5;
  const p = all.find((p) => value(p) !== undefined && worked(p)) ?? all[0];
  if (!p) return undefined;
  const worst = [...p.values].sort((x, y) => x.high - y.high || x.rate - y.rate)[0]!;
  const mine = p.values.find((r) => r.rate < 0.5 && holds(r, at(context, p.path))) ?? worst;
  const bad = mine.rate < 0.5 ? sentence(p, mine, v) : undefined;
  return worked(p) ? { path: p.path, good: suggested(p, value(p), v), bad, value: value(p) } : { path: p.path, bad };
}

/** What the answer of advise does not show: that its differences may be chance, or that few attempts are near. */
export function doubt(a: Advice): "mayBeChance" | "fewNear" | undefined {
  if (a.evidence !== "weak") return undefined;
  return a.differs.some((d) => a.parameters.some((p) => p.path === d.path)) ? "fewNear" : "mayBeChance";
}

/** The values that advise suggests together, if they are of more than one parameter. */
export function together(a: Advice): string | undefined {
  const values = ordered(a).flatMap((p) => {
    const value = a.suggestion?.parameters[p.path];
    return value === undefined ? [] : [`${named(p)} ${typeof value === "number" ? significant(value) : String(value)}`];
  });
  return values.length > 1 ? values.join(", ") : undefined;
}

export function suggested(p: Parameter, value: unknown, v: Verbs): string | undefined {
  if (value === undefined) return undefined;
  const record = p.values.find((r) => holds(r, value));
  if (record?.value !== undefined) return sentence(p, record, v, true);
  const words = typeof value === "number" ? significant(value) : String(value);
  return record ? t("try", { value: words, evidence: sentence(p, record, v, true) }) : t("tryAlone", { value: words });
}

/** So many values with the most attempts, in their own order. What must be shown is among them. */
export function mostTried(of: Record[], most: number, shown: (r: Record) => boolean): Record[] {
  const weight = (r: Record) => (shown(r) ? Infinity : r.attempts);
  const kept = new Set([...of].sort((a, b) => (weight(b) > weight(a) ? 1 : weight(b) < weight(a) ? -1 : 0)).slice(0, most));
  return of.filter((r) => kept.has(r));
}

const numberOf = (v: unknown) => (typeof v === "number" ? v : parseFloat(String(v)));

export function holds(r: Record, value: unknown): boolean {
  if (value === undefined) return false;
  if (r.value !== undefined && typeof r.value !== "number") return r.value === value;
  const n = numberOf(value);
  return r.value !== undefined
    ? Math.abs((r.value as number) - n) < 1e-9
    : r.from !== undefined && r.to !== undefined && n >= r.from && n <= r.to;
}
