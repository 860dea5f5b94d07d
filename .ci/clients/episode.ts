// One episode through types made from the OpenAPI document: what the compiler
// lets pass, the node takes, and what it answers is what the types say.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

type Memory = components["schemas"]["Memory"];
type Problem = components["schemas"]["Problem"];

const address = process.argv[2];
if (!address) throw new Error("give the address of a node");
const node = createClient<paths>({ baseUrl: address });

function must<T>(answer: { data?: T; error?: Problem | undefined }): T {
  if (answer.data === undefined) throw new Error(`refused: ${JSON.stringify(answer.error)}`);
  return answer.data;
}

function expect(ok: boolean, what: string): void {
  if (!ok) throw new Error(`not so: ${what}`);
}

const { session_id } = must(await node.POST("/api/sessions", { body: { collection: "ts", context: { task: { name: "grip" } } } }));
const learnt = must(
  await node.POST("/api/learn", {
    body: { insight: "grip_force=12.5 N holds the wet glass", session_id, context: { task: { success: true }, spatial: { position: [0.4, 0.1] } } },
  }),
);
expect(learnt.status === "created" && learnt.conflicts.length === 0, "the fact is new");

const found = must(
  await node.POST("/api/recall", {
    body: {
      query: "wet glass", collection: "ts", n: 3, context_filter: { "task.success": true },
      spatial_sort: { field: "spatial.position", target: [0.4, 0.2], max_distance: 1 },
    },
  }),
);
const best = found.memories[0] as Memory | undefined;
expect(found.total === 1 && best?.memory_id === learnt.memory_id && Math.abs((best.distance ?? 9) - 0.1) < 1e-9, "it is found, 0.1 away");

const saved = must(await node.POST("/api/perceptions", { body: { description: "finger force", perception_type: "tactile", data: "t,Fz\n0,8\n1,3\n", media_type: "text/csv", session_id } }));
const path = { memory_id: saved.memory_id };
const bytes = must(await node.GET("/api/memory/{memory_id}/data", { params: { path }, headers: { Accept: "*/*" }, parseAs: "text" }));
expect(String(bytes) === "t,Fz\n0,8\n1,3\n", "the bytes come back");

const page = must(await node.GET("/api/memories", { params: { query: { collection: "ts", limit: 1, status: "all" } } }));
expect(page.total === 2 && page.memories.length === 1, "a page of two memories");
const forgotten = must(await node.DELETE("/api/memory/{memory_id}", { params: { path: { memory_id: learnt.memory_id }, query: { reason: "the glass was dry" } } }));
expect(forgotten.status === "forgotten", "forgotten");
must(await node.POST("/api/memory/{memory_id}/restore", { params: { path: { memory_id: learnt.memory_id } } }));
const { summary } = must(await node.POST("/api/sessions/{session_id}/end", { params: { path: { session_id } }, body: { outcome_score: 1, used_memory_ids: [learnt.memory_id] } }));
expect(summary.facts === 1 && summary.perceptions === 1 && summary.outcome_score === 1, "the summary counts what was lived");

const refused = await node.POST("/api/recall", { body: { query: "glass", diversity: 2 } });
expect(refused.error?.kind === "invalid" && refused.error.field === "diversity", "a refusal is a problem that names its field");
console.log(`typescript: ${summary.text}`);
