import { effect, signal, type Signal } from "@preact/signals";

/** A setting of this browser. One of the values allowed, else the default. */
export function stored<T extends string>(name: string, standard: T, allowed: readonly T[]): Signal<T> {
  const key = "robotmem." + name;
  let first: T = standard;
  try {
    const kept = localStorage.getItem(key) as T | null;
    if (kept && allowed.includes(kept)) first = kept;
  } catch {
    // a browser without storage starts from the default each time
  }
  const s = signal<T>(first);
  let changed = false;
  effect(() => {
    const value = s.value;
    if (!changed) {
      changed = true; // the default is not written: it may follow the system
      return;
    }
    try {
      localStorage.setItem(key, value);
    } catch {
      // as above
    }
  });
  return s;
}
