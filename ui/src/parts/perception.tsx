import type { Signal } from "@preact/signals";
import { previewURL, type Memory } from "../api/client";

export function Perception({ m }: { m: Memory; cursor?: Signal<number | undefined>; height?: number; bare?: boolean }) {
  return <img src={previewURL(m.memory_id, 960, 420)} alt={m.summary} />;
}
