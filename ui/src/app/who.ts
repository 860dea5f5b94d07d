// Who looks: a token of a name, that may change things or only read.

import { ask } from "./base";
import { signal } from "@preact/signals";

export interface Who {
  name?: string;
  read_only?: boolean;
  required?: boolean;
}

export const who = signal<Who>({});

/** Finds out who looks: false when the node asks for a token first. */
export async function meet(): Promise<boolean> {
  const res = await ask("/api/whoami");
  if (res.status === 401) return false;
  if (res.ok) who.value = (await res.json()) as Who;
  return true;
}
