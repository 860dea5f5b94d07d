// A cloud, a scan or a path in space, with its frame, scale and colours in
// words; the picture from above where the browser cannot draw in three
// dimensions.

import { outside } from "../app/base";
import { useEffect, useRef, useState } from "preact/hooks";
import { useSignalEffect } from "@preact/signals";
import { previewURL } from "../api/client";
import { duration, number, texts } from "../app/text";
import { colour, dark } from "../app/theme";
import { ramp } from "../plots/ramp";
import { coloured, colourings, type Colouring, type Space } from "../plots/space";
import { stepBelow } from "../plots/steps";
import type { Look, View3D } from "../plots/view3d";
import { Button, Segments } from "./controls";
import { Picture } from "./perception_image";
import { instant, nearest, reading, times, type Cursor, type Samples } from "./perception_samples";
import { Loading } from "./states";

const t = texts(
  {
    cloud: "Point cloud",
    scan: "Laser scan",
    trajectory: "Trajectory",
    label: "{kind}: {n} points in {frame}. Keys: arrows turn, plus and minus zoom, 0 resets.",
    points: "{n} points",
    part: "{shown} of {n} points, evenly chosen",
    missing: "{n} without a position",
    poses: "{n} poses",
    over: "over {time}",
    frame: "frame {frame}",
    noFrame: "frame not named",
    grid: "grid {side}",
    middle: "in the middle",
    by: "Colour by",
    rgb: "Colour",
    intensity: "Intensity",
    height: "Height",
    time: "Time",
    reset: "Reset view",
    in: "Zoom in",
    out: "Zoom out",
    start: "start",
    end: "end",
    flat: "This browser draws no WebGL: the view from above is shown instead.",
    chunk: "The 3-D view could not be loaded: the view from above is shown instead.",
    above: "View from above",
    place: "Place on the path",
    help: "Drag turns, right drag moves, wheel zooms. Keys: arrows, + −, 0.",
  },
  {
    cloud: "点云",
    scan: "激光扫描",
    trajectory: "轨迹",
    label: "{kind}：{n} 个点，位于 {frame}。按键：方向键旋转，加减号缩放，0 复位。",
    points: "{n} 个点",
    part: "{n} 个点中均匀选取 {shown} 个",
    missing: "{n} 个无位置",
    poses: "{n} 个位姿",
    over: "历时 {time}",
    frame: "坐标系 {frame}",
    noFrame: "坐标系未命名",
    grid: "网格 {side}",
    middle: "画面中心处",
    by: "着色",
    rgb: "颜色",
    intensity: "强度",
    height: "高度",
    time: "时间",
    reset: "复位视角",
    in: "放大",
    out: "缩小",
    start: "起点",
    end: "终点",
    flat: "此浏览器不支持 WebGL，改为显示俯视图。",
    chunk: "三维视图无法加载，改为显示俯视图。",
    above: "俯视图",
    place: "轨迹上的位置",
    help: "拖动旋转，右键拖动平移，滚轮缩放。按键：方向键、+ −、0。",
  },
);

const look = (): Look => ({ ground: colour("card"), line: colour("line"), ink: colour("ink"), axes: [colour("bad"), colour("good"), colour("c1")], start: colour("good"), end: colour("bad"), dark: dark.value });

function spaceOf(s: Samples): Space {
  const { x = [], y = [], z = [], qx, qy, qz, qw } = s;
  return {
    kind: s.kind as Space["kind"],
    x,
    y,
    z,
    intensity: s.intensity,
    rgb: s.rgb,
    time: s.time,
    turns: qx && qy && qz && qw && { x: qx, y: qy, z: qz, w: qw },
  };
}

