import assert from "node:assert/strict";
import { test } from "node:test";
import { events, Problem, target } from "./client";

const stream = (...chunks: string[]) => new Response(new Blob(chunks).stream());

/** A response whose body comes in the given pieces. */
function pieces(...chunks: string[]): Response {
  const encoder = new TextEncoder();
  return new Response(
    new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(encoder.encode(chunk));
        controller.close();
      },
    }),
  );
}

async function all(res: Response): Promise<string[]> {
  const out: string[] = [];
  for await (const { event, data } of events(res)) out.push(`${event} ${data}`);
  return out;
}

test("path, query and body of a request", () => {
  assert.deepEqual(target("get", { memory_id: 7 }), { method: "GET", url: "/api/memory/7", rest: {} });
  assert.deepEqual(target("session", { session_id: "a/b c" }), {
    method: "GET",
    url: "/api/sessions/a%2Fb%20c",
    rest: {},
  });
  assert.deepEqual(target("update", { memory_id: 7, new_content: "x" }), {
    method: "PUT",
    url: "/api/memory/7",
    rest: { new_content: "x" },
  });
  const { url } = target("list", {
    limit: 5,
    tags: ["a", "b"],
    context_filter: { x: 1 },
    cursor: undefined,
    type: "",
    session_id: null,
  });
  assert.equal(url, "/api/memories?limit=5&tags=a&tags=b&context_filter=%7B%22x%22%3A1%7D");
});

test("events of a stream", async () => {
  assert.deepEqual(await all(stream("event: progress\ndata: {}\n\ndata: one\ndata: two\n\n: a comment\n\n")), [
    "progress {}",
    "message one\ntwo",
  ]);
});

test("events that come in pieces", async () => {
  assert.deepEqual(await all(pieces("event: res", "ult\nda", "ta: 1\n", "\n")), ["result 1"]);
  assert.deepEqual(await all(pieces("event: a\r\ndata: 1\r\n\r\nevent: b\r\ndata: 2\r\n\r\n")), ["a 1", "b 2"]);
});

test("a line end that is cut between two pieces", async () => {
  assert.deepEqual(await all(pieces("event: a\r\ndata: 1\r", "\n\r", "\n")), ["a 1"]);
});

test("problems of a response", async () => {
  const p = await Problem.of(
    new Response(JSON.stringify({ kind: "invalid", detail: "n is 0", field: "n" }), { status: 400 }),
  );
  assert.deepEqual([p.kind, p.message, p.status, p.field], ["invalid", "n is 0", 400, "n"]);
  const plain = await Problem.of(new Response("<html>", { status: 502, statusText: "Bad Gateway" }));
  assert.deepEqual([plain.kind, plain.message, plain.status], ["internal", "Bad Gateway", 502]);
});

test("problems on the way", () => {
  assert.equal(Problem.from(new TypeError("fetch failed")).kind, "unreachable");
  assert.equal(Problem.from(new DOMException("stopped", "AbortError")).kind, "aborted");
  assert.equal(Problem.from("text").message, "text");
  const p = new Problem("conflict", "x");
  assert.equal(Problem.from(p), p);
});
