// What the node tells by itself: that its file has changed. A browser opens six
// connections to a host for all its tabs together, so the tabs share one stream:
// the one that holds the lock listens and tells the others.

import { signal } from "@preact/signals";

/** Grows when the memory has changed, by this node or by another process. 0 before it is known. */
export const change = signal(0);

/** Whether the node can be reached. */
export const online = signal(true);

interface News {
  change: number;
  online: boolean;
}

const channel = new BroadcastChannel("robotmem");

function take(news: News): void {
  online.value = news.online;
  if (news.change > 0) change.value = news.change;
}

/** Follows the node until the page is closed. */
export function follow(): void {
  channel.onmessage = (e: MessageEvent<News | "ask">) => {
    if (e.data !== "ask") take(e.data);
  };
  channel.postMessage("ask");
  // Browsers give locks to secure addresses alone; elsewhere every tab listens.
  if (navigator.locks) void navigator.locks.request("robotmem-events", listen);
  else void listen();
}

/** Holds the stream, and with it the lock, for as long as the page lives. */
function listen(): Promise<never> {
  const source = new EventSource("/api/events");
  const tell = (news: News) => {
    take(news);
    channel.postMessage(news);
  };
  const heard = (e: Event) => tell({ change: JSON.parse((e as MessageEvent<string>).data).change, online: true });
  source.addEventListener("ready", heard);
  source.addEventListener("change", heard);
  source.onerror = () => tell({ change: change.peek(), online: false }); // the browser tries again by itself
  channel.onmessage = (e) => {
    if (e.data === "ask") channel.postMessage({ change: change.peek(), online: online.peek() });
  };
  return new Promise(() => {});
}
