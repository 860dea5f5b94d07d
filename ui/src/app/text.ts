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

function fill(text: string, values?: Values): string {
  return values ? text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole)) : text;
}

/** The present minute, for times that say how long ago. */
export const minute = signal(Date.now());
setInterval(() => (minute.value = Date.now()), 30_000);

const locale = () => (lang.value === "zh" ? "zh-CN" : "en-GB");

export function number(n: number, digits = 0): string {
  return new Intl.NumberFormat(locale(), { maximumFractionDigits: digits }).format(n);
}

/** To three digits that count, however small. */
export function significant(n: number): string {
  return new Intl.NumberFormat(locale(), { maximumSignificantDigits: 3 }).format(n);
}

export function percent(share: number): string {
  return new Intl.NumberFormat(locale(), { style: "percent", maximumFractionDigits: share < 0.1 ? 1 : 0 }).format(share);
}

export function bytes(n: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return `${number(n, i === 0 || n >= 100 ? 0 : 1)} ${units[i]}`;
}

/** Date and time of the viewer's own zone, to the second. */
export function moment(time: string | Date): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "medium" }).format(new Date(time));
}

export function day(time: string | Date): string {
  return new Intl.DateTimeFormat(locale(), { month: "short", day: "numeric" }).format(new Date(time));
}

/** How long ago, in the largest unit that fits. */
export function ago(time: string | Date): string {
  const seconds = (new Date(time).getTime() - minute.value) / 1000;
  const steps: [Intl.RelativeTimeFormatUnit, number][] = [["year", 31557600], ["month", 2629800], ["day", 86400], ["hour", 3600], ["minute", 60]];
  const format = new Intl.RelativeTimeFormat(locale(), { numeric: "auto" });
  for (const [unit, length] of steps) {
    if (Math.abs(seconds) >= length) return format.format(Math.round(seconds / length), unit);
  }
  return format.format(0, "second");
}

export function duration(seconds: number): string {
  if (seconds === 0) return "0 s";
  if (seconds < 1) return `${number(seconds * 1000)} ms`;
  if (seconds < 60) return `${number(seconds, seconds < 10 ? 1 : 0)} s`;
  if (seconds < 3600) return two(Math.round(seconds), 60, "min", "s");
  if (seconds < 86400) return two(Math.round(seconds / 60), 60, "h", "min");
  return `${number(seconds / 86400, 1)} d`;
}

/** n small units as large ones and the rest, which is left out when it is none. */
function two(n: number, size: number, large: string, small: string): string {
  const rest = n % size;
  return rest === 0 ? `${n / size} ${large}` : `${Math.floor(n / size)} ${large} ${rest} ${small}`;
}
