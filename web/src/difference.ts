// What changed between two texts, line by line: Myers' shortest script, bounded.

export interface Line {
  mark: "same" | "gone" | "new";
  text: string;
  /** Numbers in the text before and after; null where the line is not in it. */
  before: number | null;
  after: number | null;
}

// Beyond so many changed lines nobody reads a script; they are shown as replaced.
const MOST = 400;

export function difference(before: string, after: string): Line[] {
  const old = before.split("\n");
  const now = after.split("\n");
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  const lines: Line[] = [];
  const same = (i: number, j: number) => lines.push({ mark: "same", text: old[i]!, before: i + 1, after: j + 1 });
  for (let i = 0; i < start; i++) same(i, i);
  let i = start;
  let j = start;
  for (const step of script(old.slice(start, old.length - end), now.slice(start, now.length - end))) {
    if (step === "same") same(i++, j++);
    else if (step === "gone") lines.push({ mark: step, text: old[i]!, before: ++i, after: null });
    else lines.push({ mark: step, text: now[j]!, before: null, after: ++j });
  }
  while (i < old.length) same(i++, j++);
  return lines;
}

function script(old: string[], now: string[]): Line["mark"][] {
  const most = old.length + now.length;
  const reach = new Map<number, number>([[1, 0]]);
  const trail: Map<number, number>[] = [];
  for (let depth = 0; depth <= Math.min(most, MOST); depth++) {
    trail.push(new Map(reach));
    for (let k = -depth; k <= depth; k += 2) {
      const isDown = k === -depth || (k !== depth && reach.get(k - 1)! < reach.get(k + 1)!);
      let x = isDown ? reach.get(k + 1)! : reach.get(k - 1)! + 1;
      while (x < old.length && x - k < now.length && old[x] === now[x - k]) x++;
      reach.set(k, x);
      if (x >= old.length && x - k >= now.length) return walkedBack(trail, old.length, now.length);
    }
  }
  return [...old.map(() => "gone" as const), ...now.map(() => "new" as const)];
}

function walkedBack(trail: Map<number, number>[], x: number, y: number): Line["mark"][] {
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
    if (depth) steps.push(isDown ? "new" : "gone");
    [x, y] = [px, py];
  }
  return steps.reverse();
}

/** Runs of lines to show: changes with a little around them. A gap stands where same lines are left out. */
export function hunks(lines: Line[], around = 3): (Line | { gap: number })[] {
  const near = new Uint8Array(lines.length);
  lines.forEach((line, at) => {
    if (line.mark !== "same") near.fill(1, Math.max(0, at - around), at + around + 1);
  });
  const shown: (Line | { gap: number })[] = [];
  for (let at = 0; at < lines.length; at++) {
    if (near[at]) {
      shown.push(lines[at]!);
      continue;
    }
    const from = at;
    while (at + 1 < lines.length && !near[at + 1]) at++;
    shown.push({ gap: at - from + 1 });
  }
  return shown;
}
