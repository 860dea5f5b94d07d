// Made from the OpenAPI document by generate.mjs.

/** Method and path of every operation. */
export const routes = {
  categories: ["GET", "/api/categories"],
  collections: ["GET", "/api/collections"],
  data: ["GET", "/api/memory/{memory_id}/data"],
  doctor: ["GET", "/api/doctor"],
  end_session: ["POST", "/api/sessions/{session_id}/end"],
  forget: ["DELETE", "/api/memory/{memory_id}"],
  get: ["GET", "/api/memory/{memory_id}"],
  history: ["GET", "/api/memory/{memory_id}/history"],
  learn: ["POST", "/api/learn"],
  learn_batch: ["POST", "/api/learn/batch"],
  list: ["GET", "/api/memories"],
  preview: ["GET", "/api/memory/{memory_id}/preview"],
  recall: ["POST", "/api/recall"],
  recent_failures: ["GET", "/api/recent-failures"],
  repair: ["POST", "/api/repair"],
  restore: ["POST", "/api/memory/{memory_id}/restore"],
  retain: ["POST", "/api/retain"],
  save_perception: ["POST", "/api/perceptions"],
  search: ["GET", "/api/search"],
  session_memories: ["GET", "/api/sessions/{session_id}/memories"],
  sessions: ["GET", "/api/sessions"],
  start_session: ["POST", "/api/sessions"],
  stats: ["GET", "/api/stats"],
  update: ["PUT", "/api/memory/{memory_id}"],
} as const;
