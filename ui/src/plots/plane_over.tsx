// What lies over the canvas of a plane: axes, scale, the place and its radius,
// and what the pointer is at.

import { useId } from "preact/hooks";
import { number } from "../app/text";
import { Icon } from "../parts/icons";
import { strength, type Heat, type PlaneCell, type PlanePoint } from "./plane_draw";
import { coordinate, digits, toX, toY, type Frame, type Picked, type View } from "./plane_view";
import { t } from "./plane.text";

interface AxesProps {
  view: View;
  frame: Frame;
  us: number[];
  vs: number[];
  step: number;
  axes: readonly [string, string, string?];
  name: string;
  picked?: Picked;
  over?: PlanePoint;
  /** Whether the middle is marked, where Enter picks. */
  cross: boolean;
}

export function Axes({ view, frame, us, vs, step, axes, name, picked, over, cross }: AxesProps) {
  const places = digits(step);
  const inside = useId();
  const [right, bottom] = [frame.left + frame.width, frame.top + frame.height];
  const [x, y] = [frame.left + frame.width / 2, frame.top + frame.height / 2];
  const bar = step * view.scale;
  const clip = { x: frame.left, y: frame.top, width: frame.width, height: frame.height };
  return (
    <svg class="plane-over" aria-hidden="true" width={right + 10} height={bottom + 40}>
      <clipPath id={inside}>
        <rect {...clip} />
      </clipPath>
      <rect class="plane-frame" {...clip} />
      {us.map((u) => (
        <text key={u} x={toX(view, frame, u)} y={bottom + 16} text-anchor="middle">
          {coordinate(u, places)}
        </text>
      ))}
      {vs.map((v) => (
        <text key={v} x={frame.left - 6} y={toY(view, frame, v) + 4} text-anchor="end">
          {coordinate(v, places)}
        </text>
      ))}
      <text class="plane-axis" x={right} y={bottom + 34} text-anchor="end">
        {axes[0]} →
      </text>
      <text class="plane-axis" x={6} y={frame.top + 10}>
        ↑ {axes[1]}
      </text>
      <text x={frame.left} y={bottom + 34}>
        {name}
      </text>
      <g class="plane-scale" transform={`translate(${right - bar - 12} ${bottom - 12})`}>
        <rect x={-8} y={-20} width={bar + 16} height={28} rx={4} />
        <path d={`M0 -4V4M0 0H${bar}M${bar} -4V4`} />
        <text x={bar / 2} y={-6} text-anchor="middle">
          {coordinate(step, places)}
        </text>
      </g>
      <g clip-path={`url(#${inside})`}>
        {picked && (
          <g class="plane-picked" transform={`translate(${toX(view, frame, picked.u)} ${toY(view, frame, picked.v)})`}>
            {!!picked.radius && <circle r={picked.radius * view.scale} />}
            {!!picked.radius && <circle class="plane-grip" cx={picked.radius * view.scale} r={6} />}
            <path class="halo" d="M-9 0H9M0 -9V9" />
            <path d="M-9 0H9M0 -9V9" />
          </g>
        )}
        {over && <circle class="plane-ring" cx={toX(view, frame, over.u)} cy={toY(view, frame, over.v)} r={8} />}
        {cross && <path class="plane-cross" d={`M${x - 12} ${y}H${x + 12}M${x} ${y - 12}V${y + 12}`} />}
      </g>
    </svg>
  );
}

interface TipProps {
  x: number;
  y: number;
  point?: PlanePoint;
  cell?: PlaneCell;
  frame: Frame;
  axes: readonly [string, string, string?];
  digits: number;
}

export function Tip({ x, y, point, cell, frame, axes, digits: places }: TipProps) {
  const side = x > frame.left + frame.width / 2 ? "left" : "right";
  const rise = y > frame.top + frame.height / 2 ? " up" : "";
  return (
    <div class={`plane-tip ${side}${rise}`} style={{ left: `${x}px`, top: `${y}px` }} role="status">
      {cell && <CellText c={cell} />}
      {point && (
        <>
          <p class="plane-tip-text">{point.text}</p>
          <p class="plane-tip-facts dim number">
            <Mark of={point.good} />
            {[point.u, point.v, point.depth].map((n, i) => n !== undefined && <span key={i}>{`${axes[i]} ${coordinate(n, places)}`}</span>)}
          </p>
        </>
      )}
    </div>
  );
}

function CellText({ c }: { c: PlaneCell }) {
  const known = c.successes + c.failures;
  return <p class="number">{known ? t("cell", { n: number(c.memories), failed: number(c.failures), known: number(known) }) : t("cellUnknown", { n: number(c.memories) })}</p>;
}

/** An outcome as the plane marks it, with its name. */
function Mark({ of }: { of?: boolean }) {
  if (of === undefined) return <span class="mark">{t("unknown")}</span>;
  return (
    <span class={`mark ${of ? "good" : "bad"}`}>
      <Icon name={of ? "check" : "cross"} size={13} />
      {t(of ? "worked" : "failed")}
    </span>
  );
}

/** What marks and colours mean. */
export function Legend({ heat }: { heat?: Heat }) {
  if (!heat) {
    return (
      <ul class="plane-legend">
        <li>
          <svg width="14" height="14" class="good" aria-hidden="true">
            <circle cx="7" cy="7" r="4" fill="currentColor" />
          </svg>
          {t("worked")}
        </li>
        <li>
          <svg width="14" height="14" class="bad" aria-hidden="true">
            <path d="M3 3l8 8m0-8-8 8" stroke="currentColor" stroke-width="2" />
          </svg>
          {t("failed")}
        </li>
        <li>
          <svg width="14" height="14" class="dim" aria-hidden="true">
            <circle cx="7" cy="7" r="3.5" fill="none" stroke="currentColor" stroke-width="1.6" />
          </svg>
          {t("unknown")}
        </li>
      </ul>
    );
  }
  if (heat.kind === "failures") {
    return (
      <p class="plane-legend number">
        {t("failed")} 0 % <span class="plane-ramp failures" aria-hidden="true" /> 100 % <span class="dim">{t("outline")}</span>
      </p>
    );
  }
  const most = Math.max(...heat.cells.map((c) => c.memories), 1);
  return (
    <p class="plane-legend number">
      1
      <span class="plane-ramp" aria-hidden="true">
        {[0, 0.25, 0.5, 0.75, 1].map((share) => (
          <i key={share} style={{ opacity: strength(1 + share * (most - 1), most) }} />
        ))}
      </span>
      {number(most)}
    </p>
  );
}
