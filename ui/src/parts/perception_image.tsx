// A picture to look into: fit, zoom, pan. One state of the view: how large a
// pixel is drawn and where the middle of the frame lies on the picture.

import { useEffect, useRef, useState } from "preact/hooks";
import { number, texts } from "../app/text";
import { Button } from "./controls";
import { useWidth } from "./width";

const t = texts(
  {
    fit: "Fit",
    whole: "Fit: show the whole picture",
    actual: "1:1",
    actualLabel: "1:1, one pixel of the picture to one of the screen",
    in: "Zoom in",
    out: "Zoom out",
    size: "{w} × {h} px",
    shown: "shown at {percent} %",
    frame: "{alt}. {w} by {h} pixels. Keys: plus and minus zoom, 0 fits, arrows move.",
    pixel: "pixel {x}, {y}",
  },
  {
    fit: "适合",
    whole: "适合：显示整幅",
    actual: "1:1",
    actualLabel: "1:1，图像像素与屏幕像素一一对应",
    in: "放大",
    out: "缩小",
    size: "{w} × {h} 像素",
    shown: "显示比例 {percent} %",
    frame: "{alt}。{w} × {h} 像素。按键：加减号缩放，0 适合，方向键移动。",
    pixel: "像素 {x}, {y}",
  },
);

const largest = 64; // screen pixels for one of the picture

interface View {
  /** CSS pixels for one of the picture; undefined fits. */
  scale?: number;
  /** What lies in the middle of the frame, in pixels of the picture. */
  x: number;
  y: number;
}

interface PictureProps {
  src: string;
  alt: string;
  height?: number;
  /** Size as stored, where src is a smaller copy. */
  size?: { width: number; height: number };
  /** Said beside the size. */
  note?: string;
  onError?: () => void;
}

