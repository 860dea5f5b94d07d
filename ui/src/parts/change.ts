// A change that a click makes, with what came of it and the way back.

import { Problem } from "../api/client";
import { texts } from "../app/text";
import { say } from "./controls";

const t = texts({ undo: "Undo" }, { undo: "撤销" });

/** Runs a change, which answers what to say. undo runs likewise. */
export async function change(run: () => Promise<string>, undo?: () => Promise<string>): Promise<void> {
  try {
    saidUndo(await run(), undo);
  } catch (e) {
    say(Problem.from(e).message, { bad: true });
  }
}

/** Says what was done, and offers to undo it. */
export function saidUndo(text: string, undo?: () => Promise<string>): void {
  say(text, undo ? { action: { text: t("undo"), run: () => void change(undo) } } : {});
}
