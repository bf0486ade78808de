// What an agent reads of the sources, and the command that aligns a repository, in words.
import type { AgentReadingForm } from "../../../clients/typescript/index.js";
import { count, listed } from "../words";

const MAX_PATHS = 3;

/** What an agent reads, as the command prints it. */
export function readingWords({ read, missing, repeated, cut }: AgentReadingForm): string {
  const total = read.length + missing.length + repeated.length + cut.length;
  const problems = ([["misses", missing], ["repeats", repeated], ["cuts", cut]] as const).filter(([, paths]) => paths.length);
  const parts = read.length || !problems.length ? [`reads ${count(read.length)} of ${count(total)}`] : [];
  return [...parts, ...problems.map(([word, paths]) => `${word} ${firstPaths(paths)}`)].join("; ");
}

function firstPaths(paths: string[]): string {
  return paths.length > MAX_PATHS ? listed([...paths.slice(0, MAX_PATHS), `${count(paths.length - MAX_PATHS)} more`]) : listed(paths);
}

/** The command that writes the changes, for a shell. */
export function alignCommand(folder: string, { merge, links }: { merge: boolean; links: boolean }): string {
  const quoted = /^[\w@%+=:,./-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", `'"'"'`)}'`;
  return ["foreword align", quoted, merge && "--merge", links && "--links", "--write"].filter(Boolean).join(" ");
}