export function Picture({ src, alt, height = 460, size, note, onError }: PictureProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [loaded, setLoaded] = useState<{ width: number; height: number }>();
  const [widthRef, boxWidth] = useWidth();
  const [view, setView] = useState<View>({ x: 0, y: 0 });
  const [over, setOver] = useState<[number, number]>();
  const held = useRef(new Map<number, PointerEvent>());

  const w = loaded?.width ?? 1;
  const h = loaded?.height ?? 1;
  const enlarged = w < 64 ? 8 : w < 256 ? 3 : 1; // a thumbnail is no speck
  const box = { width: boxWidth, height: loaded ? Math.min(height, Math.max(h * Math.min(enlarged, boxWidth / w), 120)) : height };
  const fit = Math.min(box.width / w, box.height / h, enlarged) || 1;
  const scale = view.scale ?? fit;
  const x = view.scale === undefined ? w / 2 : view.x;
  const y = view.scale === undefined ? h / 2 : view.y;

  const clamp = (v: number, length: number, room: number) => {
    const half = room / 2 / scale;
    return half * 2 >= length ? length / 2 : Math.min(Math.max(v, half), length - half);
  };
  /** Zooms so that what lies under a point of the frame stays there. */
  const zoom = (factor: number, at: [number, number] = [box.width / 2, box.height / 2]) => {
    const next = Math.min(Math.max(scale * factor, fit), largest);
    if (next <= fit * 1.001) {
      setView({ x: w / 2, y: h / 2 });
      return;
    }
    const [px, py] = picture(at);
    setView({ scale: next, x: px - (at[0] - box.width / 2) / next, y: py - (at[1] - box.height / 2) / next });
  };
  const picture = ([px, py]: [number, number]): [number, number] => [x + (px - box.width / 2) / scale, y + (py - box.height / 2) / scale];
  const place = (e: MouseEvent): [number, number] => {
    const r = frame.current!.getBoundingClientRect();
    return [e.clientX - r.left, e.clientY - r.top];
  };
  const pan = (dx: number, dy: number) => view.scale !== undefined && setView({ scale, x: clamp(x - dx / scale, w, box.width), y: clamp(y - dy / scale, h, box.height) });

  const wheel = useRef(zoom);
  wheel.current = zoom;
  const zoomed = useRef(false);
  zoomed.current = view.scale !== undefined;
  useEffect(() => {
    const el = frame.current!;
    const turn = (e: WheelEvent) => {
      if (e.deltaY > 0 && !zoomed.current) return; // nothing smaller than the whole: the page scrolls
      e.preventDefault();
      wheel.current(Math.exp(-Math.max(-120, Math.min(120, e.deltaY)) / 300), place(e));
    };
    el.addEventListener("wheel", turn, { passive: false });
    return () => el.removeEventListener("wheel", turn);
  }, []);

  const drag = (e: PointerEvent) => {
    const [px, py] = picture(place(e)).map(Math.floor) as [number, number];
    setOver(e.pointerType !== "touch" && px >= 0 && py >= 0 && px < w && py < h ? [px, py] : undefined);
    const before = held.current.get(e.pointerId);
    if (!before) return;
    const other = [...held.current.values()].find((p) => p.pointerId !== e.pointerId);
    if (other) {
      const far = (p: PointerEvent) => Math.hypot(p.clientX - other.clientX, p.clientY - other.clientY);
      if (far(before) > 0) zoom(far(e) / far(before), [(place(e)[0] + place(other)[0]) / 2, (place(e)[1] + place(other)[1]) / 2]);
    } else {
      pan(e.clientX - before.clientX, e.clientY - before.clientY);
    }
    held.current.set(e.pointerId, e);
  };
  const keys: Record<string, () => void> = {
    "+": () => zoom(1.5),
    "=": () => zoom(1.5),
    "-": () => zoom(1 / 1.5),
    "0": () => setView({ x: 0, y: 0 }),
    ArrowLeft: () => pan(60, 0),
    ArrowRight: () => pan(-60, 0),
    ArrowUp: () => pan(0, 60),
    ArrowDown: () => pan(0, -60),
  };
  const stored = size ?? loaded;
  const facts = { w: number(stored?.width ?? 0), h: number(stored?.height ?? 0) };
  const ratio = stored && loaded ? (scale * loaded.width) / stored.width : scale;
  return (
    <figure class="picture" ref={widthRef}>
      <div
        ref={frame}
        class={`picture-frame${view.scale === undefined ? "" : " zoomed"}`}
        style={{ height: `${box.height}px` }}
        tabIndex={0}
        role="img"
        aria-label={t("frame", { alt, ...facts })}
        onKeyDown={(e) => {
          const act = e.ctrlKey || e.metaKey || e.altKey ? undefined : keys[e.key];
          if (!act || (view.scale === undefined && e.key.startsWith("Arrow"))) return;
          e.preventDefault();
          e.stopPropagation();
          act();
        }}
        onDblClick={(e) => (view.scale === undefined ? zoom(Math.max(1 / fit, 2), place(e)) : setView({ x: 0, y: 0 }))}
        onPointerDown={(e) => {
          e.currentTarget.setPointerCapture(e.pointerId);
          held.current.set(e.pointerId, e);
        }}
        onPointerMove={drag}
        onPointerUp={(e) => held.current.delete(e.pointerId)}
        onPointerCancel={(e) => held.current.delete(e.pointerId)}
        onPointerLeave={() => setOver(undefined)}
      >
        <img
          src={src}
          alt=""
          draggable={false}
          class={scale * devicePixelRatio >= 2 ? "pixels" : ""}
          style={{ width: `${w}px`, height: `${h}px`, transform: `translate(${box.width / 2 - x * scale}px, ${box.height / 2 - y * scale}px) scale(${scale})`, visibility: loaded ? "visible" : "hidden" }}
          onLoad={(e) => setLoaded({ width: e.currentTarget.naturalWidth || 640, height: e.currentTarget.naturalHeight || 360 })}
          onError={onError}
        />
      </div>
      <figcaption>
        <span class="number">
          {stored && t("size", facts)}
          {loaded && <span class="dim"> · {t("shown", { percent: number(ratio * 100) })}</span>}
          {over && loaded && stored && (
            <span class="dim"> · {t("pixel", { x: Math.floor((over[0] * stored.width) / loaded.width), y: Math.floor((over[1] * stored.height) / loaded.height) })}</span>
          )}
          {note && <span class="dim"> · {note}</span>}
        </span>
        <span class="picture-tools">
          <Button label={t("out")} disabled={view.scale === undefined} onClick={() => zoom(1 / 1.5)}>
            −
          </Button>
          <Button label={t("in")} onClick={() => zoom(1.5)}>
            +
          </Button>
          <Button label={t("actualLabel")} onClick={() => zoom(1 / scale)}>
            {t("actual")}
          </Button>
          <Button label={t("whole")} disabled={view.scale === undefined} onClick={() => setView({ x: 0, y: 0 })}>
            {t("fit")}
          </Button>
        </span>
      </figcaption>
    </figure>
  );
}
