// One perception, shown as what it is: a picture, a plot, a sound, points in
// space, text or bytes.

import { useEffect, useMemo, useState } from "preact/hooks";
import { useSignal, type Signal } from "@preact/signals";
import { dataURL, previewURL, Problem, type Memory } from "../api/client";
import { useAsk } from "../app/ask";
import { summary } from "../app/summary";
import { moment, texts } from "../app/text";
import { Segments } from "./controls";
import { Hex, range, Text } from "./perception_bytes";
import type { RecordedFace, RecordedProps } from "../recording/recording";
import { drawable } from "./drawable";
import { Film } from "./perception_film";
import { Alike, PayloadFacts } from "./perception_facts";
import { Picture } from "./perception_image";
import { cursorOf, type Cursor, type Stretch } from "./perception_samples";
import { Sound } from "./perception_sound";
import { SpaceView } from "./perception_space";
import { Trace } from "./perception_trace";
import { Empty, ErrorBox, Loading } from "./states";

const t = texts(
  {
    picture: "Picture",
    plot: "Plot",
    sound: "Sound",
    space: "Space",
    text: "Text",
    bytes: "Bytes",
    film: "Video",
    video: "Video",
    frames: "Transforms",
    messages: "Messages",
    as: "Show as",
    evicted: "The bytes are no longer kept",
    evictedHint: "Retention made room. The description, the summary and the history stay.",
    none: "Saved without bytes",
    noneHint: "Only its description was saved.",
    deep: "16-bit values, shown as colours",
    values: "values, shown as a picture",
  },
  {
    picture: "图像",
    plot: "曲线",
    sound: "声音",
    space: "空间",
    text: "文本",
    bytes: "字节",
    film: "视频",
    video: "视频",
    frames: "坐标变换",
    messages: "消息",
    as: "显示为",
    evicted: "原始数据已不再保留",
    evictedHint: "保留策略已腾出空间。描述、摘要与历史仍在。",
    none: "保存时没有数据",
    noneHint: "只保存了描述。",
    deep: "16 位数值，以颜色显示",
    values: "数值，以图像显示",
  },
);

type Face = "picture" | "plot" | "sound" | "space" | "text" | "bytes" | "film" | RecordedFace;

export interface PerceptionProps {
  m: Memory;
  /**
   * A cursor shared with other plots, in seconds since the epoch: the first
   * sample of this perception lies at `start`. The viewer reads and moves it. A
   * perception of unknown rate keeps a cursor of its own. Without it every
   * perception has its own.
   */
  cursor?: Signal<number | undefined>;
  /** The stretch shared with other plots, likewise; without it every plot zooms alone. */
  view?: Signal<Stretch | undefined>;
  /** Says how long it lasts, once its numbers are there. */
  onLength?: (seconds: number) => void;
  /** When the first sample was, in seconds since the epoch; observed_at if absent. */
  start?: number;
  /** Of the picture, the panels of a plot together, or the space, in CSS pixels. */
  height?: number;
  /** The viewer alone: without help, facts, metadata and what is alike. */
  bare?: boolean;
}

/** Shows a perception whole; the memory may come from a list. */
export function Perception(props: PerceptionProps) {
  const { m } = props;
  // Lists leave out how many bytes there are.
  const asked = useAsk("get", m.bytes === undefined && m.sha256 ? { memory_id: m.memory_id } : undefined, { live: 0 });
  const whole = asked.answer ?? m;
  if (m.bytes === undefined && m.sha256 && asked.answer === undefined) {
    return asked.error ? <ErrorBox error={asked.error} again={asked.again} /> : <Loading lines={5} />;
  }
  return (
    <div class={props.bare ? "perception" : "perception card"}>
      {!props.bare && whole.summary && whole.summary !== whole.content && <p class="dim">{summary(whole.summary)}</p>}
      {!whole.sha256 ? (
        <Empty icon="bytes" title={t("none")}>
          {t("noneHint")}
        </Empty>
      ) : !whole.bytes ? (
        <Gone id={m.memory_id} />
      ) : (
        <Viewer {...props} m={whole} size={whole.bytes} />
      )}
      {!props.bare && (
        <>
          <PayloadFacts m={whole} />
          {whole.bytes ? <Alike m={whole} /> : null}
        </>
      )}
    </div>
  );
}

