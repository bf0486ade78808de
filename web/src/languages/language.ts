// The editor support that each template language provides: highlighting, completion and matching tags. Only the service parses
// templates.
import type { StreamParser } from "@codemirror/language";
import type { Completion } from "@codemirror/autocomplete";
import type { Syntax, Variable, VariableValue } from "../forms";

/** A tag in a template. `variable` is `type:name`, or just the name. */
export interface Tag {
  from: number;
  to: number;
  kind: "open" | "middle" | "close" | "variable";
  variable: string;
}

/** What can be inserted at the caret: words, or file names. */
export interface CompletionRequest {
  from: number;
  words?: Completion[];
  files?: { prefix: string; apply(path: string, isComplete: boolean): string };
}

export interface Language {
  name: Syntax;
  parser: StreamParser<unknown>;
  tags(text: string): Tag[];
  /** The completions at the offset `caret`. `before` and `after` are the text of its line on either side. */
  complete(before: string, caret: number, after: string): CompletionRequest | null;
  variables: Variable[];
  /** Variables that have the same value as one of the service's, which is named as `type:name`. */
  sameAs?: Record<string, string>;
  insertion(variable: string): string;
  condition(variable: string, isNegated: boolean): { open: string; middle: string; close: string };
}

/** The tags that match the tag at this offset, including that tag, or an empty list if it matches no others. */
export function matchingTags(tags: Tag[], offset: number): Tag[] {
  const openGroups: Tag[][] = [];
  for (const tag of tags) {
    if (tag.kind === "open") openGroups.push([tag]);
    else if (tag.kind === "middle") openGroups.at(-1)?.push(tag);
    else if (tag.kind === "close") {
      const group = [...(openGroups.pop() ?? []), tag];
      if (group.length > 1 && group.some(({ from, to }) => from <= offset && offset <= to)) return group;
    }
  }
  return [];
}

export function fullName(variable: Variable): string {
  return variable.type ? `${variable.type}:${variable.name}` : variable.name;
}

/** The current values of a language's variables. */
export function valuesByName({ sameAs = {} }: Language, values: VariableValue[]): Map<string, string | null> {
  const known = new Map(values.map(({ type, name, value }) => [`${type}:${name}`, value]));
  for (const [name, other] of Object.entries(sameAs)) if (known.has(other)) known.set(name, known.get(other)!);
  return known;
}
