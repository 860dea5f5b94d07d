// A trace as panels over one time: forces above torques, one cursor over all.

import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useSignal, useSignalEffect } from "@preact/signals";
import { Problem } from "../api/client";
import { useAsk } from "../app/ask";
import { duration, number } from "../app/text";
import { colour, dark } from "../app/theme";
import { drawPanel, type Panel } from "../plots/trace";
import { Button, say } from "./controls";
import { axisText, csv, groups, instant, reading, saveAs, span, times, useStretch, valueAt, within } from "./perception_samples";
import type { Cursor, Group, Samples, Stretch } from "./perception_samples";
import { ErrorBox } from "./states";
import { TraceTable } from "./perception_table";
import { t } from "./perception_trace.text";
import { useWidth } from "./width";

/** Panels that are drawn before the reader asks for all. */
const firstPanels = 6;

interface TraceProps {
  id: number;
  /** The whole trace, reduced where it is long. */
  whole: Samples;
  cursor: Cursor;
  /** Of all panels together, in CSS pixels. */
  height?: number;
  /** Only the panels: no help and no downloads. */
  bare?: boolean;
  /** The readings of messages that the node takes for a path or a scan. */
  readings?: boolean;
}

export function Trace({ id, whole, cursor, height, bare, readings }: TraceProps) {
  const full = span(whole);
  const [zoom, setZoom] = useStretch(cursor, full);
  // Beyond the ends of the stretch by a little, so that lines reach the edges.
  const reach = zoom ? (zoom[1] - zoom[0]) * 0.02 : 0;
  const closer = useAsk("samples", zoom && whole.reduced ? { memory_id: id, from: Math.max(zoom[0] - reach, full[0]), to: zoom[1] + reach, trace: readings } : undefined, { live: 0, settle: 40 });
  const save = () =>
    csv(id, zoom && Math.max(zoom[0], full[0]), zoom?.[1]).then(
      (text) => saveAs(`memory-${id}.csv`, text, "text/csv"),
      (e) => say(t("csvFailed", { why: Problem.from(e).message }), { bad: true }),
    );
  return (
    <Plots whole={whole} shown={(zoom && closer.answer) || whole} full={full} zoom={zoom} setZoom={setZoom} asking={closer.asking} cursor={cursor} height={height} bare={bare} save={save}>
      {zoom && closer.error && <ErrorBox error={closer.error} again={closer.again} />}
    </Plots>
  );
}

interface PlotsProps {
  whole: Samples;
  /** What is drawn: the whole, or its stretch in more detail. */
  shown: Samples;
  full: Stretch;
  zoom?: Stretch;
  setZoom: (s: Stretch | undefined) => void;
  /** More is on its way. */
  asking: boolean;
  cursor: Cursor;
  height?: number;
  bare?: boolean;
  save?: () => void;
  children?: ComponentChildren;
}

