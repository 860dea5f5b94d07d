// Stored texts may hold characters that are invisible or that change the order of their neighbours. They are
// shown as code points, as robotmem/visible.go shows them elsewhere. Values of inputs stay as they are.

import { options } from "preact";

const hidden = new RegExp(
  [
    "(?![\\t\\n\\r\\u0600-\\u0605\\u06dd\\u070f\\u0890\\u0891\\u08e2])", // these have a place or a glyph
    "(?!(?<=[\\p{L}\\p{M}\\p{S}])[\\u200c\\u200d](?=[\\p{L}\\p{M}\\p{S}]))", // joiners in emoji and words
    "(?!(?<=\\p{Script=Han})[\\u{e0100}-\\u{e01ef}])", // variants
    "(?!(?<=(?!\\p{Script=Latin})[\\p{L}\\p{S}\\p{N}\\p{P}])[\\ufe00-\\ufe0f\\u180b-\\u180d\\u180f])",
    "[\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}]",
  ].join(""),
  "gu",
);

export function visible(text: string): string {
  return text.replace(hidden, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`);
}

const shown = (child: unknown): unknown => (typeof child === "string" ? visible(child) : Array.isArray(child) ? child.map(shown) : child);

/** Shows the hidden characters of every text between tags. */
export function showHidden() {
  const before = options.vnode;
  options.vnode = (vnode) => {
    const props = vnode.props as { children?: unknown };
    if (typeof vnode.type === "string" && props.children !== undefined) props.children = shown(props.children);
    before?.(vnode);
  };
}
