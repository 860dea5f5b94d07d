// A film as the browser plays it; the shared cursor and the film follow each other.

import { useSignalEffect } from "@preact/signals";
import { useRef, useState } from "preact/hooks";
import { dataURL } from "../api/client";
import { texts } from "../app/text";
import type { Cursor } from "./perception_samples";

const t = texts(
  { broken: "This browser cannot play the film. Download it, or open it in another browser." },
  { broken: "此浏览器无法播放该视频。请下载，或换用其他浏览器。" },
);

const apart = 0.15; // seconds between film and cursor that are let be while it plays

export function Film({ id, cursor, height }: { id: number; cursor: Cursor; height?: number }) {
  const film = useRef<HTMLVideoElement>(null);
  const [broken, setBroken] = useState(false);
  useSignalEffect(() => {
    const at = cursor.at;
    const v = film.current;
    if (!v || at === undefined || Math.abs(v.currentTime - at) < (v.paused ? 0.001 : apart)) return;
    v.currentTime = Math.min(Math.max(at, 0), v.duration || Infinity);
  });
  if (broken) return <p class="notice">{t("broken")}</p>;
  return <video class="film" ref={film} src={dataURL(id)} controls playsInline preload="metadata" style={{ maxHeight: `${height ?? 480}px` }} onTimeUpdate={(e) => !e.currentTarget.paused && cursor.move(e.currentTarget.currentTime)} onError={() => setBroken(true)} />;
}