/** When and why the bytes of a memory went, by its history. */
function Gone({ id }: { id: number }) {
  const history = useAsk("history", { memory_id: id }, { live: 0 });
  const eviction = history.answer?.versions.findLast((v) => v.change === "evicted");
  return (
    <Empty icon="bytes" title={t("evicted")}>
      <p>{t("evictedHint")}</p>
      {eviction?.to && (
        <p class="dim">
          {moment(eviction.to)}
          {eviction.reason && `: ${eviction.reason}`}
        </p>
      )}
    </Empty>
  );
}

const textual = (type: string) => /^text\/|json|xml|yaml|csv/.test(type) && !type.startsWith("image/");
/** What browsers decode by themselves. */
const shown = (type: string) => /^image\/(png|jpeg|webp|gif|avif|bmp|svg\+xml)$/.test(type);

function Viewer({ m, cursor: shared, view, onLength, start, height, bare, size }: PerceptionProps & { size: number }) {
  const type = (m.media_type ?? "").split(";")[0]!.trim().toLowerCase();
  const image = type.startsWith("image/");
  const unread = image || type.startsWith("video/") || !drawable(m);
  const numbers = useAsk("samples", unread ? undefined : { memory_id: m.memory_id }, { live: 0 });
  const own = useSignal<number | undefined>(undefined);
  const samples = numbers.answer;
  const recorded = type === "application/vnd.mcap";
  const cursor: Cursor = useMemo(() => {
    const timed = samples?.time_unit === "s" || recorded || type.startsWith("video/");
    return shared && timed ? cursorOf(shared, start ?? new Date(m.observed_at).getTime() / 1000, view) : cursorOf(own, 0);
  }, [shared, start, m.observed_at, samples?.time_unit]);
  useEffect(() => {
    if (samples?.time_unit === "s" && samples.duration_s) onLength?.(samples.duration_s);
  }, [samples]);
  const [chosen, choose] = useState<Face>();
  const [pictured, setPictured] = useState(image || drawable(m));

  if (!unread && !samples && !numbers.error) return <Loading lines={6} />;
  if (numbers.error && numbers.error.kind !== "not_found") return <ErrorBox error={numbers.error} again={numbers.again} />;
  const main: Face | undefined = samples ? faceOf(samples.kind) : textual(type) || recorded || !pictured ? undefined : "picture";
  const faces: Face[] = [
    ...(type.startsWith("video/") ? (["film"] as const) : []),
    ...(main ? [main] : []),
    ...(recorded && samples && main !== "plot" ? (["plot"] as const) : []),
    ...(recorded ? recordedFaces(m) : []),
    ...(textual(type) ? (["text"] as const) : []),
    "bytes",
  ];
  const face = chosen && faces.includes(chosen) ? chosen : faces[0]!;
  const alt = m.content;
  return (
    <div class="perception-view">
      {!bare && faces.length > 1 && <Segments label={t("as")} value={face} options={faces.map((f) => [f, t(f)] as const)} onChange={choose} />}
      {face === "picture" && (image && shown(type) ? <StoredPicture id={m.memory_id} type={type} alt={alt} height={height} onError={() => setPictured(false)} /> : <Previewed id={m.memory_id} alt={alt} height={height} note={image ? t("values") : undefined} onError={() => setPictured(false)} />)}
      {face === "film" && <Film id={m.memory_id} cursor={cursor} height={height} />}
      {(face === "messages" || face === "frames" || face === "video") && <LazyRecorded m={m} face={face} size={size} cursor={cursor} start={start ?? new Date(m.observed_at).getTime() / 1000} height={height} />}
      {face === "plot" && main !== "plot" && <Readings id={m.memory_id} cursor={cursor} height={height} bare={bare} />}
      {face === "plot" && main === "plot" && samples && <Trace id={m.memory_id} whole={samples} cursor={cursor} height={height} bare={bare} />}
      {face === "sound" && samples && <Sound id={m.memory_id} mediaType={type} whole={samples} cursor={cursor} height={height} bare={bare} />}
      {face === "space" && samples && <SpaceView id={m.memory_id} of={samples} cursor={cursor} height={height} bare={bare} />}
      {face === "text" && <Text id={m.memory_id} size={size} json={type.includes("json")} />}
      {face === "bytes" && <Hex id={m.memory_id} size={size} />}
    </div>
  );
}

