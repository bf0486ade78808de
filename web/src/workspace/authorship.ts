// Groups the lines of a prompt by the commit that wrote them.
import type { AuthoredLine } from "../forms";
import { kindName } from "../preview/origins";

/** Consecutive lines with the same commit, or from the same source if they have no commit. */
export interface Run {
  /** The author's name, or where the lines come from if no commit wrote them. */
  name: string;
  commit: string;
  time: string | null;
  path: string;
  /** The number of the first line in its file, if it has one. */
  line: number | null;
  text: string;
}

export function runs(lines: AuthoredLine[]): Run[] {
  const found: Run[] = [];
  let key: string | null = null;
  for (const line of lines) {
    const next = JSON.stringify([line.committed, line.commit, line.kind, line.path]);
    const last = found.at(-1);
    if (last && line.kind === null && line.text === "") {
      last.text += "\n"; // an empty line between sections has no origin
      continue;
    }
    if (last && next === key) last.text += `\n${line.text}`;
    else found.push({ name: nameOf(line), commit: line.commit ?? "", time: line.time, path: line.path ?? "", line: line.line, text: line.text });
    key = next;
  }
  return found;
}

function nameOf({ committed, author, kind }: AuthoredLine): string {
  if (committed === null) return kindName(kind ?? "");
  return committed ? (author ?? "unknown") : "Not committed";
}

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [["year", 365 * 86400], ["month", 30 * 86400], ["week", 7 * 86400], ["day", 86400], ["hour", 3600], ["minute", 60]];

/** How long ago a time was, in its largest unit. */
export function age(iso: string, now: number): string {
  const seconds = (now - Date.parse(iso)) / 1000;
  const largest = UNITS.find(([, size]) => seconds >= size);
  if (!largest) return "just now";
  const [unit, size] = largest;
  return new Intl.RelativeTimeFormat("en").format(-Math.floor(seconds / size), unit);
}
