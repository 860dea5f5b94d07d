// The node's API, typed by its OpenAPI document.

import type { operations } from "./schema";
import { ask } from "../app/base";
import { routes } from "./routes";

export type Op = keyof typeof routes & keyof operations;

type Json<T> = T extends { content: { "application/json": infer J } } ? J : never;
type Part<T> = NonNullable<T> extends never ? unknown : NonNullable<T>;

/** Memories as the dashboard asks for them: whole, never in compact form. */
type Whole<T> = T extends { memories: (infer M)[] }
  ? Omit<T, "memories"> & { memories: Extract<M, { uid: string }>[] }
  : T;
/** What an operation answers. */
export type Answer<O extends Op> = operations[O]["responses"] extends { 200: infer R } ? Whole<Json<R>> : never;
/** What an operation takes: path, query and body as one object. */
export type Request<O extends Op> = Part<operations[O]["parameters"]["path"]> &
  Part<operations[O]["parameters"]["query"]> &
  Part<Json<NonNullable<operations[O]["requestBody"]>>>;

/** An error of the node, or of the way to it. */
export class Problem extends Error {
  constructor(
    readonly kind: string,
    detail: string,
    readonly status = 0,
    readonly field = "",
  ) {
    super(detail);
  }

  static from(e: unknown): Problem {
    if (e instanceof Problem) return e;
    if (e instanceof DOMException && e.name === "AbortError") return new Problem("aborted", e.message);
    if (e instanceof TypeError) return new Problem("unreachable", e.message); // what fetch throws
    return new Problem("internal", e instanceof Error ? e.message : String(e));
  }

  static async of(res: Response): Promise<Problem> {
    try {
      const p = await res.json();
      return new Problem(p.kind ?? "internal", p.detail ?? res.statusText, res.status, p.field ?? "");
    } catch {
      return new Problem("internal", res.statusText || String(res.status), res.status);
    }
  }
}

export function target(
  op: Op,
  request: Record<string, unknown>,
): { method: string; url: string; rest: Record<string, unknown> } {
  const [method, path] = routes[op];
  const rest = { ...request };
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return encodeURIComponent(String(value));
  });
  if (method !== "GET" && method !== "DELETE") return { method, url, rest };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(rest)) {
    if (value === undefined || value === "" || value === null) continue;
    if (Array.isArray(value)) for (const v of value) query.append(name, String(v));
    else query.set(name, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  const q = query.toString();
  return { method, url: q ? `${url}?${q}` : url, rest: {} };
}

async function send(op: Op, request: object, accept: string, signal?: AbortSignal): Promise<Response> {
  const { method, url, rest } = target(op, request as Record<string, unknown>);
  const init: RequestInit = { method, headers: { Accept: accept }, signal };
  if (method !== "GET" && method !== "DELETE") {
    init.body = JSON.stringify(rest);
    init.headers = { ...init.headers, "Content-Type": "application/json" };
  }
  try {
    return await ask(url, init);
  } catch (e) {
    throw Problem.from(e);
  }
}

/** Calls an operation. Throws a Problem and nothing else. */
export async function call<O extends Op>(op: O, request: Request<O>, signal?: AbortSignal): Promise<Answer<O>> {
  const res = await send(op, request as object, "application/json", signal);
  if (!res.ok) throw await Problem.of(res);
  try {
    return (await res.json()) as Answer<O>;
  } catch (e) {
    throw Problem.from(e);
  }
}

export interface Progress {
  done: number;
  total: number;
  unit?: string;
  stage?: string;
}

/** Calls an operation that takes long, and says how far it is. */
export async function callLong<O extends Op>(
  op: O,
  request: Request<O>,
  progress: (p: Progress) => void,
  signal?: AbortSignal,
): Promise<Answer<O>> {
  const res = await send(op, request as object, "text/event-stream", signal);
  if (!res.ok) throw await Problem.of(res);
  if (!res.headers.get("Content-Type")?.startsWith("text/event-stream")) return (await res.json()) as Answer<O>;
  for await (const { event, data } of events(res)) {
    if (event === "progress") progress(JSON.parse(data) as Progress);
    if (event === "result") return JSON.parse(data) as Answer<O>;
    if (event === "problem") {
      const p = JSON.parse(data);
      throw new Problem(p.kind, p.detail, p.status, p.field);
    }
  }
  throw new Problem("unreachable", "the answer ended before its result");
}

/** The events of a stream as WHATWG HTML has them: event, data, blank line. */
export async function* events(res: Response): AsyncGenerator<{ event: string; data: string }> {
  const reader = res.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      let event = "message";
      const data: string[] = [];
      for (const line of block.split("\n")) {
        const [, name, text] = /^(\w+): ?(.*)$/.exec(line) ?? [];
        if (name === "event") event = text ?? "";
        if (name === "data") data.push(text ?? "");
      }
      if (data.length > 0) yield { event, data: data.join("\n") };
    }
  }
}

/** Where the bytes of a perception are. */
export const dataURL = (id: number) => `/api/memory/${id}/data`;

/** Where a picture of a perception is, at most width x height pixels. */
export const previewURL = (id: number, width: number, height: number) =>
  `/api/memory/${id}/preview?width=${width}&height=${height}`;

export type Memory = Answer<"get">;
export type Session = Answer<"sessions">["sessions"][number];
