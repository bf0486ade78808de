// Finds text in a template. Positions are offsets as in the editor, which count UTF-16 code units.

export interface Query {
  text: string;
  matchCase: boolean;
  wholeWords: boolean;
}

export interface Match {
  from: number;
  to: number;
}

const LETTER = "[\\p{L}\\p{N}_]";

/** Every match, in order. Matches do not overlap. */
export function findAll(text: string, { text: wanted, matchCase, wholeWords }: Query): Match[] {
  if (!wanted) return [];
  const literal = wanted.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const pattern = wholeWords ? `(?<!${LETTER})${literal}(?!${LETTER})` : literal;
  return Array.from(text.matchAll(new RegExp(pattern, matchCase ? "gu" : "giu")), ({ index, 0: found }) => ({ from: index, to: index + found.length }));
}

/** The index of the first match that starts at or after a position, or the number of matches if there is none. */
export function firstFrom(matches: Match[], position: number): number {
  let [low, high] = [0, matches.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (matches[middle]!.from < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The index of the selected match, or -1. */
export function indexOfMatch(matches: Match[], selection: Match): number {
  const index = firstFrom(matches, selection.from);
  const match = matches[index];
  return match && match.from === selection.from && match.to === selection.to ? index : -1;
}

/** The next or previous match after the selection, from the other end if there is none. */
export function nextMatch(matches: Match[], selection: Match, direction: 1 | -1): Match | null {
  if (!matches.length) return null;
  const isSelected = indexOfMatch(matches, selection) >= 0;
  const at = firstFrom(matches, selection.from);
  const index = direction > 0 ? at + (isSelected ? 1 : 0) : at - 1;
  return matches[(index + matches.length) % matches.length]!;
}

/** The text with every match replaced. The text begins at the position `start`. */
export function replaceIn(text: string, matches: Match[], start: number, replacement: string): string {
  let end = start;
  const parts: string[] = [];
  for (const match of matches) {
    parts.push(text.slice(end - start, match.from - start), replacement);
    end = match.to;
  }
  return parts.join("") + text.slice(end - start);
}

/** A line and a column, both from 1, as in "12" or "12:5". Null if the text is neither. */
export function parsePlace(text: string): { line: number; column: number } | null {
  const [, line, column = "1"] = /^\s*(\d{1,9})(?:\s*[:,]\s*(\d{1,9}))?\s*$/.exec(text) ?? [];
  return line ? { line: Number(line), column: Number(column) } : null;
}
