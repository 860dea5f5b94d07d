// Keys of the whole dashboard. A view adds its own while it is shown.

import { useLayoutEffect } from "preact/hooks";
import { signal } from "@preact/signals";
import { go } from "./address";

/** Whether the list of keys is shown. */
export const keysShown = signal(false);

const places: Record<string, string> = { h: "/", i: "/incidents", s: "/search", m: "/map", p: "/perceptions", e: "/sessions", d: "/doctor" };

let prefix = "";

export function typing(e: KeyboardEvent): boolean {
  const el = e.target as HTMLElement | null;
  return !!el && (el.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(el.tagName));
}

/** Goes to the next title of the lists of a page, or to the one before. */
export function walk(step: number): void {
  const titles = [...document.querySelectorAll<HTMLElement>("#main a.row-title, #main .incident-groups a")].filter((e) => e.checkVisibility());
  const at = titles.indexOf(document.activeElement as HTMLElement);
  const next = titles[Math.min(Math.max(at + step, 0), titles.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

let awaited = false; // the search field is asked for, but its view is still being fetched

/** Puts the cursor into the search field, at once or when its view is there. */
export function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>("[data-search]");
  awaited = !field;
  field?.focus();
  field?.select();
}

/** A search field is there now. */
export function searchShown(): void {
  if (awaited) focusSearch();
}

document.addEventListener("keydown", (e) => {
  if (e.metaKey || e.ctrlKey || e.altKey || typing(e) || document.querySelector("dialog[open]")) return;
  if (prefix === "g" && places[e.key]) {
    e.preventDefault();
    go(places[e.key]!);
  } else if (e.key === "/") {
    e.preventDefault();
    focusSearch();
  } else if (e.key === "?") {
    keysShown.value = true;
  } else if ((e.key === "j" || e.key === "k") && prefix !== "g" && ![...own].some((keys) => keys[e.key])) {
    e.preventDefault();
    walk(e.key === "j" ? 1 : -1);
  }
  prefix = e.key === "g" && prefix !== "g" ? "g" : "";
});

/** Keys of the views that are shown. */
const own = new Set<Record<string, () => void>>();

/** Keys of a view: name of the key -> what it does. They rest while something is typed. They hold as soon as the view is shown. */
export function useKeys(keys: Record<string, () => void>): void {
  useLayoutEffect(() => {
    const press = (e: KeyboardEvent) => {
      if (e.metaKey || e.ctrlKey || e.altKey || typing(e) || prefix === "g" || document.querySelector("dialog[open]")) return;
      const f = keys[e.key];
      if (!f) return;
      e.preventDefault();
      f();
    };
    document.addEventListener("keydown", press);
    own.add(keys);
    return () => {
      document.removeEventListener("keydown", press);
      own.delete(keys);
    };
  });
}
