// The selectors of the style sheets, for the test of their rule.

import { readdirSync, readFileSync } from "node:fs";

export interface Rule {
  sheet: string;
  /** One selector; a list of selectors is several rules. */
  selector: string;
  /** The classes in it, in their order. */
  classes: string[];
}

/** What other programs set: uPlot the classes of its elements. */
const foreign = /^u-/;

export function readSheets(folder = "src/style"): Rule[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".css"))
    .flatMap((sheet) => rulesOf(sheet, readFileSync(`${folder}/${sheet}`, "utf8")));
}

export function rulesOf(sheet: string, css: string): Rule[] {
  const plain = css.replace(/\/\*[\s\S]*?\*\//g, "").replace(/@import[^;]*;/g, "");
  const heads = [...plain.matchAll(/([^{};]+)\{/g)].map(([, head]) => head!.trim());

  return heads
    .filter((head) => !head.startsWith("@") && !/^(from|to|[\d.]+%)$/.test(head))
    .flatMap((head) => head.split(/,(?![^()]*\))/))
    .map((selector) => selector.trim())
    .map((selector) => ({ sheet, selector, classes: classesOf(selector) }));
}

function classesOf(selector: string): string[] {
  return [...selector.matchAll(/\.([a-zA-Z][\w-]*)/g)].map(([, name]) => name!).filter((name) => !foreign.test(name));
}
