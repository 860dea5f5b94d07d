// The map that lies beneath a space of the map view: the newest of its frame and map.

import { useEffect, useMemo, useState } from "preact/hooks";
import { dataURL, Problem, type Memory } from "../api/client";
import { useAsk } from "../app/ask";
import { ask } from "../app/base";
import { date, number } from "../app/text";
import { colour, dark } from "../app/theme";
import { Button } from "../parts/controls";
import { drawn, recolour, themeColours, type GridPlace, type Underlay } from "../plots/underlay";
import type { Space } from "./map_query";
import { t } from "./map.text";

const most = 100; // maps of one frame and name among which the newest is looked for

/** Where a stored map lies; undefined if its context does not say. */
export function placeOf(m: Pick<Memory, "context">): GridPlace | undefined {
  const c = (m.context as { map?: Record<string, unknown> } | undefined)?.map ?? {};
  const [x, y, yaw, resolution, width, height] = ["origin_x", "origin_y", "origin_yaw", "resolution", "width", "height"].map((name) => c[name]) as number[];
  const known = [x, y, yaw, resolution, width, height].every((n) => Number.isFinite(n));
  return known && resolution! > 0 && width! > 0 && height! > 0 ? { x: x!, y: y!, yaw: yaw!, resolution: resolution!, width: width!, height: height! } : undefined;
}

export interface Found {
  memory: Memory;
  place: GridPlace;
  underlay?: Underlay;
  error?: Problem;
}

/** The map of a space; undefined without one. Coordinates without a frame have none. */
export function useUnderlay(space: Space, collection: string | undefined, shown: boolean): Found | undefined {
  const filter = { "map.kind": "occupancy", "map.frame_id": space.frame_id, "map.map_id": space.map_id ?? { $exists: false } };
  const asked = useAsk(
    "list",
    space.frame_id ? { type: "perception", perception_type: "spatial", collection, limit: most, context_filter: filter as never } : undefined,
    { live: 5000 },
  );
  const memory = useMemo(
    () => asked.answer?.memories.filter(placeOf).reduce<Memory | undefined>((best, m) => (best && best.observed_at >= m.observed_at ? best : m), undefined),
    [asked.answer],
  );
  const place = useMemo(() => memory && placeOf(memory), [memory?.memory_id]);
  const [read, setRead] = useState<{ id: number; pixels?: ImageData; error?: Problem }>();
  const id = shown ? memory?.memory_id : undefined;

  useEffect(() => {
    if (id === undefined || !place) return;
    let gone = false;
    readPixels(id, place).then(
      (pixels) => gone || setRead({ id, pixels }),
      (e) => gone || setRead({ id, error: Problem.from(e) }),
    );
    return () => {
      gone = true;
    };
  }, [id]);

  const pixels = read?.id === id ? read?.pixels : undefined;
  const underlay = useMemo<Underlay | undefined>(() => {
    if (!pixels || !place) return undefined;
    const own = new ImageData(new Uint8ClampedArray(pixels.data), pixels.width, pixels.height);
    recolour(own.data, themeColours());
    const picture = new OffscreenCanvas(own.width, own.height);
    picture.getContext("2d")!.putImageData(own, 0, 0);
    return { place, picture, edge: colour("dim") };
  }, [pixels, place, dark.value]);

  return memory && place && { memory, place, underlay, error: read?.id === id ? read?.error : undefined };
}

/** The pixels of a stored map, no more than are drawn. */
async function readPixels(id: number, place: GridPlace): Promise<ImageData> {
  const res = await ask(dataURL(id));
  if (!res.ok) throw await Problem.of(res);
  const [width, height] = drawn(place.width, place.height);
  const picture = await createImageBitmap(await res.blob(), { resizeWidth: width, resizeHeight: height, resizeQuality: "pixelated" });
  const g = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true })!;
  g.drawImage(picture, 0, 0);
  picture.close();
  return g.getImageData(0, 0, width, height);
}

/** Which map lies beneath, and the switch that hides it. */
export function UnderlayChoice({ found, shown, onChange }: { found: Found; shown: boolean; onChange: (shown: boolean) => void }) {
  const { memory, place, error } = found;
  const size = { width: number(place.width * place.resolution, 1), height: number(place.height * place.resolution, 1) };
  return (
    <p class="map-underlay">
      <Button icon="map" pressed={shown} onClick={() => onChange(!shown)}>
        {t("underlay")}
      </Button>
      <a class="dim number" href={`/memory/${memory.memory_id}`}>
        {t("underlayOf", { ...size, date: date(memory.observed_at) })}
      </a>
      {shown && error && <span class="mark warn">{t("underlayGone", { why: error.message })}</span>}
    </p>
  );
}
