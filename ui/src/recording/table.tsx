// Messages as rows: logs and diagnostics with their levels, all others as trees.

import { useMemo, useState } from "preact/hooks";
import { number } from "../app/text";
import { Button, Select } from "../parts/controls";
import type { Cursor } from "../parts/perception_samples";
import { Tree } from "../parts/tree";
import { list, seconds, text, type Fields, type Recorded } from "./messages";
import { t } from "./recording.text";

interface Row {
  time: number;
  level?: Level;
  source?: string;
  /** What it says; of a message without words, its fields. */
  says: string | Fields;
}

interface Level {
  rank: number;
  name: string;
}

const page = 50;
const longestArray = 64;

const diagnostic = ["OK", "WARN", "ERROR", "STALE"];
/** The levels of rcl_interfaces, of rosgraph_msgs (ROS 1) and of Foxglove. */
const logs: Record<string, Record<number, string>> = {
  rcl_interfaces: { 10: "DEBUG", 20: "INFO", 30: "WARN", 40: "ERROR", 50: "FATAL" },
  rosgraph_msgs: { 1: "DEBUG", 2: "INFO", 4: "WARN", 8: "ERROR", 16: "FATAL" },
  foxglove: { 1: "DEBUG", 2: "INFO", 3: "WARN", 4: "ERROR", 5: "FATAL" },
};

function rowsOf({ schema, messages }: Recorded): Row[] {
  if (/Diagnostic(Array|Status)$/.test(schema)) {
    return messages.flatMap(({ time, value }) =>
      (Array.isArray(value.status) ? list(value.status) : [value]).map((s) => {
        const rank = Number(s.level);
        const values = list(s.values).map((v) => `${text(v.key)} ${text(v.value)}`);
        return { time, level: { rank, name: diagnostic[rank] ?? String(rank) }, source: text(s.name), says: [text(s.message), ...values].filter(Boolean).join("; ") };
      }),
    );
  }
  if (/[/.]Log$/.test(schema)) {
    const names = logs[/^\w+/.exec(schema)?.[0]?.replace("foxglove_msgs", "foxglove") ?? ""] ?? {};
    return messages.map(({ time, value }) => {
      const rank = Number(value.level);
      return { time: seconds(value.stamp) ?? time, level: { rank, name: names[rank] ?? String(rank) }, source: text(value.name), says: text(value.msg) || text(value.message) };
    });
  }
  return messages.map(({ time, value }) => ({ time, says: typeof value.data === "string" ? value.data : (plain(value) as Fields) }));
}

/** A value as JSON has it; long arrays are told by their length. */
function plain(v: unknown): unknown {
  if (typeof v === "bigint") return Number.isSafeInteger(Number(v)) ? Number(v) : String(v);
  if (ArrayBuffer.isView(v) || Array.isArray(v)) {
    const all = Array.from(v as unknown as ArrayLike<unknown>);
    return all.length > longestArray ? `[${number(all.length)}]` : all.map(plain);
  }
  if (typeof v === "object" && v !== null) return Object.fromEntries(Object.entries(v).map(([k, x]) => [k, plain(x)]));
  return v;
}

const tone = (name: string) => (/ERROR|FATAL/.test(name) ? "bad" : /WARN|STALE/.test(name) ? "warn" : name === "OK" ? "good" : "");

export function MessageTable({ of, cursor, start, height }: { of: Recorded; cursor: Cursor; start: number; height?: number }) {
  const all = useMemo(() => rowsOf(of), [of]);
  const levels = useMemo(() => [...new Map(all.flatMap((r) => (r.level ? [[r.level.rank, r.level.name] as const] : [])))].sort((a, b) => a[0] - b[0]), [all]);
  const [least, setLeast] = useState("");
  const [most, setMost] = useState(page);
  const rows = least === "" ? all : all.filter((r) => r.level && r.level.rank >= Number(least));
  const at = cursor.at;
  const here = at === undefined ? -1 : rows.findLastIndex((r) => r.time - start <= at + 1e-6);
  // The page of rows that holds the one at the cursor.
  const first = here < most ? 0 : here - (here % page);
  return (
    <div class="messages">
      <div class="messages-head">
        {levels.length > 1 && <Select label={t("least")} value={least} options={[["", levels[0]![1]], ...levels.slice(1).map(([rank, name]) => [String(rank), name] as const)]} onChange={setLeast} />}
        <span class="dim number">{t("rows", { n: number(rows.length), all: number(all.length) })}</span>
      </div>
      {rows.length === 0 ? (
        <p class="dim">{t("none")}</p>
      ) : (
        <div class="messages-table" tabIndex={0} role="region" aria-label={of.topic} style={height ? { maxHeight: `${height}px` } : undefined}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t("time")}</th>
                {levels.length > 0 && <th scope="col">{t("level")}</th>}
                {levels.length > 0 && <th scope="col">{t("source")}</th>}
                <th scope="col">{t("message")}</th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(first, first + most).map((r, i) => (
                <tr key={first + i} aria-current={first + i === here ? "true" : undefined} onClick={() => cursor.move(r.time - start)}>
                  <td class="number">{(r.time - start).toFixed(3)}</td>
                  {r.level && (
                    <td>
                      <span class={`mark ${tone(r.level.name)}`}>{r.level.name}</span>
                    </td>
                  )}
                  {r.level && <td>{r.source}</td>}
                  <td>{typeof r.says === "string" ? r.says : <Tree value={r.says} />}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {first + most < rows.length && <Button onClick={() => setMost(most + page)}>{t("more", { n: number(Math.min(page, rows.length - first - most)) })}</Button>}
        </div>
      )}
    </div>
  );
}
