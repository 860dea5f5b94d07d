// The readings of a trace as a table, for whoever reads numbers or cannot see
// the plot.

import { number, texts } from "../app/text";
import { reading, times, type Samples } from "./perception_samples";

const t = texts(
  {
    label: "Readings",
    time: "Time, s",
    sample: "Sample",
    first: "The first {n} of {all} rows. Zoom in, or save the CSV, for the others.",
  },
  { label: "读数", time: "时间，s", sample: "采样", first: "共 {all} 行，显示前 {n} 行。放大或保存 CSV 可见其余。" },
);

const maxRows = 300;

export function TraceTable({ of, from, to }: { of: Samples; from: number; to: number }) {
  const time = times(of);
  const rows = time.map((at, i) => [at, i] as const).filter(([at]) => at >= from && at <= to);
  const channels = of.channels ?? [];
  return (
    <div>
      <div class="trace-table" tabIndex={0} role="region" aria-label={t("label")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t(of.time_unit === "s" ? "time" : "sample")}</th>
              {channels.map((c) => (
                <th scope="col" key={c.name}>
                  {c.name}
                  {c.unit && `, ${c.unit}`}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, maxRows).map(([at, i]) => (
              <tr key={i}>
                <th scope="row">{of.time_unit === "s" ? at.toFixed(4) : at}</th>
                {channels.map((c) => (
                  <td key={c.name}>{c.values ? reading(c.values[i]) : `${reading(c.min?.[i])} … ${reading(c.max?.[i])}`}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > maxRows && <p class="dim">{t("first", { n: number(maxRows), all: number(rows.length) })}</p>}
    </div>
  );
}
