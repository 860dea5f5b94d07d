// The cursor and the zoom of a view, which stand in its address as at=T and zoom=FROM,TO.

import { effect, useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { go, route, withQuery } from "./address";

const settled = 250; // milliseconds without a change before the address follows: browsers limit its changes

type Stretch = [from: number, to: number];

export interface Moment {
  cursor: Signal<number | undefined>;
  view: Signal<Stretch | undefined>;
}

export function read(query: URLSearchParams): { at?: number; zoom?: Stretch } {
  const at = query.get("at");
  const zoom = query.get("zoom")?.split(",").map(Number) ?? [];
  return {
    at: at !== null && at !== "" && Number.isFinite(Number(at)) ? Number(at) : undefined,
    zoom: zoom.length === 2 && zoom.every(Number.isFinite) && zoom[1]! > zoom[0]! ? (zoom as Stretch) : undefined,
  };
}

export const exact = (n: number) => String(Math.round(n * 1e5) / 1e5);

/** Cursor and zoom of the address; it is replaced as they change, and they follow it backwards and forwards. */
export function useMoment(): Moment {
  const first = read(route.peek().query);
  const cursor = useSignal<number | undefined>(first.at);
  const view = useSignal<Stretch | undefined>(first.zoom);
  useEffect(() => {
    const path = route.peek().path;
    const mine = () => ({
      at: cursor.peek() === undefined ? undefined : exact(cursor.peek()!),
      zoom: view.peek()?.map(exact).join(","),
    });
    let timer = 0;
    let written: string | undefined = JSON.stringify({
      at: route.peek().query.get("at") ?? undefined,
      zoom: route.peek().query.get("zoom") ?? undefined,
    });
    const out = effect(() => {
      void cursor.value;
      void view.value;
      clearTimeout(timer);
      timer = window.setTimeout(() => {
        if (route.peek().path !== path) return;
        written = JSON.stringify(mine());
        go(withQuery(mine()), "replace");
      }, settled);
    });
    const back = effect(() => {
      const { query, path: now } = route.value;
      const there = JSON.stringify({ at: query.get("at") ?? undefined, zoom: query.get("zoom") ?? undefined });
      if (now !== path || there === written) return;
      written = there;
      const { at, zoom } = read(query);
      if (at !== undefined) cursor.value = at;
      view.value = zoom;
    });
    return () => {
      clearTimeout(timer);
      out();
      back();
    };
  }, []);
  return { cursor, view };
}
