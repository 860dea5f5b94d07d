// What the node tells by itself: that its file has changed. A browser opens six
// connections to a host for all its tabs together, so the tabs share one stream:
// the one that holds the lock listens and tells the others.

import { signal } from "@preact/signals";
import { ask, outside } from "./base";

/** Grows when the memory has changed, by this node or by another process. 0 before it is known. */
export const change = signal(0);

/** Whether the node can be reached. */
export const online = signal(true);

const again = 2000; // milliseconds before a stream that was refused is asked for again

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
  let source = new EventSource(outside("/api/events"));
  const tell = (news: News) => {
    take(news);
    channel.postMessage(news);
  };
  const heard = (e: Event) => tell({ change: JSON.parse((e as MessageEvent<string>).data).change, online: true });
  // A stream that ends may mean that the node is gone, or that it asks for a token now: the node says.
  const lost = async () => {
    const answers = await ask("/api/whoami").then(() => true, () => false);
    tell({ change: change.peek(), online: answers });
    if (source.readyState !== EventSource.CLOSED) return; // else the browser tries again by itself
    await new Promise((done) => setTimeout(done, again));
    source = new EventSource(outside("/api/events"));
    attend();
  };
  const attend = () => {
    source.addEventListener("ready", heard);
    source.addEventListener("change", heard);
    source.onerror = () => void lost();
  };
  attend();
  channel.onmessage = (e) => {
    if (e.data === "ask") channel.postMessage({ change: change.peek(), online: online.peek() });
  };
  return new Promise(() => {});
}
