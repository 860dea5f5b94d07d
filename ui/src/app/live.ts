// What the node tells by itself: that its file has changed.

import { signal } from "@preact/signals";

/** Grows when the memory has changed, by this node or by another process. */
export const change = signal(0);

/** Whether the node can be reached. */
export const online = signal(true);

/** Ends what follow began. */
export function follow(): () => void {
  const source = new EventSource("/api/events");
  source.addEventListener("change", (e) => {
    online.value = true;
    change.value = JSON.parse((e as MessageEvent<string>).data).change;
  });
  source.onopen = () => (online.value = true);
  source.onerror = () => (online.value = false); // the browser tries again by itself
  return () => source.close();
}
