// What the title of the tab says: the view's own words, else the name of its entry in the navigation.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

const longest = 80; // characters

export const title = signal("");

/** Names what the view shows, as long as it is shown. */
export function useTitle(text: string | undefined): void {
  useEffect(() => {
    if (!text) return;
    const words = text.length > longest ? text.slice(0, longest - 1) + "…" : text;
    title.value = words;
    return () => {
      if (title.peek() === words) title.value = "";
    };
  }, [text]);
}
