// Messages as rows: logs and diagnostics with their levels, all others as trees.

import { useMemo, useState } from "preact/hooks";
import { number } from "../app/text";
import { Button, Select } from "../parts/controls";
import type { Cursor } from "../parts/perception_samples";
import { Tree } from "../parts/tree";
import type { Recorded } from "./messages";
import { rowsOf, tone } from "./rows";
import { t } from "./recording.text";

const page = 50;

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
    <div>
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
