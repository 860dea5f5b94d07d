// The pages of the dashboard: their addresses, and their entries in the navigation.
// The lists of failures come with the first file; the other views follow when one is shown.

import { useEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { Problem } from "./api/client";
import { route } from "./app/address";
import { online } from "./app/live";
import { texts } from "./app/text";
import { type IconName } from "./parts/icons";
import { Empty, ErrorBox, Loading } from "./parts/states";
import { Home } from "./views/home";
import { Incidents } from "./views/incidents";

const t = texts(
  { nowhere: "There is no such page", nowhereHint: "The address may be from another version." },
  { nowhere: "没有这个页面", nowhereHint: "该地址可能来自其他版本。" },
);

/** The pages with an entry in the navigation, in its order. */
export const pages: [path: string, name: "home" | "search" | "incidents" | "perceptions" | "sessions" | "subjects" | "map" | "doctor", icon: IconName][] = [
  ["/", "home", "home"],
  ["/incidents", "incidents", "warn"],
  ["/search", "search", "search"],
  ["/perceptions", "perceptions", "perceptions"],
  ["/sessions", "sessions", "sessions"],
  ["/subjects", "subjects", "cube"],
  ["/map", "map", "map"],
  ["/doctor", "doctor", "doctor"],
];

/** Which entry of the navigation the address belongs to. */
export function entryOf(path: string): string {
  if (path.startsWith("/memory/")) return "/search";
  if (path.startsWith("/incident/")) return "/incidents";
  return "/" + (path.split("/")[1] ?? "");
}

type Views = (parts: string[]) => preact.ComponentChild;

const fetched: { views?: Views } = {};

/** The page that the address names. */
export function Page() {
  const { parts } = route.value;
  if (parts.length === 0) return <Home />;
  if (parts.length === 1 && parts[0] === "incidents") return <Incidents />;
  return <Other parts={parts} />;
}

/** A page whose code is fetched first. A tab older than the node does not find it: it is loaded again. */
function Other({ parts }: { parts: string[] }) {
  const error = useSignal<Problem | undefined>(undefined);
  const there = useSignal(!!fetched.views);
  useEffect(() => {
    if (there.value) return;
    import("./views").then(
      (m) => {
        fetched.views = m.view;
        there.value = true;
      },
      (e) => (error.value = Problem.from(e)),
    );
  }, []);
  // The page goes on by itself once the node answers again.
  const gone = useRef(false);
  useEffect(() => {
    if (!online.value) gone.current = true;
    else if (gone.current && error.value) location.reload();
  }, [online.value, error.value]);
  if (error.value) return <ErrorBox error={error.value} again={() => location.reload()} />;
  if (!there.value) return <Loading lines={8} />;
  return <>{fetched.views!(parts) ?? <Empty title={t("nowhere")}>{t("nowhereHint")}</Empty>}</>;
}
