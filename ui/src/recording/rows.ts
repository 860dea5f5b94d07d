// Messages as rows of a table.

import { number } from "../app/text";
import { list, onClock, text, type Fields, type Recorded } from "./messages";

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

const longestArray = 64;

const diagnostic = ["OK", "WARN", "ERROR", "STALE"];

/** The levels of rcl_interfaces, of rosgraph_msgs (ROS 1) and of Foxglove. */
export const logs: Record<string, Record<number, string>> = {
  rcl_interfaces: { 10: "DEBUG", 20: "INFO", 30: "WARN", 40: "ERROR", 50: "FATAL" },
  rosgraph_msgs: { 1: "DEBUG", 2: "INFO", 4: "WARN", 8: "ERROR", 16: "FATAL" },
  foxglove: { 1: "DEBUG", 2: "INFO", 3: "WARN", 4: "ERROR", 5: "FATAL" },
};

export function rowsOf({ schema, messages }: Recorded): Row[] {
  if (/Diagnostic(Array|Status)$/.test(schema)) {
    return messages.flatMap(({ time, value }) =>
      (Array.isArray(value.status) ? list(value.status) : [value]).map((s) => {
        const rank = Number(s.level);
        const values = list(s.values).map((v) => `${text(v.key)} ${text(v.value)}`);
        return {
          time,
          level: { rank, name: diagnostic[rank] ?? String(rank) },
          source: text(s.name),
          says: [text(s.message), ...values].filter(Boolean).join("; "),
        };
      }),
    );
  }
  if (/[/.]Log$/.test(schema)) {
    const names = logs[/^\w+/.exec(schema)?.[0]?.replace("foxglove_msgs", "foxglove") ?? ""] ?? {};
    return messages.map(({ time, value }) => {
      const rank = Number(value.level);
      return {
        time: onClock(value.stamp, time) ?? time,
        level: { rank, name: names[rank] ?? String(rank) },
        source: text(value.name),
        says: text(value.msg) || text(value.message),
      };
    });
  }
  return messages.map(({ time, value }) => ({
    time,
    says: typeof value.data === "string" ? value.data : (plain(value) as Fields),
  }));
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

export const tone = (name: string) =>
  /ERROR|FATAL/.test(name) ? "bad" : /WARN|STALE/.test(name) ? "warn" : name === "OK" ? "good" : "";
