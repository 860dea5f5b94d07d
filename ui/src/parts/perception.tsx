import { previewURL, type Memory } from "../api/client";

export function Perception({ m }: { m: Memory }) {
  return <img src={previewURL(m.memory_id, 960, 420)} alt={m.summary} />;
}
