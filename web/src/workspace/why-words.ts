// The answer to "Why?" in sentences.
import type { Explained } from "../forms";
import { listed, relative, sentenceCase, withRelativePaths } from "../words";

/** Whether and why a file is in the prompt, which agents read it, and how to include it. */
export function answerTo({ path, fate, reason, readers, advice }: Explained, root: string): string {
  const name = relative(path, root);
  const cause = reason.split("; ").filter((clause) => !readers.length || !clause.endsWith(readers.join(", "))).join("; ");
  const because = cause ? `: ${cause}` : "";
  const first = fate === "used" ? `${name} is in this prompt${because}.` : fate === "cut" ? `Only a part of ${name} is in this prompt${because}.` : `${name} is not in this prompt${because || `: ${fate}`}.`;
  const also = readers.length ? ` ${sentenceCase(listed(readers))} ${readers.length === 1 ? "reads" : "read"} it.` : "";
  return withRelativePaths(`${first}${also}${advice && ` To include it: ${advice}.`}`, root);
}
