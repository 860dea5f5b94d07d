// A place to search around, picked on the map or given in numbers.

import { useState } from "preact/hooks";
import { useAsk } from "../app/ask";
import { Button, Dialog } from "../parts/controls";
import { Await, Empty } from "../parts/states";
import { AxesChoice, SpaceChoice, SpacePlane } from "./map_space";
import { Coordinates } from "./map_near";
import { choose, key, place, spacesOf, type MapState, type Space } from "./map_query";
import type { Place, Question } from "./search_query";
import { t } from "./map.text";

export function PickPlace({ q, set }: { q: Question; set: (q: Question) => void }) {
  const [open, setOpen] = useState(false);
  return (
    <div class="pick-place">
      <Button icon="map" onClick={() => setOpen(true)}>
        {t(q.place ? "change" : "pick")}
      </Button>
      {q.place && (
        <Button icon="cross" onClick={() => set({ ...q, place: undefined })}>
          {t("clearPlace")}
        </Button>
      )}
      {open && (
        <Dialog title={t("pickTitle")} wide onClose={() => setOpen(false)}>
          <Picker
            q={q}
            cancel={() => setOpen(false)}
            use={(place) => {
              setOpen(false);
              set({ ...q, place });
            }}
          />
        </Dialog>
      )}
    </div>
  );
}

interface PickerProps {
  q: Question;
  use: (place: Place) => void;
  cancel: () => void;
}

/** The map shows what the search's own filters leave, as far as the map has them. */
function Picker({ q, use, cancel }: PickerProps) {
  const [s, set] = useState<MapState>(() => ({
    space: q.place && { field: q.place.field, frame_id: q.place.frame, map_id: q.place.map, dims: q.place.target.length },
    axes: "xy",
    collection: q.fields.collection,
    type: q.fields.type as MapState["type"],
    outcome: q.outcome,
    heat: "",
    at: q.place?.target,
    radius: q.place?.radius,
  }));
  const asked = useAsk("places", {}, { live: 3000 });
  return (
    <Await of={asked} lines={8}>
      {(a) => {
        const spaces = spacesOf(a.fields);
        const space = choose(spaces, s.space);
        if (!space) {
          return (
            <Empty icon="map" title={t("empty")}>
              {t("emptyHint")}
            </Empty>
          );
        }
        return <Picking s={s} set={set} space={space} spaces={spaces} use={use} cancel={cancel} />;
      }}
    </Await>
  );
}

interface PickingProps extends Omit<PickerProps, "q"> {
  s: MapState;
  set: (s: MapState) => void;
  space: Space;
  spaces: Space[];
}

function Picking({ s, set, space, spaces, use, cancel }: PickingProps) {
  const at = s.at?.length === space.dims ? s.at : undefined;
  return (
    <>
      <p class="dim">{t("pickHow")}</p>
      <div class="map-controls">
        <SpaceChoice spaces={spaces} space={space} onChange={(next) => set({ ...s, space: next, at: undefined, radius: undefined, axes: "xy" })} />
        {space.dims === 3 && <AxesChoice axes={s.axes} onChange={(axes) => set({ ...s, axes })} />}
        <Coordinates at={at ?? Array<number>(space.dims).fill(NaN)} radius={s.radius} set={(at, radius) => set({ ...s, at, radius })} />
      </div>
      <SpacePlane key={key(space)} s={s} space={space} spaces={spaces} onPick={(at, radius) => set({ ...s, at, radius })} />
      <footer>
        <Button onClick={cancel}>{t("cancel")}</Button>
        <Button kind="main" disabled={!at?.every(Number.isFinite)} onClick={() => use(place(space, at!, s.radius))}>
          {t("use")}
        </Button>
      </footer>
    </>
  );
}
