// The rule of the style sheets. A component is the first word of a class: row of row-title. Each component is
// in one sheet, each selector outside of the base sheets begins with a class of a component of its sheet, and
// classes are those that the sources set.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readClasses } from "./classes";
import { readSheets, type Rule } from "./sheets";

/** Sheets of bare elements: for all pages, and on paper. */
const baseSheets = ["base.css", "print.css"];

const sheets = readSheets();
const used = readClasses();
const componentOf = (name: string) => name.split("-")[0]!;
const styled = sheets.filter(({ sheet }) => !baseSheets.includes(sheet));

/** Classes that have a component in front of them wherever they stand: .mark.good, .timeline .item. */
const first = (rule: Rule) => rule.classes[0];

test("each selector begins with a class", () => {
  const bare = styled.filter((rule) => !/^[a-z]*\.[a-z]/.test(rule.selector));
  assert.deepEqual(
    bare.map(({ sheet, selector }) => `${sheet}: ${selector}`),
    [],
  );
});

test("each component is in one sheet", () => {
  const owner = new Map<string, string>();
  const shared: string[] = [];
  for (const rule of sheets) {
    if (rule.sheet === "print.css" || !first(rule)) continue;
    const component = componentOf(first(rule)!);
    const known = owner.get(component) ?? rule.sheet;
    owner.set(component, known);
    if (known !== rule.sheet) shared.push(`${rule.sheet}: ${rule.selector} is of ${known}`);
  }
  assert.deepEqual(shared, []);
});

test("each class of a style sheet is set by a source", () => {
  const unused = new Set(sheets.flatMap((rule) => rule.classes.filter((name) => !used.names.has(name))));
  assert.deepEqual([...unused].sort(), []);
});

test("each class that a source sets is in a style sheet", () => {
  const defined = new Set(sheets.flatMap((rule) => rule.classes));
  const unknown = [...used.names].filter(([name]) => !defined.has(name)).map(([name, where]) => `${where}: ${name}`);
  assert.deepEqual(unknown.sort(), []);
});

test("each class that a source looks for is set by a source", () => {
  assert.deepEqual(used.asked.filter(([name]) => !used.names.has(name)), []);
});

test("the classes of an element are known before it is drawn", () => {
  assert.deepEqual(used.open, []);
});