function recordedFaces(m: Memory): Face[] {
  const schema = String((m.metadata as { schema?: unknown } | undefined)?.schema ?? "");
  return [...(/TFMessage|FrameTransform/.test(schema) ? (["frames"] as const) : /CompressedVideo/.test(schema) ? (["video"] as const) : []), "messages"];
}

/** The readings of messages that are shown in space. */
function Readings({ id, cursor, height, bare }: { id: number; cursor: Cursor; height?: number; bare?: boolean }) {
  const asked = useAsk("samples", { memory_id: id, trace: true }, { live: 0 });
  if (!asked.answer) return asked.error ? <ErrorBox error={asked.error} again={asked.again} /> : <Loading lines={5} />;
  return <Trace id={id} whole={asked.answer} cursor={cursor} height={height} bare={bare} readings />;
}

/** The decoders of messages are fetched when they are first needed. */
function LazyRecorded(props: RecordedProps) {
  const [view, set] = useState<{ Recorded: typeof import("../recording/recording").Recorded }>();
  const [error, setError] = useState<Problem>();
  const [round, again] = useState(0);
  useEffect(() => {
    import("../recording/recording").then(set, (e) => setError(Problem.from(e)));
  }, [round]);
  if (view) return <view.Recorded {...props} />;
  return error ? <ErrorBox error={error} again={() => (setError(undefined), again((n) => n + 1))} /> : <Loading lines={5} />;
}

function faceOf(kind: string): Face {
  return kind === "trace" ? "plot" : kind === "sound" ? "sound" : "space";
}

/** The preview at its largest, for what no browser decodes. */
function Previewed(props: { id: number; alt: string; height?: number; note?: string; size?: { width: number; height: number }; onError: () => void }) {
  return <Picture {...props} src={previewURL(props.id, 4096, 4096)} />;
}

/** A picture as it was saved; one of 16 bits, which a browser shows nearly black, by its preview. */
function StoredPicture({ id, type, alt, height, onError }: { id: number; type: string; alt: string; height?: number; onError: () => void }) {
  const [head, setHead] = useState<{ deep: boolean; width: number; height: number } | "plain" | undefined>(type === "image/png" ? undefined : "plain");
  useEffect(() => {
    if (type !== "image/png") return;
    const abort = new AbortController();
    range(id, 0, 26, abort.signal).then(
      (data) => {
        const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
        // IHDR: width, height, and at 24 the bits of a sample.
        setHead(data.length >= 26 ? { width: view.getUint32(16), height: view.getUint32(20), deep: data[24] === 16 } : "plain");
      },
      () => abort.signal.aborted || setHead("plain"),
    );
    return () => abort.abort();
  }, [id, type]);
  const [broken, setBroken] = useState(false);
  if (head === undefined) return <Loading lines={5} />;
  if (broken) return <Previewed id={id} alt={alt} height={height} onError={onError} />; // what this browser cannot decode the node may
  if (head !== "plain" && head.deep) return <Previewed id={id} alt={alt} height={height} size={head} note={t("deep")} onError={onError} />;
  return <Picture src={dataURL(id)} alt={alt} height={height} onError={() => setBroken(true)} />;
}