/** The panels of a trace with what zooms them. */
export function Plots({ whole, shown, full, zoom, setZoom, asking, cursor, height, bare, save, children }: PlotsProps) {
  const [table, setTable] = useState(false);
  const [all, setAll] = useState(false);
  const hidden = useSignal<ReadonlySet<string>>(new Set());
  const [from, to] = zoom ?? full;
  const panels = groups(shown.channels ?? []);
  const drawn = all ? panels : panels.slice(0, firstPanels);
  const length = full[1] - full[0];
  const zoomTo = (a: number, b: number) => {
    const least = length / 1e6;
    const [low, high] = [Math.max(a, full[0]), Math.min(b, full[1])];
    if (high - low >= length * 0.999) setZoom(undefined);
    else if (high - low > least) setZoom([low, high]);
  };
  const zoomBy = (factor: number) => {
    const middle = Math.min(Math.max(cursor.at ?? (from + to) / 2, from), to);
    zoomTo(middle - (middle - from) * factor, middle + (to - middle) * factor);
  };
  return (
    <div class={`trace${asking ? " asking" : ""}`}>
      <div class="trace-head">
        <p class="dim number">
          {zoom
            ? t("zoomed", { from: instant(Math.max(from, full[0]), whole.time_unit, length), to: instant(Math.min(to, full[1]), whole.time_unit, length), whole: whole.time_unit === "s" ? duration(whole.duration_s ?? length) : number(whole.total) })
            : whole.time_unit === "s"
              ? t("whole", { n: number(whole.total), whole: duration(whole.duration_s ?? length) })
              : t("wholeCount", { n: number(whole.total) })}
          <span> · {t(shown.reduced ? "reduced" : "every")}</span>
        </p>
        <div class="trace-tools">
          {zoom ? (
            <Button icon="undo" onClick={() => setZoom(undefined)}>
              {t("out")}
            </Button>
          ) : (
            <Button icon="zoom" label={t("in")} onClick={() => zoomBy(0.5)} />
          )}
          {!bare && (
            <>
              <Button pressed={table} onClick={() => setTable(!table)}>
                {t(table ? "plot" : "numbers")}
              </Button>
              <Button icon="download" onClick={save} label={t("csvLabel")}>
                {t("csv")}
              </Button>
            </>
          )}
        </div>
      </div>
      {children}
      {table ? (
        <TraceTable of={shown} from={from} to={to} />
      ) : (
        drawn.map((group, i) => (
          <TracePanel
            key={group.unit + group.channels[0]!.channel.name}
            group={group}
            of={shown}
            from={from}
            to={to}
            length={length}
            cursor={cursor}
            hidden={hidden.value}
            toggle={(name) => (hidden.value = hidden.value.has(name) ? new Set([...hidden.value].filter((n) => n !== name)) : new Set([...hidden.value, name]))}
            height={Math.max(height ? height / drawn.length : drawn.length > 2 ? 140 : 190, 96)}
            foot={i === drawn.length - 1}
            zoomTo={zoomTo}
            zoomBy={zoomBy}
            reset={() => setZoom(undefined)}
          />
        ))
      )}
      {!table && panels.length > drawn.length && <Button onClick={() => setAll(true)}>{t("more", { n: panels.length })}</Button>}
      {!bare && !table && <p class="dim trace-help">{t("help")}</p>}
    </div>
  );
}

interface TracePanelProps {
  group: Group;
  of: Samples;
  from: number;
  to: number;
  length: number;
  cursor: Cursor;
  hidden: ReadonlySet<string>;
  toggle: (name: string) => void;
  height: number;
  foot: boolean;
  zoomTo: (from: number, to: number) => void;
  zoomBy: (factor: number) => void;
  reset: () => void;
}

