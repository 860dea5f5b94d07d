// The frame around every view: where to go, the search field, language and theme.

import { useEffect } from "preact/hooks";
import { change, online } from "./app/live";
import { keysShown, focusSearch } from "./app/keys";
import { go, route } from "./app/router";
import { lang, texts } from "./app/text";
import { theme } from "./app/theme";
import { Button, Dialog, Toasts } from "./parts/controls";
import { Icon, type IconName } from "./parts/icons";
import { Empty } from "./parts/states";
import { Access, Leave } from "./access";
import { Doctor } from "./views/doctor";
import { Home } from "./views/home";
import { MapView } from "./views/map";
import { MemoryView } from "./views/memory";
import { Perceptions } from "./views/perceptions";
import { Compare, SessionView } from "./views/session";
import { Search } from "./views/search";
import { Sessions } from "./views/sessions";

const t = texts(
  {
    home: "Home",
    search: "Search",
    perceptions: "Perceptions",
    sessions: "Episodes",
    map: "Map",
    doctor: "Doctor",
    skip: "Skip to the content",
    find: "Search the memory",
    live: "Live: changes appear by themselves",
    offline: "The node does not answer",
    theme: "Theme: {theme}",
    auto: "as the system",
    light: "light",
    dark: "dark",
    language: "中文",
    keys: "Keys",
    nowhere: "There is no such page",
    nowhereHint: "The address may be from another version.",
    keySearch: "search",
    keyGo: "home, search, perceptions, episodes, map, doctor",
    keyMove: "next and previous in a list",
    keyOpen: "open",
    keyHelp: "this list",
    main: "Views",
  },
  {
    home: "概览",
    search: "搜索",
    perceptions: "感知",
    sessions: "会话",
    map: "地图",
    doctor: "体检",
    skip: "跳到正文",
    find: "搜索记忆",
    live: "实时：变化会自动出现",
    offline: "节点没有应答",
    theme: "主题：{theme}",
    auto: "跟随系统",
    light: "浅色",
    dark: "深色",
    language: "English",
    keys: "快捷键",
    nowhere: "没有这个页面",
    nowhereHint: "该地址可能来自其他版本。",
    keySearch: "搜索",
    keyGo: "概览、搜索、感知、会话、地图、体检",
    keyMove: "列表中的下一个与上一个",
    keyOpen: "打开",
    keyHelp: "本列表",
    main: "视图",
  },
);

const views: [path: string, name: "home" | "search" | "perceptions" | "sessions" | "map" | "doctor", icon: IconName][] = [
  ["/", "home", "home"],
  ["/search", "search", "search"],
  ["/perceptions", "perceptions", "perceptions"],
  ["/sessions", "sessions", "sessions"],
  ["/map", "map", "map"],
  ["/doctor", "doctor", "doctor"],
];

/** Which entry of the navigation the address belongs to. */
function place(path: string): string {
  if (path.startsWith("/memory/")) return "/search";
  return "/" + (path.split("/")[1] ?? "");
}

function View() {
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

export function Shell() {
  const { path } = route.value;
  const here = place(path);
  useEffect(() => {
    document.documentElement.lang = lang.value === "zh" ? "zh-CN" : "en";
  }, [lang.value]);
  useEffect(() => {
    const entry = views.find(([to]) => to === here);
    document.title = entry ? `${t(entry[1])} · robotmem` : "robotmem";
  }, [here, lang.value]);
  // What had the focus is gone with its view: the next Tab goes on in the new one.
  useEffect(() => {
    if (document.activeElement === document.body) document.getElementById("main")?.focus({ preventScroll: true });
  }, [path]);
  return (
    <Access>
      <a class="skip" href="#main">
        {t("skip")}
      </a>
      <header class="top">
        <a class="brand" href="/" aria-label="robotmem">
          <img src="/icon.svg" width="26" height="26" alt="" />
          <span>robotmem</span>
        </a>
        {path !== "/search" && <FindField />}
        <span class="top-space" />
        <Live />
        <Leave />
        <Button kind="quiet" icon="keyboard" label={t("keys")} onClick={() => (keysShown.value = true)} />
        <Button
          kind="quiet"
          icon={({ auto: "auto", light: "sun", dark: "moon" } as const)[theme.value]}
          label={t("theme", { theme: t(theme.value) })}
          onClick={() => (theme.value = ({ auto: "light", light: "dark", dark: "auto" } as const)[theme.value])}
        />
        <button type="button" class="button quiet" lang={lang.value === "zh" ? "en" : "zh"} onClick={() => (lang.value = lang.value === "zh" ? "en" : "zh")}>
          {t("language")}
        </button>
      </header>
      <nav class="side" aria-label={t("main")}>
        {views.map(([to, name, icon]) => (
          <a key={to} href={to} aria-current={to === here ? "page" : undefined}>
            <Icon name={icon} size={20} />
            <span>{t(name)}</span>
          </a>
        ))}
      </nav>
      <main id="main" tabIndex={-1}>
        <View />
      </main>
      <Toasts />
      {keysShown.value && <Keys />}
    </Access>
  );
}

/** The search field of the head: what is typed goes on in the search view. */
function FindField() {
  return (
    <form
      class="find"
      role="search"
      onSubmit={(e) => {
        e.preventDefault();
        go("/search?q=" + encodeURIComponent(new FormData(e.currentTarget).get("q") as string));
        setTimeout(focusSearch);
      }}
    >
      <Icon name="search" />
      <input type="search" name="q" data-search aria-label={t("find")} placeholder={t("search")} autocomplete="off" />
      <kbd>/</kbd>
    </form>
  );
}

function Live() {
  void change.value;
  const title = t(online.value ? "live" : "offline");
  return (
    <span class={`live${online.value ? "" : " off"}`} role="status" title={title}>
      <span class="live-dot" key={change.value} />
      <span class={online.value ? "hidden" : "live-text"}>{title}</span>
    </span>
  );
}

function Keys() {
  const rows: [string, "keySearch" | "keyGo" | "keyMove" | "keyOpen" | "keyHelp"][] = [
    ["/", "keySearch"],
    ["g h · s · p · e · m · d", "keyGo"],
    ["j k", "keyMove"],
    ["Enter", "keyOpen"],
    ["?", "keyHelp"],
  ];
  return (
    <Dialog title={t("keys")} onClose={() => (keysShown.value = false)}>
      <dl class="keys">
        {rows.map(([keys, name]) => (
          <div key={name}>
            <dt>
              {keys.split(" ").map((k) => (k === "·" ? <span class="dim"> · </span> : <kbd>{k}</kbd>))}
            </dt>
            <dd>{t(name)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
