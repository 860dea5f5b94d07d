// Filters built by clicking: what can be chosen is what the memory holds.

import { useState } from "preact/hooks";
import type { Answer } from "../api/client";
import { useAsk } from "../app/ask";
import { number, percent } from "../app/text";
import { Button, Segments, Select } from "../parts/controls";
import { Await, Empty, Loading } from "../parts/states";
import type { Condition, Question } from "./search_query";
import { PickPlace } from "./search_place";
import { t } from "./search.text";

interface FiltersProps {
  q: Question;
  set: (q: Question) => void;
}

const senses = ["visual", "tactile", "auditory", "proprioceptive", "procedural", "spatial"] as const;

export function Filters({ q, set }: FiltersProps) {
  const collections = useAsk("collections", {}, { live: 10_000 });
  const categories = useAsk("categories", { collection: q.fields.collection }, { live: 10_000 });
  const field = (name: keyof Question["fields"]) => (value: string) => set({ ...q, fields: { ...q.fields, [name]: value || undefined } });
  return (
    <div class="stack filters">
      <Select
        label={t("collection")}
        value={q.fields.collection ?? ""}
        options={[["", t("all")], ...(collections.answer?.collections ?? []).map((c) => [c.collection, `${c.collection} (${number(c.active)})`] as const)]}
        onChange={field("collection")}
      />
      <Group name={t("outcome")}>
        <Segments
          label={t("outcome")}
          value={q.outcome === undefined ? "" : q.outcome ? "worked" : "failed"}
          options={[
            ["", t("any")],
            ["worked", t("worked")],
            ["failed", t("failed")],
          ]}
          onChange={(v) => set({ ...q, outcome: v === "" ? undefined : v === "worked" })}
        />
      </Group>
      <Group name={t("type")}>
        <Segments
          label={t("type")}
          value={q.fields.type ?? ""}
          options={[
            ["", t("any")],
            ["fact", t("fact")],
            ["perception", t("perception")],
            ["document", t("document")],
          ]}
          onChange={field("type")}
        />
      </Group>
      {q.fields.type === "perception" && (
        <Select label={t("kind")} value={q.fields.perception_type ?? ""} options={[["", t("any")], ...senses.map((s) => [s, s] as const)]} onChange={field("perception_type")} />
      )}
      <Select
        label={t("category")}
        value={q.fields.category ?? ""}
        options={[["", t("all")], ...(categories.answer?.categories ?? []).map((c) => [c.category, `${c.category} (${number(c.count)})`] as const)]}
        onChange={field("category")}
      />
      <Time q={q} set={set} />
      <label class="field">
        <span class="field-label">
          {t("confidence")} {percent(q.confidence)}
        </span>
        <input type="range" min="0" max="1" step="0.05" value={q.confidence} onInput={(e) => set({ ...q, confidence: e.currentTarget.valueAsNumber })} />
      </label>
      <Tags q={q} set={set} />
      <Context q={q} set={set} />
      <Group name={t("place")}>
        <PickPlace q={q} set={set} />
      </Group>
    </div>
  );
}

function Group({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div class="field">
      <span class="field-label">{name}</span>
      {children}
    </div>
  );
}

function Time({ q, set }: FiltersProps) {
  const day = (text?: string) => (text && /^\d{4}-\d\d-\d\d/.test(text) ? text.slice(0, 10) : "");
  const age = q.after && !day(q.after) ? q.after : q.after || q.before ? "dates" : "";
  return (
    <Group name={t("time")}>
      <Segments
        label={t("time")}
        value={age}
        options={[
          ["", t("any")],
          ["24h", "24 h"],
          ["7d", "7 d"],
          ["30d", "30 d"],
        ]}
        onChange={(v) => set({ ...q, after: v || undefined, before: undefined })}
      />
      <div class="pair">
        <label class="field">
          <span class="field-label">{t("from")}</span>
          <input type="date" value={day(q.after)} onChange={(e) => set({ ...q, after: e.currentTarget.value || undefined })} />
        </label>
        <label class="field">
          <span class="field-label">{t("until")}</span>
          <input type="date" value={day(q.before)} onChange={(e) => set({ ...q, before: e.currentTarget.value || undefined })} />
        </label>
      </div>
    </Group>
  );
}

