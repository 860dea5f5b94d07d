// The recordings that this page sends to the node, and what becomes of them.

import { signal } from "@preact/signals";
import { call, Problem, type Answer } from "../api/client";
import { outside } from "../app/base";
import { who } from "../app/who";
import type { Recording } from "./recordings";

export type Import = Answer<"import_status">;

export interface About {
  robot: string;
  map_id: string;
  collection: string;
}

export interface Item extends Recording {
  key: number;
  stage: "chosen" | "waiting" | "sending" | "sent";
  /** Bytes that have left, and how many a second. */
  sent: number;
  rate: number;
  import?: Import;
  error?: Problem;
}

export const items = signal<Item[]>([]);

/** Whether the window of imports is open. */
export const shown = signal(false);

/** Why this node takes nothing from this page; undefined if it does. */
export const refused = signal<Problem | undefined>(undefined);

/** Why files were not taken, as texts say it. */
export const emptyHanded = signal(false);

const ended = (i: Item) => !!i.error || !!i.import?.ended_at;

/** The item that is on its way, with how much of it is done. */
export function running(): { item: Item; share?: number } | undefined {
  const item = items.value.find((i) => i.stage !== "chosen" && !ended(i));
  if (!item) return undefined;
  if (item.stage !== "sent") return { item, share: item.size > 0 ? item.sent / item.size : undefined };
  const { done, total } = item.import ?? {};
  return { item, share: done && total ? done / total : undefined };
}

let keys = 0;
let busy = false;
let abort: (() => void) | undefined; // of the request that sends

const change = (key: number, next: Partial<Item>) => {
  items.value = items.value.map((i) => (i.key === key ? { ...i, ...next } : i));
};

/** Opens the window with recordings to import. */
export function offer(recordings: Recording[]): void {
  emptyHanded.value = recordings.length === 0;
  // The newest stand first: what became of earlier ones may be long.
  items.value = [...recordings.map((r): Item => ({ ...r, key: ++keys, stage: "chosen", sent: 0, rate: 0 })), ...items.value];
  open();
}

/** Opens the window, and asks what the node takes. */
export function open(): void {
  shown.value = true;
  void allowed().then((problem) => (refused.value = problem));
}

async function allowed(): Promise<Problem | undefined> {
  if (who.value.read_only) return new Problem("forbidden", "", 403);
  try {
    const { read_only } = await call("imports", {});
    return read_only ? new Problem("unavailable", read_only) : undefined;
  } catch (e) {
    return Problem.from(e);
  }
}

/** Sends what was chosen, one recording after the other. */
export async function start(about: About): Promise<void> {
  items.value = items.value.map((i) => (i.stage === "chosen" ? { ...i, stage: "waiting" } : i));
  if (busy) return;
  busy = true;
  for (let next = waiting(); next; next = waiting()) await send(next, about);
  busy = false;
}

const waiting = () => items.value.find((i) => i.stage === "waiting");

async function send(item: Item, about: About): Promise<void> {
  change(item.key, { stage: "sending" });
  try {
    // A node that refuses while bytes are on their way closes the connection, and its reason would be lost.
    const { limit_bytes, held_bytes } = await call("imports", {});
    if (item.size > limit_bytes - held_bytes) throw new Problem("too_large", "", 413, String(limit_bytes - held_bytes));
    const sent = await post(item, about);
    change(item.key, { stage: "sent", import: sent });
    void follow(item.key, sent.import_id);
  } catch (e) {
    change(item.key, { error: Problem.from(e) });
  }
}

function post(item: Item, about: About): Promise<Import> {
  const query = new URLSearchParams({ name: item.name, ...(item.folder ? { folder: "true" } : {}) });
  for (const [name, value] of Object.entries(about)) if (value.trim()) query.set(name, value.trim());
  let body: FormData | File = item.files[0]!;
  if (item.folder) {
    body = new FormData();
    for (const file of item.files) body.append("file", file, file.name);
  }

  return new Promise((done, fail) => {
    // fetch tells no progress of what it sends.
    const request = new XMLHttpRequest();
    const began = performance.now();
    request.open("POST", outside(`/api/imports?${query}`));
    if (!item.folder) request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.onprogress = (e) => {
      const seconds = (performance.now() - began) / 1000;
      change(item.key, { sent: Math.min(e.loaded, item.size), rate: seconds > 0.2 ? e.loaded / seconds : 0 });
    };
    request.onload = () => {
      if (request.status === 202) return done(JSON.parse(request.responseText) as Import);
      void Problem.of(new Response(request.responseText, { status: request.status })).then(fail);
    };
    request.onerror = () => fail(new Problem("unreachable", "the connection ended while the file was sent"));
    request.onabort = () => fail(new Problem("aborted", ""));
    abort = () => request.abort();
    request.send(body);
  });
}

const pause = 300; // milliseconds between two questions

/** Asks how far an import is until it has ended. */
async function follow(key: number, id: string): Promise<void> {
  for (;;) {
    try {
      const now = await call("import_status", { import_id: id });
      change(key, { import: now });
      if (now.ended_at) return;
    } catch (e) {
      const error = Problem.from(e);
      // A node that restarts has forgotten it; one that is not reached may come back.
      if (error.kind !== "unreachable") return change(key, { error });
    }
    await new Promise((next) => setTimeout(next, pause));
  }
}

/** Ends an import, or takes a recording back that was chosen. */
export async function cancel(item: Item): Promise<void> {
  if (item.stage === "chosen" || item.stage === "waiting" || ended(item)) {
    items.value = items.value.filter((i) => i.key !== item.key);
  } else if (item.stage === "sending") {
    abort?.();
  } else if (item.import) {
    try {
      change(item.key, { import: await call("cancel_import", { import_id: item.import.import_id }) });
    } catch (e) {
      change(item.key, { error: Problem.from(e) });
    }
  }
}

/** Tries a recording again that failed. */
export function again(item: Item): void {
  change(item.key, { stage: "chosen", sent: 0, rate: 0, error: undefined, import: undefined });
}
