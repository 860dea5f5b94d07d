// The streams of an episode around one cursor, in the reader's choice and order.

import { outside } from "../app/base";
import { useComputed, useSignal, type Signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { dataURL } from "../api/client";
import { laidOut, useLayout } from "../app/layout";
import { duration } from "../app/text";
import { Button, Segments } from "../parts/controls";
import { Perception } from "../parts/perception";
import type { Stretch } from "../parts/perception_samples";
import { TopicTrace } from "../parts/topic";
import { plotted } from "../parts/topic_pieces";
import { gap, shotAt, type Shot, type Stream } from "./streams";
import { t } from "./streams.text";

const panelHeight = 230;
const otherClock = 3600; // seconds away from the failure that a stream of the same clock would hardly be

interface ListProps {
  /** In the order in which they stand until the reader chooses another. */
  order: Stream[];
  collection: string;
  cursor: Signal<number | undefined>;
  view: Signal<Stretch | undefined>;
  /** The moment that counts until the cursor is elsewhere: that of a failure. */
  at: number;
}

export function StreamList({ order, collection, cursor, view, at }: ListProps) {
  const [layout, setLayout] = useLayout(
    collection,
    order.map((s) => s.name),
  );
  const { shown, rest } = laidOut(order, layout);
  const move = (name: string, by: -1 | 1) => {
    const names = shown.map((s) => s.name);
    const i = names.indexOf(name);
    const j = i + by;
    if (j < 0 || j >= names.length) return;
    [names[i], names[j]] = [names[j]!, names[i]!];
    setLayout({ order: names, hidden: layout.hidden });
  };
  const toggle = (name: string) => setLayout({ order: layout.order, hidden: layout.hidden.includes(name) ? layout.hidden.filter((n) => n !== name) : [...layout.hidden, name] });
  return (
    <>
      {order.length > 1 && (
        <details class="stream-layout">
          <summary>
            {t("layout")} <span class="dim">{`${shown.length}/${order.length}`}</span>
          </summary>
          <p class="dim">{t("layoutHint", { collection })}</p>
          <ul>
            {[...shown, ...rest].map((s, i) => (
              <li key={s.name}>
                <label>
                  <input type="checkbox" checked={!layout.hidden.includes(s.name)} onChange={() => toggle(s.name)} /> {s.name}
                </label>
                <span class="stream-moves">
                  <Button kind="quiet" label={t("up", { name: s.name })} disabled={i === 0 || i >= shown.length} onClick={() => move(s.name, -1)}>
                    ↑
                  </Button>
                  <Button kind="quiet" label={t("down", { name: s.name })} disabled={i >= shown.length - 1} onClick={() => move(s.name, 1)}>
                    ↓
                  </Button>
                </span>
              </li>
            ))}
          </ul>
          <Button onClick={() => setLayout(undefined)}>{t("layoutReset")}</Button>
        </details>
      )}
      {shown.map((s) => (
        <StreamPanel key={s.name} of={s} cursor={cursor} view={view} at={at} />
      ))}
    </>
  );
}

interface PanelProps {
  of: Stream;
  cursor: Signal<number | undefined>;
  view: Signal<Stretch | undefined>;
  at: number;
}

type Face = "topic" | "piece";

/** One stream; it is read when it comes near the window. */
function StreamPanel({ of, cursor, view, at }: PanelProps) {
  const box = useRef<HTMLElement>(null);
  const [near, setNear] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((seen) => seen.some((s) => s.isIntersecting) && setNear(true), { rootMargin: "500px" });
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  const shot = useComputed(() => shotAt(of, cursor.value ?? at)).value;
  const length = useSignal<number | undefined>(undefined);
  useEffect(() => void (length.value = undefined), [shot.m.memory_id]);
  const [face, setFace] = useState<Face>(plotted(of.shots[0]!.m) ? "topic" : "piece");
  const [plain, setPlain] = useState(!plotted(of.shots[0]!.m));
  const pieces = useMemo(() => of.shots.map((s) => ({ id: s.m.memory_id, from: s.from })), [of]);
  const away = Math.min(...of.shots.map((s) => Math.abs(gap(s, at))));
  return (
    <figure class="stream" ref={box} data-stream={of.name}>
      <figcaption>
        <b>{of.name}</b> <a href={`/memory/${shot.m.memory_id}`}>{shot.m.content}</a> <Relation shot={shot} length={length} cursor={cursor} picture={of.picture} />
        {away > otherClock && <span class="mark dim"> {t("clock", { time: duration(away) })}</span>}
      </figcaption>
      {!plain && <Segments<Face> label={t("shown")} value={face} options={[["topic", t("topic")], ["piece", t("piece")]]} onChange={setFace} />}
      {!near ? (
        <div style={{ height: `${panelHeight}px` }} />
      ) : of.picture && shot.m.sha256 ? (
        <Frames id={shot.m.memory_id} alt={shot.m.content} />
      ) : face === "topic" ? (
        <TopicTrace
          key={of.name}
          pieces={pieces}
          cursor={cursor}
          view={view}
          height={panelHeight}
          onNone={() => {
            setPlain(true);
            setFace("piece");
          }}
        />
      ) : (
        <Perception key={shot.m.memory_id} m={shot.m} cursor={cursor} view={view} height={panelHeight} onLength={(s) => (length.value = s)} bare />
      )}
    </figure>
  );
}

/** Whether the shot covers the cursor. It alone is drawn anew as the cursor moves. */
function Relation({ shot, length, cursor, picture }: { shot: Shot; length: Signal<number | undefined>; cursor: Signal<number | undefined>; picture: boolean }) {
  const text = useComputed(() => {
    const now = cursor.value;
    if (now === undefined) return "";
    if (picture && shot.from <= now) return now - shot.from < 0.001 ? "" : t("since", { time: duration(round(now - shot.from)) });
    const by = gap({ ...shot, to: shot.to ?? (length.value === undefined ? undefined : shot.from + length.value) }, now);
    return by === 0 ? t("covers") : by < 0 ? t("before", { time: duration(round(-by)) }) : t("after", { time: duration(round(by)) });
  });
  return <span class="dim number">{text}</span>;
}

const round = (s: number) => (s < 10 ? Math.round(s * 100) / 100 : s);

/** The picture at the cursor: the last one stays until the next is there, so that scrubbing never shows an empty frame. */
function Frames({ id, alt }: { id: number; alt: string }) {
  const [shown, setShown] = useState<number>();
  const [broken, setBroken] = useState<number>();
  const wanted = useRef(id);
  const loading = useRef(false);
  wanted.current = id;
  useEffect(() => {
    const load = () => {
      if (loading.current) return;
      const next = wanted.current;
      loading.current = true;
      const image = new Image();
      image.src = outside(dataURL(next));
      image
        .decode()
        .then(
          () => setShown(next),
          () => setBroken(next),
        )
        .finally(() => {
          loading.current = false;
          if (wanted.current !== next) load();
        });
    };
    load();
  }, [id]);
  if (broken === id) return <p class="stream-broken dim">{t("undecodable")}</p>;
  return <div class="stream-frame">{shown !== undefined && <img src={dataURL(shown)} alt={alt} data-shown={shown} />}</div>;
}