function Tags({ q, set }: FiltersProps) {
  return (
    <form
      class="field"
      onSubmit={(e) => {
        e.preventDefault();
        const input = e.currentTarget.elements.namedItem("tag") as HTMLInputElement;
        const tag = input.value.trim();
        if (tag && !q.tags.includes(tag)) set({ ...q, tags: [...q.tags, tag] });
        input.value = "";
      }}
    >
      <label class="field">
        <span class="field-label">{t("tags")}</span>
        <input name="tag" autocomplete="off" placeholder="slip" />
      </label>
    </form>
  );
}

function Context({ q, set }: FiltersProps) {
  const [path, setPath] = useState("");
  const paths = useAsk("paths", { collection: q.fields.collection }, { live: 10_000 });
  const add = (c: Condition) => {
    setPath("");
    set({ ...q, conditions: [...q.conditions, c] });
  };
  return (
    <Group name={t("context")}>
      <Await of={paths} lines={1}>
        {(a) =>
          a.paths.length === 0 ? (
            <p class="dim">{t("noPaths")}</p>
          ) : (
            <Select
              label={t("path")}
              hideLabel
              value={path}
              options={[["", t("choose")], ...a.paths.map((p) => [p.path, `${p.path} (${number(p.memories)})`] as const)]}
              onChange={setPath}
            />
          )
        }
      </Await>
      {path && <Values path={path} collection={q.fields.collection} add={add} />}
    </Group>
  );
}

function Values({ path, collection, add }: { path: string; collection?: string; add: (c: Condition) => void }) {
  const asked = useAsk("paths", { path, collection }, { live: 0 });
  if (!asked.answer) return asked.error ? <Await of={asked}>{() => null}</Await> : <Loading lines={2} />;
  const p = asked.answer.paths[0];
  if (!p) return <Empty title={t("noPaths")} />;
  return (
    <div class="values">
      {p.min !== undefined && <Between p={p} add={add} />}
      <ul>
        {p.values?.slice(0, 20).map((v) => (
          <li key={JSON.stringify(v.value)}>
            <button type="button" class="chip" onClick={() => add({ path, op: "$eq", value: v.value })}>
              {typeof v.value === "string" ? v.value : JSON.stringify(v.value)} <span class="dim number">{number(v.memories)}</span>
            </button>
          </li>
        ))}
        <li>
          <button type="button" class="chip" onClick={() => add({ path, op: "$exists", value: true })}>
            {t("exists")} <span class="dim number">{number(p.memories)}</span>
          </button>
        </li>
      </ul>
    </div>
  );
}

/** A range of numbers. What is typed may carry a unit, as in 12.5 N. */
function Between({ p, add }: { p: Answer<"paths">["paths"][number]; add: (c: Condition) => void }) {
  const unit = p.unit ? ` ${p.unit}` : "";
  const value = (text: string) => (Number.isNaN(Number(text)) ? text : p.unit ? text + unit : Number(text));
  return (
    <form
      class="between"
      onSubmit={(e) => {
        e.preventDefault();
        const data = new FormData(e.currentTarget);
        const [least, most] = [data.get("least") as string, data.get("most") as string];
        if (least) add({ path: p.path, op: "$gte", value: value(least.trim()) });
        if (most) add({ path: p.path, op: "$lte", value: value(most.trim()) });
      }}
    >
      <div class="pair">
        <label class="field">
          <span class="field-label">
            {t("min")} {p.min !== undefined && number(p.min, 3) + unit}
          </span>
          <input name="least" inputMode="decimal" autocomplete="off" />
        </label>
        <label class="field">
          <span class="field-label">
            {t("max")} {p.max !== undefined && number(p.max, 3) + unit}
          </span>
          <input name="most" inputMode="decimal" autocomplete="off" />
        </label>
      </div>
      <Button submit>{t("add")}</Button>
    </form>
  );
}
