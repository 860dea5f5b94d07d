// Which view the address names. Addresses are the state worth sharing: a search
// with its filters can be sent to a colleague.

import { computed, signal } from "@preact/signals";

const address = signal(location.pathname + location.search);

/** Path and query of the present address. */
export const route = computed(() => {
  const url = new URL(address.value, location.origin);
  return { path: url.pathname, parts: url.pathname.split("/").filter(Boolean).map(decodeURIComponent), query: url.searchParams };
});

/** Goes to another address of the dashboard. */
export function go(to: string, how: "push" | "replace" = "push"): void {
  if (to === address.peek()) return;
  if (how === "push") {
    history.pushState(null, "", to);
    scrollTo(0, 0);
  } else {
    history.replaceState(null, "", to);
  }
  address.value = to;
}

/** The present address with other query values; undefined and "" leave one out. */
export function withQuery(values: Record<string, string | undefined>): string {
  const { path, query } = route.peek();
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(values)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  const q = next.toString();
  return q ? `${path}?${q}` : path;
}

addEventListener("popstate", () => (address.value = location.pathname + location.search));

// Links stay links: they can be opened in a tab, copied and read by a screen reader.
document.addEventListener("click", (e) => {
  if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
  const a = (e.target as Element | null)?.closest("a");
  const to = a?.getAttribute("href");
  if (!a || !to?.startsWith("/") || a.target || a.hasAttribute("download") || to.startsWith("/api/")) return;
  e.preventDefault();
  go(to);
});
