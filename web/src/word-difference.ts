// Compares two lines word by word.

export interface Words {
  text: string;
  isChanged: boolean;
}

const MAX_WORDS = 400;

/** The words of both lines, marked where they differ, or null if the lines have too little in common or are too long. */
export function wordDifference(before: string, after: string): [Words[], Words[]] | null {
  const [old, current] = [split(before), split(after)];
  if (old.length > MAX_WORDS || current.length > MAX_WORDS) return null;
  const lengths = commonLengths(old, current);
  if (lengths[0]![0]! < 0.4 * Math.min(old.length, current.length)) return null;
  const [left, right]: [Words[], Words[]] = [[], []];
  let [i, j] = [0, 0];
  while (i < old.length || j < current.length) {
    if (i < old.length && j < current.length && old[i] === current[j]) {
      add(left, old[i++]!, false);
      add(right, current[j++]!, false);
    } else if (j >= current.length || (i < old.length && lengths[i + 1]![j]! >= lengths[i]![j + 1]!)) add(left, old[i++]!, true);
    else add(right, current[j++]!, true);
  }
  return [left, right];
}

function split(text: string): string[] {
  return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
}

/** `lengths[i][j]` is the length of the longest common subsequence from word i of one line and word j of the other. */
function commonLengths(old: string[], current: string[]): Uint16Array[] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint16Array(current.length + 1));
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = current.length - 1; j >= 0; j--) {
      lengths[i]![j] = old[i] === current[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
    }
  }
  return lengths;
}

function add(words: Words[], text: string, isChanged: boolean): void {
  const last = words.at(-1);
  if (last?.isChanged === isChanged) last.text += text;
  else words.push({ text, isChanged });
}
