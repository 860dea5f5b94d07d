// The streams of an episode around one cursor.

import { useComputed, useSignal, type Signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { dataURL } from "../api/client";
import { duration } from "../app/text";
import { Perception } from "../parts/perception";
import type { Stretch } from "../parts/perception_samples";
import { gap, shotAt, type Shot, type Stream } from "./incident_streams";
import { t } from "./incident.text";

const panelHeight = 230;
const otherClock = 3600; // seconds away from the failure that a stream of the same clock would hardly be

interface PanelProps {
  of: Stream;
  cursor: Signal<number | undefined>;
  view: Signal<Stretch | undefined>;
  failedAt: number;
}

/** One stream; it is read when it comes near the window. */
export function StreamPanel({ of, cursor, view, failedAt }: PanelProps) {
  const box = useRef<HTMLElement>(null);
  const [near, setNear] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((seen) => seen.some((s) => s.isIntersecting) && setNear(true), { rootMargin: "500px" });
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  const shot = useComputed(() => shotAt(of, cursor.value ?? failedAt)).value;
  const length = useSignal<number | undefined>(undefined);
  useEffect(() => void (length.value = undefined), [shot.m.memory_id]);
  const away = Math.min(...of.shots.map((s) => Math.abs(gap(s, failedAt))));
  return (
    <figure class="incident-stream" ref={box} data-stream={of.name}>
      <figcaption>
        <b>{of.name}</b> <a href={`/memory/${shot.m.memory_id}`}>{shot.m.content}</a> <Relation shot={shot} length={length} cursor={cursor} picture={of.picture} />
        {away > otherClock && <span class="mark dim"> {t("clock", { time: duration(away) })}</span>}
      </figcaption>
      {!near ? (
        <div style={{ height: `${panelHeight}px` }} />
      ) : of.picture && shot.m.sha256 ? (
        <Frames id={shot.m.memory_id} alt={shot.m.content} />
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
      image.src = dataURL(next);
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
  if (broken === id) return <p class="incident-broken dim">{t("undecodable")}</p>;
  return <div class="incident-frame">{shown !== undefined && <img src={dataURL(shown)} alt={alt} data-shown={shown} />}</div>;
}
