// One space of coordinates on a plane: asked for, drawn, a place picked in it.

import { useMemo, useRef, useState } from "preact/hooks";
import { go, route, withQuery } from "../app/address";
import { useAsk } from "../app/ask";
import { number } from "../app/text";
import { Segments, Select } from "../parts/controls";
import { ErrorBox, Loading } from "../parts/states";
import { Plane } from "../plots/plane";
import { Legend } from "../plots/plane_over";
import type { Heat, PlanePoint } from "../plots/plane_draw";
import type { Box } from "../plots/plane_view";
import { count, depth, extent, key, letters, onPlane, order, points as request, usual, wider, type Axes, type MapState, type Space } from "./map_query";
import { t } from "./map.text";
import { UnderlayChoice, useUnderlay } from "./map_underlay";

/** A space by its field, frame and map. */
export function spaceName(f: Pick<Space, "field" | "frame_id" | "map_id" | "dims">): string {
  return [f.field, f.frame_id ? t("inFrame", { frame: f.frame_id }) : t("noFrame"), f.map_id && t("onMap", { map: f.map_id }), f.dims === 3 && "3-D"].filter(Boolean).join(" · ");
}

export function SpaceChoice({ spaces, space, onChange }: { spaces: Space[]; space: Space; onChange: (space: Space) => void }) {
  return (
    <Select
      label={t("space")}
      value={key(space)}
      options={spaces.map((f) => [key(f), `${spaceName(f)} (${number(f.memories)})`] as const)}
      onChange={(k) => onChange(spaces.find((f) => key(f) === k)!)}
    />
  );
}

export function AxesChoice({ axes, onChange }: { axes: Axes; onChange: (axes: Axes) => void }) {
  return (
    <div class="field">
      <span class="field-label">{t("plane")}</span>
      <Segments
        label={t("plane")}
        value={axes}
        options={[
          ["xy", "x y"],
          ["xz", "x z"],
          ["yz", "y z"],
        ]}
        onChange={onChange}
      />
    </div>
  );
}

const settled = 250; // milliseconds before the address follows a move

interface SpaceProps {
  s: MapState;
  space: Space;
  spaces: Space[];
  /** Memories to ring, and one that is pointed at elsewhere. */
  found?: ReadonlySet<number>;
  over?: number;
  /** at undefined: nothing is picked any more. */
  onPick: (at: number[] | undefined, radius?: number) => void;
}

export function SpacePlane({ s, space, spaces, found, over, onPick }: SpaceProps) {
  const axes: Axes = space.dims === 3 ? s.axes : "xy";
  const [part, setPart] = useState<Box>();
  const asked = useAsk("places", request(s, space, spaces, axes === "xy" ? part : undefined), { live: 2000, settle: part ? 200 : 0 });
  const a = asked.answer;
  const all = useMemo(() => (a ? onPlane(a, axes) : []), [a, axes]);
  const whole = useMemo(() => extent(space, axes), [space.min.join(), space.max.join(), axes]);
  const heat = useMemo<Heat | undefined>(() => {
    if (!a || !s.heat) return undefined;
    if (axes !== "xy") return { kind: s.heat, ...count(all, part ?? whole) };
    return { kind: s.heat, side: a.cell ?? 0, cells: a.cells.map((c) => ({ ...c, u: c.x, v: c.y })) };
  }, [a, s.heat, all]);
  const plan = useUnderlay(space, s.collection, axes === "xy" && !s.bare);
  const timer = useRef(0);
  const moved = useRef(0);

  if (!a) return asked.error ? <ErrorBox error={asked.error} again={asked.again} /> : <Loading lines={8} />;

  const [iu, iv, iw] = order[axes];
  const pick = (u: number, v: number, point?: PlanePoint) => {
    const at: number[] = [];
    [at[iu], at[iv]] = [u, v];
    if (space.dims === 3) at[iw] = point?.depth ?? depth(all, u, v) ?? s.at?.[iw] ?? 0;
    onPick(at, s.radius ?? usual(space));
  };
  const flat = a.points.length - all.length;
  const tally = (good?: boolean) => number(all.filter((p) => p.good === good).length);
  const names = [letters[iu]!, letters[iv]!, space.dims === 3 ? letters[iw] : undefined] as const;
  const label = t("words", {
    n: number(a.total),
    space: spaceName(space),
    worked: tally(true),
    failed: tally(false),
    unknown: tally(),
    u: names[0],
    v: names[1],
    u0: number(whole.min[0], 2),
    u1: number(whole.max[0], 2),
    v0: number(whole.min[1], 2),
    v1: number(whole.max[1], 2),
  });
  return (
    <figure class="map-figure">
      {asked.error && <ErrorBox error={asked.error} again={asked.again} />}
      <Plane
        start={s.view}
        onMoved={(view) => {
          clearTimeout(moved.current);
          moved.current = window.setTimeout(() => route.peek().path === "/map" && go(withQuery({ view: view?.map((n) => Number(n.toPrecision(7))).join(",") }), "replace"), settled);
        }}
        key={axes}
        label={label}
        points={all}
        whole={whole}
        axes={[...names]}
        frame={`${space.frame_id || t("noFrame")}${space.map_id ? ` · ${space.map_id}` : ""} · ${t("unit")}`}
        heat={heat}
        underlay={axes === "xy" && !s.bare ? plan?.underlay : undefined}
        picked={s.at?.length === space.dims && s.at.every(Number.isFinite) ? { u: s.at[iu]!, v: s.at[iv]!, radius: s.radius } : undefined}
        found={found}
        over={over}
        onPick={pick}
        onRadius={(r) => s.at && onPick(s.at, r)}
        onClear={() => onPick(undefined)}
        onView={(box) => {
          clearTimeout(timer.current);
          timer.current = window.setTimeout(() => setPart(box && wider(box)), 150);
        }}
      />
      <figcaption class="map-caption">
        <Legend heat={heat} />
        {plan && axes === "xy" && route.value.path === "/map" && <UnderlayChoice found={plan} shown={!s.bare} onChange={(on) => go(withQuery({ plan: on ? undefined : "off" }), "replace")} />}
        <p class="dim number" role="status">
          {a.total === 0 ? t(part ? "noneInSight" : "noneFits") : a.sampled ? t("sampled", { n: number(all.length), total: number(a.total) }) : t("shown", { n: number(all.length) })}
          {flat > 0 && ` ${t("flat", { n: number(flat) })}`}
        </p>
      </figcaption>
    </figure>
  );
}

