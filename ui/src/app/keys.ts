// Keys of the whole dashboard. A view adds its own while it is shown.

import { useLayoutEffect } from "preact/hooks";
import { signal } from "@preact/signals";
import { go } from "./address";
import { press } from "./key_sequence";

/** Whether the list of keys is shown. */
export const keysShown = signal(false);

let prefix = ""; // the key before, if it begins a sequence

export function typing(e: KeyboardEvent): boolean {
  const el = e.target as HTMLElement | null;
  return !!el && (el.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(el.tagName));
}

/** Goes to the next title of the lists of a page, or to the one before. */
export function walk(step: number): void {
  const titles = [...document.querySelectorAll<HTMLElement>("#main a.row-title, #main .incident-groups a")].filter(
    (e) => e.checkVisibility(),
  );
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

  const { act, next } = press(
    prefix,
    e.key,
    [...own].some((keys) => keys[e.key]),
  );
  prefix = next;
  if (!act) return;

  if (act.kind !== "keys") e.preventDefault();
  if (act.kind === "go") go(act.to);
  if (act.kind === "search") focusSearch();
  if (act.kind === "keys") keysShown.value = true;
  if (act.kind === "walk") walk(act.step);
});

/** Keys of the views that are shown. */
const own = new Set<Record<string, () => void>>();

/**
 * Keys of a view: name of the key -> what it does. They rest while something is typed. They hold as soon as the view
 * is shown.
 */
export function useKeys(keys: Record<string, () => void>): void {
  useLayoutEffect(() => {
    const press = (e: KeyboardEvent) => {
      if (e.metaKey || e.ctrlKey || e.altKey || typing(e) || prefix === "g" || document.querySelector("dialog[open]"))
        return;
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
