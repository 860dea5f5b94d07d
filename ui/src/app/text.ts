// Words on the screen, in two languages. Each view keeps its own beside it.

import { signal } from "@preact/signals";
import { stored } from "./stored";

export type Lang = "en" | "zh";

export const lang = stored<Lang>("lang", navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en", ["en", "zh"]);

type Values = Record<string, string | number>;

/** A dictionary as a function: t("found", {n: 3}) fills in {n}. What zh lacks does not compile. */
export function texts<const E extends Record<string, string>>(en: E, zh: { [K in keyof E]: string }) {
  return (key: keyof E, values?: Values): string => fill((lang.value === "zh" ? zh : en)[key], values);
}

/** A text with its values, {name} or {0} of a list. */
export function fill(text: string, values?: Values): string {
  return values ? text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole)) : text;
}

/** The present minute, for times that say how long ago. */
export const minute = signal(Date.now());
setInterval(() => (minute.value = Date.now()), 30_000);

const locale = () => (lang.value === "zh" ? "zh-CN" : "en-GB");

/** Formats are dear to make, and a cursor that moves writes many numbers a frame. */
const formats = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat>();

export function numberFormat(o: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = locale() + JSON.stringify(o);
  const f = formats.get(key) ?? new Intl.NumberFormat(locale(), o);
  formats.set(key, f);
  return f as Intl.NumberFormat;
}

function dateFormat(o: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = locale() + "," + JSON.stringify(o);
  const f = formats.get(key) ?? new Intl.DateTimeFormat(locale(), o);
  formats.set(key, f);
  return f as Intl.DateTimeFormat;
}

export function number(n: number, digits = 0): string {
  return numberFormat({ maximumFractionDigits: digits, signDisplay: "negative" }).format(n);
}

/** To three digits that count, however small. */
export function significant(n: number): string {
  return numberFormat({ maximumSignificantDigits: 3, signDisplay: "negative" }).format(n);
}

export function percent(share: number): string {
  return numberFormat({ style: "percent", maximumFractionDigits: share < 0.1 ? 1 : 0 }).format(share);
}

export function bytes(n: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  for (; Math.round(n) >= 1024 && i < units.length - 1; i++) n /= 1024;
  return `${number(n, i === 0 || n >= 100 ? 0 : 1)} ${units[i]}`;
}

/** Whether a time is of a clock that began at 0, such as that of a simulation: no date then. */
export const simulated = (time: string | Date): boolean => Math.abs(new Date(time).getTime()) < firstDate;

const firstDate = Date.UTC(1980, 0);

/** A time of a simulation: seconds since it began. */
const ofSimulation = (time: string | Date): string => `${number(new Date(time).getTime() / 1000, 3)} s`;

/** Date and time of the viewer's own zone, to the second. */
export function moment(time: string | Date): string {
  if (simulated(time)) return ofSimulation(time);
  return dateFormat({ dateStyle: "medium", timeStyle: "medium" }).format(new Date(time));
}

export function date(time: string | Date): string {
  if (simulated(time)) return ofSimulation(time);
  return dateFormat({ dateStyle: "medium" }).format(new Date(time));
}

export function day(time: string | Date): string {
  if (simulated(time)) return ofSimulation(time);
  return dateFormat({ month: "short", day: "numeric" }).format(new Date(time));
}

type Unit = "year" | "month" | "day" | "hour" | "minute";

/** Units of time with their lengths in seconds. */
const spans: [Unit, number][] = [
  ["year", 31557600],
  ["month", 2629800],
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
];

/**
 * The largest unit that a time fills, once it is rounded to the next smaller unit: 3599 s are an hour, not 60 minutes.
 */
function largestUnit(seconds: number, units: [Unit, number][]): [Unit, number] | undefined {
  return units.find(([, length], i) => {
    const smaller = units[i + 1]?.[1] ?? 1;
    return Math.round(seconds / smaller) * smaller >= length;
  });
}

/** How long ago, in the largest unit that fits. */
export function ago(time: string | Date): string {
  if (simulated(time)) return ofSimulation(time);
  const seconds = (new Date(time).getTime() - minute.value) / 1000;
  const format = new Intl.RelativeTimeFormat(locale(), { numeric: "auto" });
  const [unit, length] = largestUnit(Math.abs(seconds), spans) ?? [];
  return unit ? format.format(Math.round(seconds / length!), unit) : format.format(0, "second");
}

/** A time that has passed, in the largest whole unit: 6 days. Nothing for less than a minute. */
export function span(seconds: number): string {
  const [unit, length] = largestUnit(seconds, spans.slice(2)) ?? [];
  return unit
    ? numberFormat({ style: "unit", unit, unitDisplay: "long", maximumFractionDigits: 0 }).format(seconds / length!)
    : "";
}

const ordinals = new Intl.PluralRules("en", { type: "ordinal" });

/** 3rd, in Chinese the number alone. */
export function ordinal(n: number): string {
  const endings = { one: "st", two: "nd", few: "rd", other: "th", zero: "th", many: "th" };
  return lang.value === "zh" ? number(n) : number(n) + endings[ordinals.select(n)];
}

export function duration(seconds: number): string {
  if (seconds === 0) return "0 s";
  if (Math.round(seconds * 1000) < 1000) return `${number(seconds * 1000)} ms`;

  const whole = Math.round(seconds);
  if (whole < 60) return `${number(seconds, seconds < 10 ? 1 : 0)} s`;
  if (whole < 3600) return two(whole, 60, "min", "s");

  const minutes = Math.round(seconds / 60);
  if (minutes < 24 * 60) return two(minutes, 60, "h", "min");
  return `${number(seconds / 86400, 1)} d`;
}

/** n small units as large ones and the rest, which is left out when it is none. */
function two(n: number, size: number, large: string, small: string): string {
  const rest = n % size;
  return rest === 0 ? `${n / size} ${large}` : `${Math.floor(n / size)} ${large} ${rest} ${small}`;
}
