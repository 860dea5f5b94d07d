// Stacked bars over time, in SVG: for counts by the hour or day.

import { useState } from "preact/hooks";
import { day, lang, number } from "../app/text";
import { evenTop } from "../plots/steps";
import { useWidth } from "./width";

export interface Series {
  name: string;
  /** A colour of the style sheet. */
  colour: "c1" | "c2" | "c3" | "c6";
  values: number[];
}

interface BarsProps {
  /** What is counted, for a screen reader. */
  label: string;
  /** Beginning of each bucket. */
  times: string[];
  series: Series[];
  /** Length of a bucket. */
  bucket: "hour" | "day";
  height?: number;
}

const labelHalf = 26; // pixels, of a label of the time axis such as 11月21日
const foot = 20;
const head = 8;

export function Bars({ label, times, series, bucket, height = 150 }: BarsProps) {
  const [ref, width] = useWidth();
  const [over, setOver] = useState<number>();
  const totals = times.map((_, i) => series.reduce((sum, s) => sum + (s.values[i] ?? 0), 0));
  const top = evenTop(Math.max(...totals, 1));
  const left = 12 + 7 * number(top).length; // room for the largest number
  const step = (width - left - 4) / Math.max(times.length, 1);
  const y = (n: number) => height - foot - (n / top) * (height - foot - head);
  const every = Math.max(1, Math.ceil((bucket === "day" ? 56 : 48) / step));
  return (
    <div class="bars" ref={ref}>
      <p class="bars-now number" aria-hidden="true">
        {series.map((s) => (
          <span key={s.name}>
            <i class={`dot ${s.colour}`} />
            {s.name} <b>{number(over === undefined ? sum(s.values) : (s.values[over] ?? 0))}</b>
          </span>
        ))}
        {over !== undefined && <span class="dim">{stamp(times[over]!, bucket)}</span>}
      </p>
      {width > 0 && (
        <svg
          width={width}
          height={height}
          role="img"
          aria-label={`${label}: ${series.map((s) => `${s.name} ${number(sum(s.values))}`).join(", ")}`}
          onPointerMove={(e) => {
            const i = Math.floor((e.clientX - e.currentTarget.getBoundingClientRect().left - left) / step);
            setOver(i >= 0 && i < times.length ? i : undefined);
          }}
          onPointerLeave={() => setOver(undefined)}
        >
          {[0, top / 2, top].map((n) => (
            <g key={n}>
              <line class="grid" x1={left} x2={width} y1={y(n)} y2={y(n)} />
              <text x={left - 6} y={y(n) + 4} text-anchor="end">
                {Number.isInteger(n) ? number(n) : ""}
              </text>
            </g>
          ))}
          {over !== undefined && <rect class="over" x={left + over * step} width={step} y={head} height={height - foot - head} />}
          {times.map((time, i) => {
            let from = 0;
            return (
              <g key={time}>
                {series.map((s) => {
                  const n = s.values[i] ?? 0;
                  if (n === 0) return null;
                  const rect = <rect key={s.name} class={s.colour} x={left + i * step + step * 0.12} width={step * 0.76} y={y(from + n)} height={Math.max(y(from) - y(from + n), 1)} />;
                  from += n;
                  return rect;
                })}
                {(times.length - 1 - i) % every === 0 && (
                  <text x={Math.min(left + (i + 0.5) * step, width - labelHalf)} y={height - 5} text-anchor="middle">
                    {bucket === "day" ? day(time) : hour(time)}
                  </text>
                )}
              </g>
            );
          })}
        </svg>
      )}
    </div>
  );
}

const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);

const hour = (time: string) => new Date(time).toLocaleTimeString(lang.value === "zh" ? "zh-CN" : "en-GB", { hour: "2-digit", minute: "2-digit" });

const stamp = (time: string, bucket: "hour" | "day") => (bucket === "day" ? day(time) : `${day(time)}, ${hour(time)}`);

