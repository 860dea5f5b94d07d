import type { Memory } from "../api/client";

/** Whether the node can draw a perception: what it could not read it sums up as bytes, text or keys. */
export function drawable(m: Pick<Memory, "sha256" | "status" | "summary" | "metadata">): boolean {
  return !!m.sha256 && !/^([\d,]+ bytes of |text, |JSON )/.test(m.summary) && !messagesOnly(m);
}

/** Whether a recorded topic holds neither readings nor pictures: the browser decodes its messages. */
export function messagesOnly(m: Pick<Memory, "metadata">): boolean {
  const schema = String((m.metadata as { schema?: unknown } | undefined)?.schema ?? "");
  return /TFMessage|FrameTransform|Diagnostic|CompressedVideo|[/.](String|Log)$/.test(schema);
}
