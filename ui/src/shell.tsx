// The frame around every view: where to go, the search field, language and theme.

import { useEffect } from "preact/hooks";
import { change, online } from "./app/live";
import { keysShown, focusSearch } from "./app/keys";
import { go, route } from "./app/address";
import { lang, texts } from "./app/text";
import { theme } from "./app/theme";
import { title } from "./app/title";
import { Button, Dialog, Toasts } from "./parts/controls";
import { Icon } from "./parts/icons";
import { ImportButton, Imports } from "./imports/drop";
import { Access, Leave } from "./access";
import { Page, entryOf, pages } from "./pages";

const t = texts(
  {
    home: "Home",
    incidents: "Incidents",
    search: "Search",
    perceptions: "Perceptions",
    sessions: "Episodes",
    subjects: "Subjects",
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
    keySearch: "search",
    keyGo: "home, incidents, search, perceptions, episodes, subjects, map, doctor",
    keyMove: "next and previous in a list",
    keyOpen: "open",
    keyHelp: "this list",
    main: "Views",
  },
  {
    home: "概览",
    incidents: "故障",
    search: "搜索",
    perceptions: "感知",
    sessions: "回合",
    subjects: "对象",
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
    keySearch: "搜索",
    keyGo: "概览、故障、搜索、感知、回合、对象、地图、体检",
    keyMove: "列表中的下一个与上一个",
    keyOpen: "打开",
    keyHelp: "本列表",
    main: "视图",
  },
);

export function Shell() {
  const { path } = route.value;
  const here = entryOf(path);
  useEffect(() => {
    document.documentElement.lang = lang.value === "zh" ? "zh-CN" : "en";
  }, [lang.value]);
  useEffect(() => {
    const entry = pages.find(([to]) => to === here);
    const name = title.value || (entry && t(entry[1]));
    document.title = name ? `${name} · robotmem` : "robotmem";
  }, [here, lang.value, title.value]);
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
        <ImportButton />
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
        {pages.map(([to, name, icon]) => (
          <a key={to} href={to} aria-current={to === here ? "page" : undefined}>
            <Icon name={icon} size={20} />
            <span>{t(name)}</span>
          </a>
        ))}
      </nav>
      <main id="main" tabIndex={-1}>
        <Page />
      </main>
      <Toasts />
      <Imports />
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
    ["g h · i · s · p · e · b · m · d", "keyGo"],
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
