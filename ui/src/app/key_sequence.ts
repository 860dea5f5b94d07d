// What a key of the whole dashboard does. Two keys, g and a letter, open a view.

const places: Record<string, string> = {
  h: "/",
  i: "/incidents",
  s: "/search",
  m: "/map",
  p: "/perceptions",
  e: "/sessions",
  b: "/subjects",
  d: "/doctor",
};

type Act = { kind: "go"; to: string } | { kind: "search" } | { kind: "keys" } | { kind: "walk"; step: 1 | -1 };

/**
 * What a key does after a prefix, and the prefix for the key that follows. A key that a view has taken is the view's.
 */
export function press(prefix: string, key: string, taken: boolean): { act?: Act; next: "" | "g" } {
  return { act: actOf(prefix, key, taken), next: key === "g" && prefix !== "g" ? "g" : "" };
}

function actOf(prefix: string, key: string, taken: boolean): Act | undefined {
  if (prefix === "g" && places[key]) return { kind: "go", to: places[key] };
  if (key === "/") return { kind: "search" };
  if (key === "?") return { kind: "keys" };
  if ((key !== "j" && key !== "k") || prefix === "g" || taken) return undefined;
  return { kind: "walk", step: key === "j" ? 1 : -1 };
}
