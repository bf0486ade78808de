// Completion of variables, keywords and paths.
import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { Entry } from "../forms";
import type { Language } from "../languages/language";

export type FindFiles = (prefix: string) => Promise<Entry[]>;

export async function complete(language: Language, files: FindFiles, context: CompletionContext): Promise<CompletionResult | null> {
  const line = context.state.doc.lineAt(context.pos);
  const request = language.complete(line.text.slice(0, context.pos - line.from), context.pos, line.text.slice(context.pos - line.from));
  if (!request) return null;
  if (request.words) return { from: request.from, options: request.words, validFor: /^[\w:!-]*$/ };
  const { prefix, apply } = request.files!;
  const entries = await files(prefix).catch(() => []);
  const options = entries.map(({ path, kind }) => ({
    label: kind === "folder" ? `${path.replace(/\/$/, "")}/` : path,
    type: kind,
    apply: kind === "folder" ? `${path.replace(/\/$/, "")}/` : apply(path, true),
  }));
  return { from: request.from, options, validFor: /^[^/[\]]*$/ };
}