function TracePanel({ group, of, from, to, length, cursor, hidden, toggle, height, foot, zoomTo, zoomBy, reset }: TracePanelProps) {
  const [widthRef, width] = useWidth();
  const el = useRef<HTMLDivElement>(null);
  const panel = useRef<Panel | undefined>(undefined);
  const visible = group.channels.filter(({ channel }) => !hidden.has(channel.name));
  const time = times(of);
  const title = `${group.quantity ? t(group.quantity) : t("channels")}${group.unit ? `, ${group.unit}` : ""}`;

  useEffect(() => {
    if (!el.current || width === 0) return;
    const drawn = drawPanel(el.current, {
      width,
      height,
      time,
      from,
      to,
      foot,
      lines: visible.map(({ channel, colour: name }) => ({ colour: colour(name), values: channel.values, min: channel.min, max: channel.max })),
      colours: { text: colour("dim"), grid: colour("line") },
      write: { x: axisText(of.time_unit, length, to - from), y: reading },
      onZoom: zoomTo,
      onReset: reset,
      onPoint: (at) => cursor.move(at),
    });
    drawn.cursor(cursor.at);
    panel.current = drawn;
    return () => {
      panel.current = undefined;
      drawn.destroy();
    };
  }, [of, width, height, from, to, foot, dark.value, visible.map(({ channel }) => channel.name).join()]);
  useSignalEffect(() => {
    const at = cursor.at; // read before the panel is there, so that the effect follows it
    panel.current?.cursor(at);
  });

  const step = (to - from) / Math.max(Math.min(time.length, width || 1), 1);
  const keys: Record<string, (fast: boolean) => void> = {
    ArrowLeft: (fast) => cursor.move(Math.max((cursor.at ?? from) - step * (fast ? 10 : 1), from)),
    ArrowRight: (fast) => cursor.move(Math.min((cursor.at ?? from) + step * (fast ? 10 : 1), to)),
    Home: () => cursor.move(from),
    End: () => cursor.move(to),
    "+": () => zoomBy(0.5),
    "=": () => zoomBy(0.5),
    "-": () => zoomBy(2),
    "0": reset,
  };
  return (
    <section class="trace-panel" aria-label={title}>
      <div class="trace-legend">
        <strong>{title}</strong>
        <Legend group={group} of={of} cursor={cursor} hidden={hidden} toggle={toggle} length={length} />
      </div>
      <div ref={widthRef}>
        <Slider group={group} of={of} cursor={cursor} from={from} to={to} length={length} keys={keys} draw={el} height={height} />
      </div>
    </section>
  );
}

/** The plot itself, as a screen reader and the keyboard have it: a cursor with values. */
function Slider(props: { group: Group; of: Samples; cursor: Cursor; from: number; to: number; length: number; height: number; keys: Record<string, (fast: boolean) => void>; draw: RefObject<HTMLDivElement | null> }) {
  const { group, of, cursor, from, to, length } = props;
  const at = cursor.at;
  const values = at === undefined ? [] : group.channels.map(({ channel }) => `${channel.name} ${valueAt(channel, of, at)} ${group.unit}`.trim());
  return (
    <div
      class="trace-plot"
      tabIndex={0}
      role="slider"
      aria-label={t("cursor", { names: group.channels.map(({ channel }) => channel.name).join(", ") })}
      aria-valuemin={from}
      aria-valuemax={to}
      aria-valuenow={Math.min(Math.max(at ?? from, from), to)}
      aria-valuetext={at === undefined ? t("nowhere") : t("at", { time: instant(at, of.time_unit, length), values: values.join(", ") })}
      style={{ height: `${props.height}px` }}
      onKeyDown={(e) => {
        const act = e.ctrlKey || e.metaKey || e.altKey ? undefined : props.keys[e.key];
        if (!act) return;
        e.preventDefault();
        e.stopPropagation();
        act(e.shiftKey);
      }}
    >
      <div ref={props.draw} />
    </div>
  );
}

/** The channels of a panel with their values under the cursor. A click hides one. */
function Legend({ group, of, cursor, hidden, toggle, length }: { group: Group; of: Samples; cursor: Cursor; hidden: ReadonlySet<string>; toggle: (name: string) => void; length: number }) {
  const at = cursor.at;
  return (
    <>
      {group.channels.map(({ channel, colour: name }) => {
        const off = hidden.has(channel.name);
        return (
          <button
            key={channel.name}
            type="button"
            class={`trace-channel${off ? " off" : ""}`}
            aria-pressed={!off}
            title={t(off ? "show" : "hide", { name: channel.name })}
            onClick={() => toggle(channel.name)}
          >
            <i class={`dot ${name}`} />
            <span>{channel.name}</span>
            {at !== undefined && (
              <b class="number">
                {valueAt(channel, of, at)}
                {group.unit && <small> {group.unit}</small>}
              </b>
            )}
          </button>
        );
      })}
      {at !== undefined && within(of, at) && <span class="trace-now dim number">{instant(at, of.time_unit, length)}</span>}
    </>
  );
}

