// The pages of the dashboard: their addresses, and their entries in the navigation.

import { route } from "./app/address";
import { texts } from "./app/text";
import type { IconName } from "./parts/icons";
import { Empty } from "./parts/states";
import { Doctor } from "./views/doctor";
import { Home } from "./views/home";
import { MapView } from "./views/map";
import { MemoryView } from "./views/memory";
import { Perceptions } from "./views/perceptions";
import { Compare, SessionView } from "./views/session";
import { Search } from "./views/search";
import { Sessions } from "./views/sessions";

const t = texts(
  { nowhere: "There is no such page", nowhereHint: "The address may be from another version." },
  { nowhere: "没有这个页面", nowhereHint: "该地址可能来自其他版本。" },
);

/** The pages with an entry in the navigation, in its order. */
export const pages: [path: string, name: "home" | "search" | "perceptions" | "sessions" | "map" | "doctor", icon: IconName][] = [
  ["/", "home", "home"],
  ["/search", "search", "search"],
  ["/perceptions", "perceptions", "perceptions"],
  ["/sessions", "sessions", "sessions"],
  ["/map", "map", "map"],
  ["/doctor", "doctor", "doctor"],
];

/** Which entry of the navigation the address belongs to. */
export function entryOf(path: string): string {
  if (path.startsWith("/memory/")) return "/search";
  return "/" + (path.split("/")[1] ?? "");
}

/** The page that the address names. */
export function Page() {
  const { parts } = route.value;
  const [name = "", id = ""] = parts;
  if (parts.length === 0) return <Home />;
  if (parts.length === 2) {
    if (name === "memory" && /^\d+$/.test(id)) return <MemoryView key={id} id={Number(id)} />;
    if (name === "sessions" && id === "compare") return <Compare />;
    if (name === "sessions") return <SessionView key={id} id={id} />;
  }
  if (parts.length === 1) {
    if (name === "search") return <Search />;
    if (name === "perceptions") return <Perceptions />;
    if (name === "sessions") return <Sessions />;
    if (name === "map") return <MapView />;
    if (name === "doctor") return <Doctor />;
  }
  return <Empty title={t("nowhere")}>{t("nowhereHint")}</Empty>;
}
