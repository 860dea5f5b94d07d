// A channel of the failure and of a success on the same axes, both from their first sample.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useSignalEffect, type Signal } from "@preact/signals";
import type { Memory } from "../api/client";
import { useAsk } from "../app/ask";
import { colour, dark } from "../app/theme";
import { drawPanel, type Panel } from "../plots/trace";
import { axisText, cursorOf, reading, span, useStretch, type Samples, type Stretch } from "../parts/perception_samples";
import { Segments } from "../parts/controls";
import { ErrorBox, Loading } from "../parts/states";
import { useWidth } from "../parts/width";
import { t } from "./incident.text";
import { onOneGrid, ranked } from "./incident_contrast";

const height = 210;
const mostChannels = 12;

interface OverlayProps {
  failure: Memory;
  success: Memory;
  cursor: Signal<number | undefined>;
  view: Signal<Stretch | undefined>;
}

export function Overlay({ failure, success, cursor: shared, view }: OverlayProps) {
  const start = Date.parse(failure.observed_at) / 1000;
  const mine = useAsk("samples", { memory_id: failure.memory_id }, { live: 0 });
  const other = useAsk("samples", { memory_id: success.memory_id }, { live: 0 });
  const [a, b] = [mine.answer, other.answer];
  const cursor = useMemo(() => cursorOf(shared, start, view), [shared, start, view]);
  if (mine.error || other.error) return <ErrorBox error={(mine.error ?? other.error)!} again={mine.error ? mine.again : other.again} />;
  if (!a || !b) return <Loading lines={5} />;
  if (a.kind !== b.kind || (a.kind !== "trace" && a.kind !== "sound") || a.time_unit !== b.time_unit) return null;
  return <Lines failure={failure.memory_id} success={success.memory_id} a={a} b={b} cursor={cursor} />;
}

function Lines({ failure, success, a, b, cursor }: { failure: number; success: number; a: Samples; b: Samples; cursor: ReturnType<typeof cursorOf> }) {
  const [widthRef, width] = useWidth();
  const el = useRef<HTMLDivElement>(null);
  const panel = useRef<Panel | undefined>(undefined);
  const common = useMemo(() => ranked(a, b), [a, b]);
  const [chosen, choose] = useState<string>();
  const full: Stretch = [Math.min(span(a)[0], span(b)[0]), Math.max(span(a)[1], span(b)[1])];
  const [zoom, setZoom] = useStretch(cursor, full);
  const [from, to] = zoom ?? full;
  const part = zoom && { from: Math.max(from, 0), to };
  const nearA = useAsk("samples", part && a.reduced ? { memory_id: failure, ...part } : undefined, { live: 0, settle: 60 });
  const nearB = useAsk("samples", part && b.reduced ? { memory_id: success, ...part } : undefined, { live: 0, settle: 60 });
  const [x, y] = [(zoom && nearA.answer) || a, (zoom && nearB.answer) || b];
  const name = chosen && common.includes(chosen) ? chosen : common[0];
  useEffect(() => {
    if (!el.current || width === 0 || !name) return;
    const drawn = drawPanel(el.current, {
      width,
      height,
      ...onOneGrid(x, y, name, { a: colour("bad"), b: colour("good") }),
      from,
      to,
      foot: true,
      colours: { text: colour("dim"), grid: colour("line") },
      write: { x: axisText(a.time_unit, full[1] - full[0], to - from), y: reading },
      onZoom: (f, u) => setZoom([f, u]),
      onReset: () => setZoom(undefined),
      onPoint: (at) => cursor.move(at),
    });
    drawn.cursor(cursor.at);
    panel.current = drawn;
    return () => {
      panel.current = undefined;
      drawn.destroy();
    };
  }, [x, y, name, width, from, to, dark.value]);
  useSignalEffect(() => {
    const at = cursor.at;
    panel.current?.cursor(at);
  });
  if (!name) return null;
  const unit = a.channels?.find((c) => c.name === name)?.unit;
  return (
    <div class="trace incident-overlay">
      <p class="trace-legend">
        <span class="trace-channel bad">
          <i class="dot failure" /> {t("this")}
        </span>
        <span class="trace-channel good">
          <i class="dot success" /> {t("other")}
        </span>
        <b>
          {name}
          {unit && `, ${unit}`}
        </b>
      </p>
      {common.length > 1 && <Segments label={t("channel")} value={name} options={common.slice(0, mostChannels).map((c) => [c, c] as const)} onChange={choose} />}
      <div ref={widthRef} class="trace-plot" style={{ height: `${height}px` }} role="img" aria-label={`${t("this")}, ${t("other")}: ${name}`}>
        <div ref={el} />
      </div>
    </div>
  );
}

