// Compares two texts line by line, with Myers' algorithm up to a limit.

export interface Line {
  mark: "same" | "removed" | "added";
  text: string;
  /** Line numbers before and after; null if the line is not in that text. */
  before: number | null;
  after: number | null;
  /** Whether only one of the texts ends without a line feed, and with this line. */
  isUnended?: boolean;
}

// With more changes than this, the whole text is shown as replaced.
const MAX_CHANGES = 400;

export function difference(before: string, after: string): Line[] {
  const isDifferent = isUnended(before) !== isUnended(after);
  const lines = compareLines(linesOf(before, isDifferent), linesOf(after, isDifferent));
  return lines.map((line) => (line.text.endsWith(UNENDED) ? { ...line, text: line.text.slice(0, -1), isUnended: true } : line));
}

export function compareLines(old: string[], current: string[]): Line[] {
  let start = 0;
  while (start < old.length && start < current.length && old[start] === current[start]) start++;
  let end = 0;
  while (end < old.length - start && end < current.length - start && old[old.length - 1 - end] === current[current.length - 1 - end]) end++;
  const lines: Line[] = [];
  const same = (i: number, j: number) => lines.push({ mark: "same", text: old[i]!, before: i + 1, after: j + 1 });
  for (let i = 0; i < start; i++) same(i, i);
  let i = start;
  let j = start;
  for (const step of editScript(old.slice(start, old.length - end), current.slice(start, current.length - end))) {
    if (step === "same") same(i++, j++);
    else if (step === "removed") lines.push({ mark: step, text: old[i]!, before: ++i, after: null });
    else lines.push({ mark: step, text: current[j]!, before: null, after: ++j });
  }
  while (i < old.length) same(i++, j++);
  return lines;
}

const UNENDED = "\0";

function isUnended(text: string): boolean {
  return text !== "" && !text.endsWith("\n");
}

/** The lines of a text. With `marksEnd`, a last line without a line feed differs from the same line with one. */
function linesOf(text: string, marksEnd: boolean): string[] {
  const lines = text.split("\n");
  const last = lines.pop()!;
  return last ? [...lines, last + (marksEnd ? UNENDED : "")] : lines;
}

function editScript(old: string[], current: string[]): Line["mark"][] {
  const total = old.length + current.length;
  const reach = new Map<number, number>([[1, 0]]);
  const trail: Map<number, number>[] = [];
  for (let depth = 0; depth <= Math.min(total, MAX_CHANGES); depth++) {
    trail.push(new Map(reach));
    for (let k = -depth; k <= depth; k += 2) {
      const isDown = k === -depth || (k !== depth && reach.get(k - 1)! < reach.get(k + 1)!);
      let x = isDown ? reach.get(k + 1)! : reach.get(k - 1)! + 1;
      while (x < old.length && x - k < current.length && old[x] === current[x - k]) x++;
      reach.set(k, x);
      if (x >= old.length && x - k >= current.length) return backtrack(trail, old.length, current.length);
    }
  }
  return [...old.map(() => "removed" as const), ...current.map(() => "added" as const)];
}

function backtrack(trail: Map<number, number>[], x: number, y: number): Line["mark"][] {
  const steps: Line["mark"][] = [];
  for (let depth = trail.length - 1; depth >= 0; depth--) {
    const reach = trail[depth]!;
    const k = x - y;
    const isDown = k === -depth || (k !== depth && reach.get(k - 1)! < reach.get(k + 1)!);
    const from = isDown ? k + 1 : k - 1;
    const [px, py] = depth ? [reach.get(from)!, reach.get(from)! - from] : [0, 0];
    while (x > px && y > py) {
      steps.push("same");
      x--, y--;
    }
    if (depth) steps.push(isDown ? "added" : "removed");
    [x, y] = [px, py];
  }
  return steps.reverse();
}

/** The lines to show: changes with some context, and gaps in place of other unchanged lines. */
export function hunks(lines: Line[], context = 3): (Line | { gap: number })[] {
  const isShown = new Uint8Array(lines.length);
  lines.forEach((line, index) => {
    if (line.mark !== "same") isShown.fill(1, Math.max(0, index - context), index + context + 1);
  });
  const result: (Line | { gap: number })[] = [];
  for (let index = 0; index < lines.length; index++) {
    if (isShown[index]) {
      result.push(lines[index]!);
      continue;
    }
    const from = index;
    while (index + 1 < lines.length && !isShown[index + 1]) index++;
    result.push({ gap: index - from + 1 });
  }
  return result;
}