export function SpaceView({ id, of, cursor, height = 460, bare }: { id: number; of: Samples; cursor: Cursor; height?: number; bare?: boolean }) {
  const el = useRef<HTMLDivElement>(null);
  const view = useRef<View3D | undefined>(undefined);
  const [space] = useState(() => spaceOf(of));
  const ways = colourings(space);
  const [by, setBy] = useState<Colouring>(ways[0]!);
  const [ready, setReady] = useState(false);
  const [flat, setFlat] = useState<"flat" | "chunk">();
  const [perPixel, setPerPixel] = useState(0);
  const [grid, setGrid] = useState(0);
  const unit = of.unit ?? "m";
  const length = (v: number) => `${number(v, v < 0.01 ? 4 : v < 1 ? 2 : 1)} ${unit}`;

  useEffect(() => {
    let over = false;
    if (!document.createElement("canvas").getContext("webgl2")) {
      setFlat("flat");
      return;
    }
    // The cast keeps the compiler from looking for the address on the disk.
    (import(outside("/view3d.js")) as Promise<typeof import("../plots/view3d")>).then(
      (chunk) => {
        if (over || !el.current) return;
        try {
          view.current = chunk.view3d(el.current, {
            space,
            by,
            look: look(),
            labels: { x: `x, ${unit}`, y: "y", z: "z", start: t("start"), end: t("end") },
            onScale: setPerPixel,
            onGrid: setGrid,
            onLost: () => setFlat("flat"),
          });
          setReady(true);
        } catch {
          setFlat("flat");
        }
      },
      () => setFlat("chunk"),
    );
    return () => {
      over = true;
      view.current?.dispose();
      view.current = undefined;
    };
  }, []);
  const isDark = dark.value;
  useEffect(() => view.current?.paint(by, look()), [by, isDark]);
  const moving = of.kind === "trajectory" && of.time !== undefined;
  useSignalEffect(() => {
    const at = cursor.at;
    if (!moving) return;
    view.current?.mark(at === undefined ? undefined : nearest(times(of), at));
  });

  const keys: Record<string, () => void> = {
    ArrowLeft: () => view.current?.turn(-0.12, 0),
    ArrowRight: () => view.current?.turn(0.12, 0),
    ArrowUp: () => view.current?.turn(0, 0.1),
    ArrowDown: () => view.current?.turn(0, -0.1),
    "+": () => view.current?.zoom(1.25),
    "=": () => view.current?.zoom(1.25),
    "-": () => view.current?.zoom(0.8),
    "0": () => view.current?.reset(),
  };
  const n = number(of.total);
  const facts = [
    of.kind === "trajectory" ? t("poses", { n }) : of.reduced ? t("part", { shown: number(space.x.length), n }) : t("points", { n }),
    of.missing ? t("missing", { n: number(of.missing) }) : "",
    of.kind === "trajectory" && of.duration_s ? t("over", { time: duration(of.duration_s) }) : "",
    of.frame_id ? t("frame", { frame: of.frame_id }) : t("noFrame"),
    grid > 0 && !flat ? t("grid", { side: length(grid) }) : "",
  ];
  const bar = perPixel > 0 ? stepBelow(perPixel * 120) : 0;
  return (
    <div class="space">
      <div class="trace-head">
        <p class="dim number">{facts.filter(Boolean).join(" · ")}</p>
        {!flat && (
          <div class="trace-tools">
            {ways.length > 1 && <Segments label={t("by")} value={by} options={ways.map((w) => [w, t(w)] as const)} onChange={setBy} />}
            <Button label={t("out")} onClick={() => view.current?.zoom(0.8)}>
              −
            </Button>
            <Button label={t("in")} onClick={() => view.current?.zoom(1.25)}>
              +
            </Button>
            <Button icon="undo" onClick={() => view.current?.reset()}>
              {t("reset")}
            </Button>
          </div>
        )}
      </div>
      {flat ? (
        <>
          <p class="space-flat">{t(flat)}</p>
          <Picture src={previewURL(id, 1200, 800)} alt={t("above")} height={height} />
        </>
      ) : (
        <div
          class="space-view"
          tabIndex={0}
          role="img"
          aria-label={t("label", { kind: t(of.kind as "cloud"), n, frame: of.frame_id || "?" })}
          style={{ height: `${height}px` }}
          onKeyDown={(e) => {
            const act = e.ctrlKey || e.metaKey || e.altKey ? undefined : keys[e.key];
            if (!act) return;
            e.preventDefault();
            e.stopPropagation();
            act();
          }}
        >
          <div class="space-canvas" ref={el} />
          {!ready && <Loading />}
          {bar > 0 && (
            <span class="space-scale number" title={t("middle")}>
              <i style={{ width: `${bar / perPixel}px` }} />
              {length(bar)}
            </span>
          )}
        </div>
      )}
      {!flat && by !== "rgb" && <Ramp of={space} by={by} unit={unit} timeUnit={of.time_unit} />}
      {!flat && moving && <PathCursor of={of} cursor={cursor} unit={unit} />}
      {!flat && !bare && <p class="dim trace-help">{t("help")}</p>}
    </div>
  );
}

/** What the colours stand for. */
function Ramp({ of, by, unit, timeUnit }: { of: Space; by: Colouring; unit: string; timeUnit?: string }) {
  const { low, high } = coloured(of, by);
  if (low === high) return null; // such as the height of a level scan
  const write = (v: number) => (by === "time" ? instant(v, timeUnit, high - low) : by === "height" ? `${reading(v)} ${unit}` : reading(v));
  const stops = [0, 0.2, 0.4, 0.6, 0.8, 1].map((s) => `rgb(${ramp(s, dark.value).map((c) => Math.round(c * 255)).join(" ")})`);
  return (
    <p class="space-ramp number">
      <span>{t(by)}</span>
      <span>{write(low)}</span>
      <i style={{ background: `linear-gradient(90deg, ${stops.join(", ")})` }} />
      <span>{write(high)}</span>
    </p>
  );
}

/** A slider along a path, with the pose that it stands at. */
function PathCursor({ of, cursor, unit }: { of: Samples; cursor: Cursor; unit: string }) {
  const time = times(of);
  const i = cursor.at === undefined ? 0 : nearest(time, cursor.at);
  const whole = (time.at(-1) ?? 0) - (time[0] ?? 0);
  const pose = [of.x?.[i], of.y?.[i], of.z?.[i]].map(reading).join(", ");
  return (
    <label class="space-path">
      <span class="hidden">{t("place")}</span>
      <input type="range" min={0} max={time.length - 1} value={i} aria-valuetext={`${instant(time[i] ?? 0, of.time_unit, whole)}: ${pose} ${unit}`} onInput={(e) => cursor.move(time[Number(e.currentTarget.value)])} />
      <span class="number">
        {instant(time[i] ?? 0, of.time_unit, whole)} · <b>{pose}</b> {unit}
      </span>
    </label>
  );
}
