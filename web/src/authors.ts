// Who wrote the lines of a prompt, by file.
import type { AuthoredLine } from "./forms";
import { age } from "./words";

/** The lines with a commit, or that are not committed, by the path of their file. */
export function lineAuthors(lines: AuthoredLine[]): Map<string, AuthoredLine[]> {
  const found = new Map<string, AuthoredLine[]>();
  for (const line of lines) if (line.committed !== null) found.set(line.path ?? "", [...(found.get(line.path ?? "") ?? []), line]);
  return found;
}

/** The authors of these lines, those of the most lines first, and when the newest line was written. With `commit`, that of the newest line is named. */
export function authorsOf(lines: AuthoredLine[] | undefined, commit = false, now = Date.now()): string {
  if (!lines?.length) return "";
  const names = lines.map(({ author, committed }) => (committed ? (author ?? "unknown") : "Not committed"));
  const numberOf = (name: string) => names.filter((each) => each === name).length;
  const shown = [...new Set(names)].sort((a, b) => numberOf(b) - numberOf(a));
  const newest = lines.filter(({ time }) => time).sort((a, b) => a.time!.localeCompare(b.time!)).at(-1);
  return [shown.join(", "), newest && age(newest.time!, now), commit && newest?.commit?.slice(0, 8)].filter(Boolean).join(" · ");
}
