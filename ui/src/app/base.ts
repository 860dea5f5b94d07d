// The path at which the node is reached: a proxy may serve it below one, such as /robotmem. Paths
// within the dashboard are written from its own root, and get the base where they leave it: links and
// sources when they are made into elements, requests here.

import { options } from "preact";

/** "" at the root of a host. */
export const base = document.querySelector<HTMLMetaElement>('meta[name="robotmem-base"]')?.content ?? "";

/** A path of the dashboard as the browser asks for it. */
export const outside = (path: string): string => base + path;

/** A path of the browser as the dashboard knows it; undefined for one of others. */
export function inside(path: string): string | undefined {
  if (!path.startsWith(base)) return undefined;
  const rest = path.slice(base.length);
  return rest.startsWith("/") ? rest : rest === "" || rest.startsWith("?") ? `/${rest}` : undefined;
}

/** fetch of a path of the node. */
export const ask = (path: string, init?: RequestInit): Promise<Response> => fetch(outside(path), init);

if (base) {
  const before = options.vnode;
  options.vnode = (vnode) => {
    if (typeof vnode.type === "string") {
      const props = vnode.props as { href?: unknown; src?: unknown; poster?: unknown };
      for (const name of ["href", "src", "poster"] as const) {
        const value = props[name];
        if (typeof value === "string" && value.startsWith("/")) props[name] = outside(value);
      }
    }
    before?.(vnode);
  };
}
