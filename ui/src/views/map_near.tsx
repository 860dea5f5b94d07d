// The memories round the place that is picked, nearest first.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useAsk } from "../app/ask";
import { number } from "../app/text";
import { Button } from "../parts/controls";
import { Outcome, outcome, When } from "../parts/memory_row";
import { Await, Empty } from "../parts/states";
import { letters, place, question, type MapState, type Space } from "./map_query";
import { address, recall } from "./search_query";
import { t } from "./map.text";

const most = 100; // memories a recall returns

interface NearProps {
  s: MapState;
  space: Space;
  spaces: Space[];
  at: number[];
  radius?: number;
  set: (at: number[] | undefined, radius?: number) => void;
  onFound: (ids: ReadonlySet<number> | undefined) => void;
  onOver: (id: number | undefined) => void;
}

export function Near({ s, space, spaces, at, radius, set, onFound, onOver }: NearProps) {
  const q = { ...question(s, space, spaces), place: place(space, at, radius) };
  const asked = useAsk("recall", { ...recall(q, 0)!, n: most, as_you_type: true }, { live: 2000, settle: 60 });
  useEffect(() => {
    onFound(asked.answer && new Set(asked.answer.memories.map((m) => m.memory_id)));
    return () => onFound(undefined);
  }, [asked.answer]);
  return (
    <>
      <Coordinates at={at} radius={radius} set={set} />
      <p class="map-actions">
        <a class="button main" href={address(q)}>
          {t("searchHere")}
        </a>
        <Button onClick={() => set(undefined)}>{t("unpick")}</Button>
      </p>
      <Await of={asked} lines={5}>
        {(a) =>
          a.memories.length === 0 ? (
            <Empty icon="map" title={t("noneNear")}>
              {radius ? t("noneNearHint") : ""}
            </Empty>
          ) : (
            <>
              <p class="dim number" role="status">
                {t(a.memories.length === most ? "nearMost" : "near", { n: number(a.memories.length) })}
              </p>
              {a.degraded.map((d) => (
                <p key={d} class="degraded">
                  {d}
                </p>
              ))}
              <ol class={`near${asked.asking ? " older" : ""}`}>
                {a.memories.map((m) => (
                  <li key={m.memory_id} onPointerEnter={() => onOver(m.memory_id)} onPointerLeave={() => onOver(undefined)} onFocusIn={() => onOver(m.memory_id)} onFocusOut={() => onOver(undefined)}>
                    <span class="near-distance number" title={t("distance")}>
                      {number(m.distance ?? 0, 3)}
                    </span>
                    <div>
                      <a class="row-title" dir="auto" href={`/memory/${m.memory_id}`}>
                        {m.summary || m.content}
                      </a>
                      <p class="row-facts">
                        <Outcome of={outcome(m)} />
                        <span>{m.collection}</span>
                        <When time={m.observed_at} />
                      </p>
                    </div>
                  </li>
                ))}
              </ol>
            </>
          )
        }
      </Await>
    </>
  );
}

/** A place in numbers: the other way to give it than a click on the plane. */
export function Coordinates({ at, radius, set }: { at: number[]; radius?: number; set: (at: number[], radius?: number) => void }) {
  return (
    <div class="coordinates">
      {at.map((n, i) => (
        <label key={letters[i]} class="field">
          <span class="field-label">{letters[i]}</span>
          <NumberInput value={n} set={(value) => Number.isFinite(value) && set(at.with(i, value), radius)} />
        </label>
      ))}
      <label class="field">
        <span class="field-label">{t("radius")}</span>
        <NumberInput min="0" value={radius} placeholder={t("anywhere")} set={(value) => set(at, value > 0 ? value : undefined)} />
      </label>
    </div>
  );
}

/** An input for a number. A new rendering of the page does not overwrite what the user types. */
function NumberInput({ value, set, ...rest }: { value?: number; set: (value: number) => void; min?: string; placeholder?: string }) {
  const input = useRef<HTMLInputElement>(null);
  const text = Number.isFinite(value) ? String(value) : "";
  useLayoutEffect(() => {
    if (input.current) input.current.value = text;
  }, [text]);
  const changed = (e: { currentTarget: HTMLInputElement }) => {
    const n = e.currentTarget.valueAsNumber;
    e.currentTarget.value = text; // until set accepts the number
    set(n);
  };
  return <input ref={input} type="number" step="any" {...rest} onChange={changed} />;
}
