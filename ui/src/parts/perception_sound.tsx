// A sound: its spectrogram above its waveform, and a player whose place is the
// cursor over both.

import { useEffect, useRef, useState } from "preact/hooks";
import { useSignal, useSignalEffect } from "@preact/signals";
import { dataURL, previewURL } from "../api/client";
import { useAsk } from "../app/ask";
import { duration, number, texts } from "../app/text";
import { colour, dark } from "../app/theme";
import { drawPanel, gutter, margin, type Panel } from "../plots/trace";
import { Button } from "./controls";
import { instant, reading, span, times, useStretch, type Cursor, type Samples } from "./perception_samples";
import { useWidth } from "./width";

const t = texts(
  {
    facts: "{time} at {rate} kHz, {channels}",
    mono: "mono",
    stereo: "stereo",
    many: "{n} channels",
    spectrogram: "Spectrogram: pitch in kHz upwards, light where it is loud",
    place: "Place in the sound",
    player: "Play the sound",
    unplayable: "This browser cannot play {type}. The bytes can be downloaded.",
    help: "A click goes there. Drag over a stretch to look closer, double-click for the whole. Keys: Space plays, ← → move, + − zoom, 0 the whole.",
    out: "Whole sound",
  },
  {
    facts: "时长 {time}，{rate} kHz，{channels}",
    mono: "单声道",
    stereo: "立体声",
    many: "{n} 声道",
    spectrogram: "频谱图：纵向为频率（kHz），越亮越响",
    place: "声音中的位置",
    player: "播放声音",
    unplayable: "此浏览器无法播放 {type}，可下载原始数据。",
    help: "点击跳转。拖选区段可细看，双击恢复整段。按键：空格播放，← → 移动，+ − 缩放，0 整段。",
    out: "整段",
  },
);

const pitchHeight = 132;
/** A preview that is less high than this has no axes, and its upper three quarters are the spectrogram. */
const barePreview = 139;
const previewShare = 0.75;

interface SoundProps {
  id: number;
  mediaType: string;
  whole: Samples;
  cursor: Cursor;
  height?: number;
  bare?: boolean;
}

export function Sound({ id, mediaType, whole, cursor, height = 110, bare }: SoundProps) {
  const audio = useRef<HTMLAudioElement>(null);
  const [widthRef, width] = useWidth();
  const end = whole.duration_s || span(whole)[1];
  const [zoom, setZoom] = useStretch(cursor, [0, end]);
  const [unplayable, setUnplayable] = useState(false);
  const [seen, setSeen] = useState(true);
  const playing = useSignal(false);
  const [from, to] = zoom ?? [0, end];
  const closer = useAsk("samples", zoom && whole.reduced ? { memory_id: id, from: Math.max(from, 0), to } : undefined, { live: 0, settle: 40 });
  const shown = (zoom && closer.answer) || whole;
  const channels = whole.channels?.length ?? 1;

  const seek = (at: number) => {
    const to = Math.min(Math.max(at, 0), end);
    cursor.move(to);
    if (audio.current && Number.isFinite(audio.current.duration)) audio.current.currentTime = Math.min(to, audio.current.duration);
  };
  useSignalEffect(() => {
    if (!playing.value) return;
    let frame = requestAnimationFrame(function follow() {
      if (audio.current) cursor.move(audio.current.currentTime);
      frame = requestAnimationFrame(follow);
    });
    return () => cancelAnimationFrame(frame);
  });
  const zoomTo = (a: number, b: number) => {
    const [low, high] = [Math.max(a, 0), Math.min(b, end)];
    if (high - low >= end * 0.999) setZoom(undefined);
    else if (high - low > 0.0005) setZoom([low, high]);
  };
  const zoomBy = (factor: number) => {
    const middle = Math.min(Math.max(cursor.at ?? (from + to) / 2, from), to);
    zoomTo(middle - (middle - from) * factor, middle + (to - middle) * factor);
  };
  const step = (to - from) / 100;
  const keys: Record<string, () => void> = {
    " ": () => (audio.current?.paused ? void audio.current.play().catch(() => setUnplayable(true)) : audio.current?.pause()),
    ArrowLeft: () => seek((cursor.at ?? 0) - step),
    ArrowRight: () => seek((cursor.at ?? 0) + step),
    Home: () => seek(from),
    End: () => seek(to),
    "+": () => zoomBy(0.5),
    "=": () => zoomBy(0.5),
    "-": () => zoomBy(2),
    "0": () => setZoom(undefined),
  };
  const stretch = end / (to - from);
  return (
    <div class="sound">
      <div class="trace-head">
        <p class="dim number">
          {t("facts", { time: duration(end), rate: number((whole.rate_hz ?? 0) / 1000, 1), channels: channels === 1 ? t("mono") : channels === 2 ? t("stereo") : t("many", { n: channels }) })}
        </p>
        {zoom && (
          <Button icon="undo" onClick={() => setZoom(undefined)}>
            {t("out")}
          </Button>
        )}
      </div>
      <div ref={widthRef}>
        {seen && (
          <div class="sound-pitch" style={{ height: `${pitchHeight}px` }}>
            <Pitches rate={whole.rate_hz ?? 0} />
            <div class="sound-picture" style={{ left: `${gutter}px`, right: `${margin}px` }}>
              <img
                src={`${previewURL(id, 1024, barePreview)}#svgView(preserveAspectRatio(none))`}
                alt={t("spectrogram")}
                style={{ height: `${100 / previewShare}%`, width: `${stretch * 100}%`, left: `${(-from / end) * stretch * 100}%` }}
                onError={() => setSeen(false)}
              />
              <Head cursor={cursor} from={from} to={to} seek={seek} />
            </div>
          </div>
        )}
        <Wave {...{ shown, from, to, end, width, height, cursor, keys, zoomTo, seek }} reset={() => setZoom(undefined)} />
      </div>
      {unplayable ? (
        <p class="dim">{t("unplayable", { type: mediaType })}</p>
      ) : (
        <audio
          ref={audio}
          controls
          preload="metadata"
          src={dataURL(id)}
          aria-label={t("player")}
          onPlay={() => (playing.value = true)}
          onPause={() => (playing.value = false)}
          onEnded={() => (playing.value = false)}
          onSeeked={(e) => cursor.move(e.currentTarget.currentTime)}
          onError={() => setUnplayable(true)}
        />
      )}
      {!bare && <p class="dim trace-help">{t("help")}</p>}
    </div>
  );
}

