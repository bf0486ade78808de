// Merges two people's changes to the same text, line by line.
import { compareLines } from "./difference";

/** A run of lines of the base, from `from` up to but not including `to`, and what replaces it. Lines count from 0. */
interface Hunk {
  from: number;
  to: number;
  lines: string[];
}

/** The merged text, or the ranges of lines of my text, from 1, that both have changed. */
export type Merged = { text: string } | { conflicts: [number, number][] };

export function merge(base: string, mine: string, theirs: string): Merged {
  const [myHunks, theirHunks] = [hunksOf(base, mine), hunksOf(base, theirs)];
  const conflicts = myHunks.flatMap((hunk, index) => {
    const isConflict = theirHunks.some((other) => touches(hunk, other) && !isSame(hunk, other));
    return isConflict ? [linesIn(hunk, myHunks.slice(0, index))] : [];
  });
  if (conflicts.length) return { conflicts };
  const added = theirHunks.filter((hunk) => !myHunks.some((other) => isSame(hunk, other)));
  const lines = base.split("\n");
  // From the end, so that the numbers of the lines before stay the same.
  for (const { from, to, lines: replacement } of [...myHunks, ...added].sort((a, b) => b.from - a.from)) lines.splice(from, to - from, ...replacement);
  return { text: lines.join("\n") };
}

function hunksOf(base: string, changed: string): Hunk[] {
  const hunks: Hunk[] = [];
  let open: Hunk | null = null;
  let at = 0;
  for (const { mark, text } of compareLines(base.split("\n"), changed.split("\n"))) {
    if (mark === "same") {
      open = null;
      at++;
      continue;
    }
    if (!open) hunks.push((open = { from: at, to: at, lines: [] }));
    if (mark === "removed") open.to = ++at;
    else open.lines.push(text);
  }
  return hunks;
}

/** Whether two changes overlap or are beside each other, where the order of their lines would be a guess. */
function touches(a: Hunk, b: Hunk): boolean {
  return a.from <= b.to && b.from <= a.to;
}

function isSame(a: Hunk, b: Hunk): boolean {
  return a.from === b.from && a.to === b.to && a.lines.join("\n") === b.lines.join("\n") && a.lines.length === b.lines.length;
}

/** The lines of the changed text that a hunk is in. If it only removes lines, the line after them. */
function linesIn(hunk: Hunk, before: Hunk[]): [number, number] {
  const shift = before.reduce((sum, { from, to, lines }) => sum + lines.length - (to - from), 0);
  const first = hunk.from + shift + 1;
  return [first, first + Math.max(hunk.lines.length - 1, 0)];
}
