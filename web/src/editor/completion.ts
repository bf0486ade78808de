// Completion of variables, words and paths.
import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { Entry } from "../forms";
import type { Language } from "../languages/language";

export type FindFiles = (prefix: string) => Promise<Entry[]>;

export async function complete(language: Language, files: FindFiles, at: CompletionContext): Promise<CompletionResult | null> {
  const line = at.state.doc.lineAt(at.pos);
  const asked = language.ask(line.text.slice(0, at.pos - line.from), at.pos, line.text.slice(at.pos - line.from));
  if (!asked) return null;
  if (asked.words) return { from: asked.from, options: asked.words, validFor: /^[\w:!-]*$/ };
  const { prefix, apply } = asked.files!;
  const entries = await files(prefix).catch(() => []);
  const options = entries.map(({ path, kind }) => ({
    label: kind === "folder" ? `${path.replace(/\/$/, "")}/` : path,
    type: kind,
    apply: kind === "folder" ? `${path.replace(/\/$/, "")}/` : apply(path, true),
  }));
  return { from: asked.from, options, validFor: /^[^/[\]]*$/ };
}
