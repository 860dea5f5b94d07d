// A JSON value as a tree that opens and closes, each value with its path.

import { useState } from "preact/hooks";
import { Icon } from "./icons";

interface TreeProps {
  value: unknown;
  /** Path of the value itself, "" at the top. */
  path?: string;
  /** Called with the path and value that were clicked; no buttons without it. */
  onPick?: (path: string, value: unknown) => void;
  /** What a click on a value does, for its tooltip. */
  pickTitle?: string;
}

export function Tree({ value, path = "", onPick, pickTitle }: TreeProps) {
  const entries = Array.isArray(value) ? value.map((v, i) => [String(i), v] as const) : Object.entries(value as Record<string, unknown>);
  return (
    <ul class="tree">
      {entries.map(([key, v]) => (
        <Branch key={key} name={key} value={v} path={path ? `${path}.${key}` : key} onPick={onPick} pickTitle={pickTitle} />
      ))}
    </ul>
  );
}

const nested = (v: unknown): v is object => typeof v === "object" && v !== null && Object.keys(v).length > 0 && !numbers(v);
const numbers = (v: unknown): v is number[] => Array.isArray(v) && v.length <= 8 && v.every((n) => typeof n === "number");

function Branch({ name, value, path, onPick, pickTitle }: TreeProps & { name: string; path: string }) {
  const [open, setOpen] = useState(true);
  if (!nested(value)) {
    const text = numbers(value) ? `[${value.join(", ")}]` : typeof value === "string" ? value : JSON.stringify(value);
    return (
      <li>
        <span class="tree-key">{name}</span>
        {onPick ? (
          <button type="button" class={`tree-value${typeof value === "number" ? " number" : ""}`} dir="auto" title={pickTitle} onClick={() => onPick(path, value)}>
            {text}
          </button>
        ) : (
          <span class={`tree-value${typeof value === "number" ? " number" : ""}`} dir="auto">{text}</span>
        )}
      </li>
    );
  }
  return (
    <li>
      <button type="button" class="tree-fold" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? "down" : "forward"} size={13} />
        <span class="tree-key">{name}</span>
        {!open && <span class="dim">{Array.isArray(value) ? `[${value.length}]` : `{${Object.keys(value).length}}`}</span>}
      </button>
      {open && <Tree value={value} path={path} onPick={onPick} pickTitle={pickTitle} />}
    </li>
  );
}
