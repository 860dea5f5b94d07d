// The window of imports: what was chosen, how far it is, and what was understood.

import { useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "../api/client";
import { useAsk } from "../app/ask";
import { bytes, number } from "../app/text";
import { Button, Dialog } from "../parts/controls";
import { Icon } from "../parts/icons";
import { ErrorBox } from "../parts/states";
import { t } from "./panel.text";
import { recordingsOf } from "./recordings";
import { Understood } from "./result";
import { again, cancel, emptyHanded, items, offer, refused, shown, start, type About, type Item } from "./sending";

export const panel = () => <Panel />;

function Panel() {
  const chosen = items.value.filter((i) => i.stage === "chosen");
  const problem = refused.value && explained(refused.value);
  return (
    <Dialog title={t("title")} wide onClose={() => (shown.value = false)}>
      <div class="imports" onClick={(e) => (e.target as HTMLElement).closest("a") && (shown.value = false)}>
        {problem ? (
          <ErrorBox error={problem} />
        ) : (
          <>
            <p class="dim">{t("how")}</p>
            <Choose />
            {emptyHanded.value && (
              <p class="mark warn" role="alert">
                {t("nothing")}
              </p>
            )}
          </>
        )}
        {!problem && chosen.length > 0 && <Start count={chosen.length} />}
        {items.value.length > 0 && (
          <ul class="imports-list">
            {items.value.map((i) => (
              <One key={i.key} item={i} />
            ))}
          </ul>
        )}
      </div>
    </Dialog>
  );
}

/** A refusal of the node, with what to do next. */
function explained(p: Problem): Problem {
  if (p.kind === "forbidden" && !p.message) return new Problem("forbidden", t("readOnly"), 403);
  if (p.kind === "not_found") return new Problem("forbidden", t("noImports"));
  if (p.kind === "unavailable" && !p.status) return new Problem("forbidden", t("nodeReadOnly", { why: p.message }));
  return p;
}

function Choose() {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (folder.current) folder.current.webkitdirectory = true; // no attribute that Preact knows
  }, []);
  const take = (input: HTMLInputElement) => {
    offer(recordingsOf([...(input.files ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file }))));
    input.value = ""; // the same file may be chosen again
  };
  return (
    <p class="imports-choose">
      <input ref={files} type="file" multiple hidden onChange={(e) => take(e.currentTarget)} />
      <input ref={folder} type="file" hidden onChange={(e) => take(e.currentTarget)} />
      <Button icon="upload" onClick={() => files.current?.click()}>
        {t("choose")}
      </Button>
      <Button onClick={() => folder.current?.click()}>{t("chooseFolder")}</Button>
    </p>
  );
}

function Start({ count }: { count: number }) {
  const collections = useAsk("collections", {}, { live: 0 });
  const [about, setAbout] = useState<About>({ robot: "", map_id: "", collection: "" });
  const field = (name: keyof About, label: string, hint?: string, list?: string) => (
    <label class="field">
      <span class="field-label">{label}</span>
      <input type="text" name={name} maxLength={name === "collection" ? 64 : 200} title={hint} list={list} value={about[name]} onInput={(e) => setAbout({ ...about, [name]: e.currentTarget.value })} autocomplete="off" spellcheck={false} />
    </label>
  );
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        void start(about);
      }}
    >
      <div class="imports-about">
        {field("robot", t("robot"))}
        {field("map_id", t("map"), t("mapHint"))}
        {field("collection", t("collection"), undefined, "imports-collections")}
        <datalist id="imports-collections">
          {collections.answer?.collections.map((c) => (
            <option key={c.collection} value={c.collection} />
          ))}
        </datalist>
      </div>
      <footer>
        <Button submit kind="main">
          {count === 1 ? t("import") : t("importAll", { n: number(count) })}
        </Button>
      </footer>
    </form>
  );
}

/** How far a recording is, with a share if it is known. */
function stateOf(i: Item): { text: string; share?: number; busy?: boolean; mark: "" | "good" | "bad" | "warn" } {
  const now = i.import;
  if (i.error) return i.error.kind === "aborted" ? { text: t("cancelled"), mark: "warn" } : { text: t("failed"), mark: "bad" };
  if (i.stage === "chosen") return { text: t("chosen"), mark: "" };
  if (i.stage === "waiting") return { text: t("waiting"), mark: "" };
  if (i.stage === "sending") {
    const values = { done: bytes(i.sent), size: bytes(i.size), rate: bytes(i.rate) };
    return { text: t(i.rate ? "sending" : "sendingSlow", values), share: i.size ? i.sent / i.size : undefined, busy: true, mark: "" };
  }
  if (!now || now.state === "queued" || now.state === "receiving") return { text: now?.ahead ? t("queued", { n: number(now.ahead) }) : t("queuedNext"), busy: true, mark: "" };
  if (now.state === "importing") {
    if (!now.done || !now.total) return { text: t("reading"), busy: true, mark: "" };
    return { text: t("importing", { done: number(now.done), total: number(now.total) }), share: now.done / now.total, busy: true, mark: "" };
  }
  if (now.state === "failed") return { text: t("failed"), mark: "bad" };
  if (now.state === "cancelled") return { text: t("cancelled"), mark: "warn" };
  if (now.result?.known) return { text: t("known"), mark: "good" };
  return { text: t("done"), mark: now.result?.broken ? "warn" : "good" };
}

function One({ item }: { item: Item }) {
  const { text, share, busy, mark } = stateOf(item);
  const now = item.import;
  return (
    <li class="imports-one" data-state={item.error ? "failed" : (now?.state ?? item.stage)}>
      <header>
        <div class="imports-head">
          <span class="imports-name">{item.name}</span>
          <span class="dim number">{bytes(item.size)}</span>
          <span class={`mark ${mark}`} aria-live="polite">
            {mark && <Icon name={mark === "good" ? "check" : "warn"} size={15} />}
            {text}
          </span>
        </div>
        <Button icon="cross" kind="quiet" label={busy ? t("cancel") : t("remove")} onClick={() => void cancel(item)} />
      </header>
      {busy && <progress value={share} max={1} aria-label={text} />}
      {item.error && <Failed item={item} error={item.error} />}
      {now?.error && <Failed item={item} error={new Problem(now.error.kind, now.error.detail, 0, "")} />}
      {now?.state === "cancelled" && <p class="dim">{t(now.result ? "cancelledText" : "stopped")}</p>}
      {now?.result && now.state !== "failed" && <Understood result={now.result} />}
    </li>
  );
}

function Failed({ item, error }: { item: Item; error: Problem }) {
  if (error.kind === "aborted") return <p class="dim">{t("stopped")}</p>;
  const told =
    error.kind === "too_large" && error.field
      ? new Problem("too_large", t("tooLarge", { size: bytes(item.size), room: bytes(Number(error.field)) }), 413)
      : error.kind === "unreachable"
        ? new Problem("unavailable", t("lost"))
        : new Problem(error.kind, error.message, error.status);
  return (
    <>
      <ErrorBox error={told} />
      <p>
        <Button icon="undo" onClick={() => again(item)}>
          {t("again")}
        </Button>
      </p>
    </>
  );
}