/** The playhead over the spectrogram. */
function Head({ cursor, from, to, seek }: { cursor: Cursor; from: number; to: number; seek: (at: number) => void }) {
  const at = cursor.at;
  return (
    <div
      class="sound-over"
      aria-hidden="true"
      onClick={(e) => {
        const r = e.currentTarget.getBoundingClientRect();
        seek(from + ((e.clientX - r.left) / r.width) * (to - from));
      }}
    >
      {at !== undefined && at >= from && at <= to && <i class="sound-head" style={{ left: `${((at - from) / (to - from)) * 100}%` }} />}
    </div>
  );
}

const mel = (hz: number) => Math.log10(1 + hz / 700);

/** Pitches beside the spectrogram, whose rows are even in mel up to half of the rate. */
function Pitches({ rate }: { rate: number }) {
  const top = mel(rate / 2);
  const marks: [number, number][] = [];
  let last = -1;
  for (const hz of [200, 500, 1000, 2000, 4000, 8000, 16000, 32000, 64000]) {
    const share = mel(hz) / top;
    if (share > 0.96 || share - last < 0.12) continue;
    last = share;
    marks.push([hz, share]);
  }
  return (
    <div class="sound-pitches number" style={{ width: `${gutter - 6}px` }} aria-hidden="true">
      {marks.map(([hz, share]) => (
        <span key={hz} style={{ bottom: `${share * 100}%` }}>
          {hz / 1000}
        </span>
      ))}
      <span class="sound-unit">kHz</span>
    </div>
  );
}

interface WaveProps {
  shown: Samples;
  from: number;
  to: number;
  end: number;
  width: number;
  height: number;
  cursor: Cursor;
  keys: Record<string, () => void>;
  zoomTo: (from: number, to: number) => void;
  reset: () => void;
  seek: (at: number) => void;
}

function Wave({ shown, from, to, end, width, height, cursor, keys, zoomTo, reset, seek }: WaveProps) {
  const el = useRef<HTMLDivElement>(null);
  const panel = useRef<Panel | undefined>(undefined);
  useEffect(() => {
    if (!el.current || width === 0) return;
    const drawn = drawPanel(el.current, {
      width,
      height,
      time: times(shown),
      from,
      to,
      foot: true,
      lines: (shown.channels ?? []).slice(0, 6).map((c, i) => ({ colour: colour(`c${i + 1}`), values: c.values, min: c.min, max: c.max })),
      colours: { text: colour("dim"), grid: colour("line") },
      write: { x: (v) => (to - from < 1 ? `${(v * 1000).toFixed(to - from < 0.05 ? 1 : 0)} ms` : `${v.toFixed(to - from < 8 ? 1 : 0)} s`), y: reading },
      onZoom: zoomTo,
      onReset: reset,
      onPoint: () => undefined,
      onPick: seek,
    });
    drawn.cursor(cursor.at);
    panel.current = drawn;
    return () => {
      panel.current = undefined;
      drawn.destroy();
    };
  }, [shown, width, height, from, to, dark.value]);
  useSignalEffect(() => {
    const at = cursor.at; // read before the panel is there, so that the effect follows it
    panel.current?.cursor(at);
  });
  return <WaveSlider el={el} {...{ cursor, from, to, end, height, keys }} />;
}

function WaveSlider({ el, cursor, from, to, end, height, keys }: Pick<WaveProps, "cursor" | "from" | "to" | "end" | "height" | "keys"> & { el: { current: HTMLDivElement | null } }) {
  const at = Math.min(Math.max(cursor.at ?? from, from), to);
  return (
    <div
      class="trace-plot"
      tabIndex={0}
      role="slider"
      aria-label={t("place")}
      aria-valuemin={from}
      aria-valuemax={to}
      aria-valuenow={at}
      aria-valuetext={instant(at, "s", end)}
      style={{ height: `${height}px` }}
      onKeyDown={(e) => {
        const act = e.ctrlKey || e.metaKey || e.altKey ? undefined : keys[e.key];
        if (!act) return;
        e.preventDefault();
        e.stopPropagation();
        act();
      }}
    >
      <div ref={el} />
    </div>
  );
}
