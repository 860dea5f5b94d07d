// Memories by place: which coordinates, what of them, and what lies round a
// point. The address holds all of it.

import { useState } from "preact/hooks";
import { useAsk } from "../app/ask";
import { go, route } from "../app/address";
import { number } from "../app/text";
import { Segments, Select } from "../parts/controls";
import { Await, Empty, Loading } from "../parts/states";
import { AxesChoice, SpaceChoice, SpacePlane } from "./map_space";
import { Near } from "./map_near";
import { address, choose, key, read, spacesOf, type HeatKind, type MapState, type Space } from "./map_query";
import { t } from "./map.text";

export function MapView() {
  const s = read(route.value.query);
  const asked = useAsk("places", { collection: s.collection }, { live: 3000 });
  // A collection without places is shown on the coordinates of the others.
  const every = useAsk("places", s.collection && asked.answer?.fields.length === 0 ? {} : undefined, { live: 3000 });
  return (
    <>
      <div class="head">
        <h1>{t("title")}</h1>
      </div>
      <Await of={asked} lines={8}>
        {(a) => {
          const spaces = spacesOf(a.fields.length > 0 ? a.fields : (every.answer?.fields ?? []));
          const space = choose(spaces, s.space);
          if (!space && every.asking) return <Loading lines={8} />;
          return space ? <Chosen s={s} space={space} spaces={spaces} /> : <NoPlaces />;
        }}
      </Await>
    </>
  );
}

function NoPlaces() {
  return (
    <div class="card">
      <Empty icon="map" title={t("empty")}>
        <p>{t("emptyHint")}</p>
        <pre class="snippet">{`robotmem learn "door 3 sticks" --context '{"spatial":{"position":[2.4,1.1],"frame_id":"map","map_id":"hall"}}'`}</pre>
      </Empty>
    </div>
  );
}

function Chosen({ s, space, spaces }: { s: MapState; space: Space; spaces: Space[] }) {
  const [found, setFound] = useState<ReadonlySet<number>>();
  const [over, setOver] = useState<number>();
  const set = (next: Partial<MapState>) => go(address({ ...s, space, ...next }), "replace");
  const pick = (at?: number[], radius?: number) => {
    setOver(undefined);
    set({ at, radius: at ? radius : s.radius });
  };
  const at = s.at?.length === space.dims ? s.at : undefined;
  return (
    <div class="stack">
      <Controls s={s} space={space} spaces={spaces} set={set} />
      <div class="map-columns">
        <div class="card map-card">
          <SpacePlane key={key(space)} s={s} space={space} spaces={spaces} found={found} over={over} onPick={pick} />
        </div>
        <aside class="card map-near" aria-label={t("around")}>
          <h2>{t("around")}</h2>
          {at ? <Near s={s} space={space} spaces={spaces} at={at} radius={s.radius} set={pick} onFound={setFound} onOver={setOver} /> : <p class="dim">{t("how")}</p>}
        </aside>
      </div>
    </div>
  );
}

function Controls({ s, space, spaces, set }: { s: MapState; space: Space; spaces: Space[]; set: (next: Partial<MapState>) => void }) {
  const collections = useAsk("collections", {}, { live: 10_000 });
  return (
    <div class="map-controls">
      <SpaceChoice spaces={spaces} space={space} onChange={(next) => set({ space: next, view: undefined, at: undefined, radius: undefined, axes: "xy" })} />
      {space.dims === 3 && <AxesChoice axes={s.axes} onChange={(axes) => set({ axes, view: undefined })} />}
      <Select
        label={t("collection")}
        value={s.collection ?? ""}
        options={[["", t("all")], ...(collections.answer?.collections ?? []).map((c) => [c.collection, `${c.collection} (${number(c.active)})`] as const)]}
        onChange={(v) => go(address({ ...s, collection: v || undefined, view: undefined }), "replace")}
      />
      <Choice
        label={t("outcome")}
        value={s.outcome === undefined ? "" : s.outcome ? "worked" : "failed"}
        options={[
          ["", t("any")],
          ["worked", t("worked")],
          ["failed", t("failed")],
        ]}
        onChange={(v) => set({ outcome: v === "" ? undefined : v === "worked" })}
      />
      <Choice
        label={t("type")}
        value={s.type ?? ""}
        options={[
          ["", t("any")],
          ["fact", t("fact")],
          ["perception", t("perception")],
        ]}
        onChange={(v) => set({ type: v || undefined })}
      />
      <Choice<HeatKind>
        label={t("heat")}
        value={s.heat}
        options={[
          ["", t("heatOff")],
          ["count", t("heatCount")],
          ["failures", t("heatFailures")],
        ]}
        onChange={(heat) => set({ heat })}
      />
    </div>
  );
}

function Choice<T extends string>(props: { label: string; value: T; options: readonly (readonly [T, string])[]; onChange: (value: T) => void }) {
  return (
    <div class="field">
      <span class="field-label">{props.label}</span>
      <Segments {...props} />
    </div>
  );
}
