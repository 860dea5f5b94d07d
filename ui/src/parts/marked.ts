// Where a text holds the words of a question.

const han = /\p{Script=Han}/u;

/**
 * The parts of a text between and at the words of a question, in turns: those with an odd index are words, also as
 * beginnings.
 */
export function markedParts(text: string, words: string): string[] {
  const parts = words.match(/[\p{L}\p{N}_.]+/gu)?.filter((w) => w.length > 1 || han.test(w));
  if (!parts?.length) return [text];

  const stems = parts.map((w) => w.replace(/(ing|ed|s)$/i, "").replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).filter(Boolean);
  // Han is written without spaces, so that a word may begin anywhere.
  const anywhere = parts.filter((w) => han.test(w)).join("|") || "(?!)";
  const at = new RegExp(`((?<![\\p{L}\\p{N}])(?:${stems.join("|")})[\\p{L}]{0,4}|${anywhere})`, "giu");

  return text.split(at);
}
