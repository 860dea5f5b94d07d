import assert from "node:assert/strict";
import { test } from "node:test";
import { address, asCurl, asGo, asMCP, read, recall, type Question } from "./search_query";

const nothing: Question = {
  query: "",
  fields: {},
  tags: [],
  outcome: undefined,
  after: undefined,
  before: undefined,
  confidence: 0,
  conditions: [],
  place: undefined,
  rows: undefined,
};
const full: Question = {
  query: "wet glass",
  fields: { collection: "kitchen", type: "fact" },
  tags: ["a", "b&c"],
  outcome: false,
  after: "7d",
  before: "2026-03-01",
  confidence: 0.5,
  conditions: [
    { path: "task.name", op: "$eq", value: "reach" },
    { path: "params.force", op: "$gte", value: "12 N" },
  ],
  place: { field: "spatial.position", target: [1, 2], radius: 0.5, frame: "map" },
  rows: 100,
};
const of = (query: string) => read(new URLSearchParams(query));

test("an address names the whole question", () => {
  assert.deepEqual(of(address(full).slice("/search?".length)), full);
  assert.deepEqual(of(""), nothing);
  assert.equal(address(nothing), "/search");
  assert.equal(
    address({ ...nothing, query: "a b", fields: { category: "x", type: undefined } }),
    "/search?q=a+b&category=x",
  );
});

test("what an address does not say properly is left out", () => {
  assert.deepEqual(of("outcome=maybe&confidence=high&rows=many&where=[{&place={&unknown=1"), nothing);
});

test("JSON of another shape is left out", () => {
  assert.deepEqual(of('where={"a":1}&place=[1]'), nothing);
  assert.deepEqual(of('where=[1,{"path":"a","op":"$eq","value":2}]&place={"field":"x"}'), {
    ...nothing,
    conditions: [{ path: "a", op: "$eq", value: 2 }],
  });
});

test("a number of rows is positive", () => {
  assert.equal(of("rows=-5").rows, undefined);
  assert.equal(of("rows=Infinity").rows, undefined);
});

const now = Date.UTC(2026, 2, 4, 12, 0, 59);

test("the recall of a question", () => {
  assert.deepEqual(recall(full, now), {
    collection: "kitchen",
    type: "fact",
    min_confidence: 0.5,
    query: "wet glass",
    tags: ["a", "b&c"],
    after: "2026-02-25T12:00:00.000Z",
    before: "2026-03-01T00:00:00.000Z",
    context_filter: {
      $and: [{ "task.name": "reach" }, { "params.force": { $gte: "12 N" } }, { "task.success": false }],
    },
    spatial_sort: { field: "spatial.position", target: [1, 2], max_distance: 0.5, frame_id: "map", mode: "fused" },
  });
});

test("a question that narrows nothing is not asked", () => {
  assert.equal(recall(nothing, now), undefined);
  assert.equal(recall({ ...nothing, query: "  " }, now), undefined);
  assert.deepEqual(recall({ ...nothing, fields: { collection: "kitchen" } }, now), {
    collection: "kitchen",
    min_confidence: 0,
  });
  assert.deepEqual(recall({ ...nothing, outcome: true, fields: { collection: undefined } }, now), {
    collection: "*",
    min_confidence: 0,
    context_filter: { "task.success": true },
  });
  assert.deepEqual(recall({ ...nothing, confidence: 0.2 }, now), { collection: "*", min_confidence: 0.2 });
});

test("a bound that is no date is no bound", () => {
  assert.equal(recall({ ...nothing, after: "yesterday" }, now), undefined);
  assert.deepEqual(recall({ ...nothing, query: "x", before: "soon" }, now), {
    collection: "*",
    min_confidence: 0,
    query: "x",
  });
});

test("the same question for other callers", () => {
  assert.equal(
    asMCP({ query: "x" }),
    '{\n  "method": "tools/call",\n  "params": {\n    "name": "recall",\n    "arguments": {\n      "query": "x"\n    }\n  }\n}',
  );
  assert.equal(
    asCurl({ query: "it's wet" }),
    `curl -sS http://node.test/api/recall -H 'Content-Type: application/json' -d '{"query":"it'\\''s wet"}'`,
  );
});

test("the question as Go", () => {
  assert.equal(
    asGo(recall({ ...full, before: undefined }, now)!),
    [
      "res, err := m.Recall(ctx, &robotmem.RecallRequest{",
      '\tCollection: "kitchen",',
      "\tMinConfidence: new(float64(0.5)),",
      '\tType: "fact",',
      '\tQuery: "wet glass",',
      '\tTags: []string{"a", "b&c"},',
      "\tAfter: new(time.Unix(1772020800, 0)),",
      '\tContextFilter: robotmem.Object{"$and": []any{map[string]any{"task.name": "reach"}, map[string]any{"params.force": map[string]any{"$gte": "12 N"}}, map[string]any{"task.success": false}}},',
      '\tSpatialSort: &robotmem.SpatialSort{Field: "spatial.position", Target: []float64{1, 2}, MaxDistance: new(float64(0.5)), FrameID: "map", Mode: "fused"},',
      "})",
    ].join("\n"),
  );
});
