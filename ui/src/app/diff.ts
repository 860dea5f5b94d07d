// Word by word, what became of a text.

export interface Piece {
  text: string;
  /** -1 was there, 1 is new, 0 is in both. */
  side: -1 | 0 | 1;
}

const maxWords = 2000; // of both together: the table grows with their product

/** The shortest edit between two texts by their longest common subsequence of words. */
export function diff(before: string, after: string): Piece[] {
  const a = words(before);
  const b = words(after);
  if (a.length + b.length > maxWords) {
    return [
      { text: before, side: -1 },
      { text: after, side: 1 },
    ];
  }
  // length[i][j] is that of the common subsequence of a from i and b from j.
  const length = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      length[i]![j] = a[i] === b[j] ? length[i + 1]![j + 1]! + 1 : Math.max(length[i + 1]![j]!, length[i]![j + 1]!);
    }
  }
  const out: Piece[] = [];
  const push = (text: string, side: Piece["side"]) => {
    const last = out.at(-1);
    if (last?.side === side) last.text += text;
    else out.push({ text, side });
  };
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      push(a[i++]!, 0);
      j++;
    } else if (j >= b.length || (i < a.length && length[i + 1]![j]! >= length[i]![j + 1]!)) {
      push(a[i++]!, -1);
    } else {
      push(b[j++]!, 1);
    }
  }
  return out;
}

/** Words, spaces and each character of Han by itself. */
const words = (text: string) => text.match(/\p{Script=Han}|\s+|[^\s\p{Script=Han}]+/gu) ?? [];
