// Completion of variables with their values, of keywords, and of paths.
import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { Entry } from "../forms";
import type { Language } from "../languages/language";

export type FindFiles = (prefix: string) => Promise<Entry[]>;

/** What completions need to know about the folder. */
export interface Known {
  files: FindFiles;
  /** The current value of a variable, null if it has none, or undefined if that is not known. */
  valueOf(variable: string): string | null | undefined;
}

export interface ValuedCompletion extends Completion {
  /** The beginning of the current value. */
  value?: string;
}

const MAX_VALUE = 48;

/** The beginning of a value, on one line. */
export function shortValue(value: string | null): string {
  if (!value?.trim()) return "not available here";
  const [first = "", ...rest] = value.trim().split("\n");
  return rest.length || first.length > MAX_VALUE ? `${[...first].slice(0, MAX_VALUE).join("").trimEnd()}…` : first;
}

function withValue(word: Completion, { valueOf }: Known): ValuedCompletion {
  const value = word.type === "variable" ? valueOf(word.label) : undefined;
  return value === undefined ? word : { ...word, value: shortValue(value) };
}

/** Draws the value in the list of completions. */
export function renderValue({ value }: ValuedCompletion): Node | null {
  if (value === undefined) return null;
  const element = document.createElement("span");
  element.className = "cm-completionValue";
  element.textContent = value;
  return element;
}

export async function complete(language: Language, known: Known, context: CompletionContext): Promise<CompletionResult | null> {
  const line = context.state.doc.lineAt(context.pos);
  const request = language.complete(line.text.slice(0, context.pos - line.from), context.pos, line.text.slice(context.pos - line.from));
  if (!request) return null;
  if (request.words) return { from: request.from, options: request.words.map((word) => withValue(word, known)), validFor: /^[\w:!-]*$/ };
  const { prefix, apply } = request.files!;
  const entries = await known.files(prefix).catch(() => []);
  const options = entries.map(({ path, kind }) => ({
    label: kind === "folder" ? `${path.replace(/\/$/, "")}/` : path,
    type: kind,
    apply: kind === "folder" ? `${path.replace(/\/$/, "")}/` : apply(path, true),
  }));
  return { from: request.from, options, validFor: /^[^/[\]]*$/ };
}
