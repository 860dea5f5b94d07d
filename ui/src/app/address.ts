// Which view the address names. Addresses are the state worth sharing: a search
// with its filters can be sent to a colleague.

import { computed, signal } from "@preact/signals";
import { inside, outside } from "./base";

const here = () => (inside(location.pathname) ?? "/") + location.search;

const address = signal(here());

/** A part of a path; as it is, if it is not encoded properly. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Path and query of the present address. */
export const route = computed(() => {
  const url = new URL(address.value, location.origin);
  const parts = url.pathname.split("/").filter(Boolean).map(decoded);
  return { path: url.pathname, parts, query: url.searchParams };
});

// The place of a page is kept with its entry of the history: what it lists comes after the browser
// would go there by itself.
history.scrollRestoration = "manual";

const patience = 4000; // milliseconds for a list to be as long as it was
const steady = 500; // milliseconds without a change of its height

function keepPlace(): void {
  history.replaceState({ ...history.state, y: scrollY }, "");
}

let placing = 0;

/**
 * Scrolls to where the page was, as soon as it is long enough, and holds the place while what loads
 * above it still moves it, unless the user scrolls first.
 */
function findPlace(): void {
  const y = typeof history.state?.y === "number" ? (history.state.y as number) : 0;
  const turn = ++placing;
  const until = performance.now() + patience;
  let [height, grown] = [0, performance.now()];
  const step = () => {
    const now = performance.now();
    if (turn !== placing) return;
    if (document.documentElement.scrollHeight !== height)
      [height, grown] = [document.documentElement.scrollHeight, now];
    const reached = y <= height - innerHeight;
    if (reached || now > until) scrollTo(0, y);
    if (y > 0 && now < until && !(reached && now - grown > steady)) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

for (const name of ["wheel", "touchstart", "pointerdown", "keydown"])
  addEventListener(name, () => placing++, { passive: true });

let resting = 0;
addEventListener(
  "scroll",
  () => {
    clearTimeout(resting);
    resting = window.setTimeout(keepPlace, 150);
  },
  { passive: true },
);

/** Goes to another address of the dashboard. */
export function go(to: string, how: "push" | "replace" = "push"): void {
  if (to === address.peek()) return;
  if (how === "push") {
    keepPlace();
    clearTimeout(resting);
    placing++;
    history.pushState(null, "", outside(to));
    scrollTo(0, 0);
  } else {
    history.replaceState(history.state, "", outside(to));
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

addEventListener("popstate", () => {
  clearTimeout(resting); // it was of the page that is left
  address.value = here();
  findPlace();
});
findPlace(); // of a page that is loaded again

// Links stay links: they can be opened in a tab, copied and read by a screen reader.
document.addEventListener("click", (e) => {
  if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
  const a = (e.target as Element | null)?.closest("a");
  const href = a?.getAttribute("href");
  const to = href?.startsWith("/") ? inside(href) : undefined;
  if (!a || to === undefined || a.target || a.hasAttribute("download") || to.startsWith("/api/")) return;
  e.preventDefault();
  go(to);
});
