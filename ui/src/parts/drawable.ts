import type { Memory } from "../api/client";

/** Whether the node can draw a perception: what it could not read it sums up as bytes, text or keys. */
export function drawable(m: Pick<Memory, "sha256" | "status" | "summary" | "metadata">): boolean {
  const schema = (m.metadata as { schema?: unknown } | undefined)?.schema;
  return !!m.sha256 && !/^([\d,]+ bytes of |text, |JSON )/.test(m.summary) && !/\/(String|Log)$/.test(String(schema ?? ""));
}
