import { effect, signal } from "@preact/signals";
import { stored } from "./stored";

export const theme = stored<"auto" | "light" | "dark">("theme", "auto", ["auto", "light", "dark"]);

const system = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(system.matches);
system.addEventListener("change", (e) => (systemDark.value = e.matches));

/** Whether the page is dark now. Canvases are drawn anew when it changes. */
export const dark = signal(false);

effect(() => {
  dark.value = theme.value === "dark" || (theme.value === "auto" && systemDark.value);
  document.documentElement.dataset.theme = dark.value ? "dark" : "light";
});

/** A colour of the style sheet, for what draws on a canvas. */
export function colour(name: string): string {
  void dark.value;
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}
