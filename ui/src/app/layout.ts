// The choice and order of streams, kept for each collection in this browser. An address with streams=A,B goes before it.

import { useState } from "preact/hooks";
import { go, route, withQuery } from "./address";

export interface Layout {
  /** Names in the order in which they stand; others follow. */
  order: string[];
  hidden: string[];
}

const none: Layout = { order: [], hidden: [] };
const key = (collection: string) => "robotmem.layout." + collection;
const strings = (v: unknown): string[] => (Array.isArray(v) ? v.filter((x): x is string => typeof x === "string") : []);

function kept(collection: string): Layout {
  try {
    const v = JSON.parse(localStorage.getItem(key(collection)) ?? "{}") as Partial<Layout>;
    return { order: strings(v.order), hidden: strings(v.hidden) };
  } catch {
    return none;
  }
}

/** Sorts named things and says which of them are shown. */
export function laidOut<T extends { name: string }>(all: T[], l: Layout): { shown: T[]; rest: T[] } {
  const place = (x: T) => (l.order.includes(x.name) ? l.order.indexOf(x.name) : l.order.length);
  const sorted = [...all].sort((a, b) => place(a) - place(b)); // stable
  return { shown: sorted.filter((x) => !l.hidden.includes(x.name)), rest: sorted.filter((x) => l.hidden.includes(x.name)) };
}

/** The layout of a collection, and how to change it: both the browser and the address take the change. */
export function useLayout(collection: string, names: string[]): [Layout, (l: Layout | undefined) => void] {
  const [, again] = useState(0);
  const given = route.value.query.get("streams");
  const asked = given?.split(",").map((n) => {
    try {
      return decodeURIComponent(n);
    } catch {
      return n;
    }
  });
  const now = asked ? { order: asked, hidden: names.filter((n) => !asked.includes(n)) } : kept(collection);
  const set = (l: Layout | undefined) => {
    try {
      if (l) localStorage.setItem(key(collection), JSON.stringify(l));
      else localStorage.removeItem(key(collection));
    } catch {
      // a browser without storage keeps it in the address
    }
    const shown = l && [...l.order, ...names.filter((n) => !l.order.includes(n))].filter((n) => !l.hidden.includes(n));
    go(withQuery({ streams: shown?.map(encodeURIComponent).join(",") }), "replace");
    again((n) => n + 1);
  };
  return [now, set];
}
