// What the editor must know of a template language. The service has the last word: this only colours, completes and finds partners.
import type { StreamParser } from "@codemirror/language";
import type { Completion } from "@codemirror/autocomplete";
import type { Variable } from "../forms";

/** A tag in a template, by its offsets. A variable's is `type:name`, or its name alone. */
export interface Tag {
  from: number;
  to: number;
  kind: "open" | "middle" | "close" | "variable";
  variable: string;
}

/** What could stand at the caret: words, or names of files below a folder. */
export interface Asked {
  from: number;
  words?: Completion[];
  files?: { prefix: string; apply(path: string, isWhole: boolean): string };
}

export interface Language {
  name: "brackets" | "jinja";
  parser: StreamParser<unknown>;
  tags(text: string): Tag[];
  /** What could follow the part of a line that ends at the caret. `at` is the caret, `after` the rest of the line. */
  ask(before: string, at: number, after: string): Asked | null;
  variables: Variable[];
  insertion(variable: string): string;
  condition(variable: string, isNegated: boolean): { open: string; middle: string; close: string };
}

/** The tags that belong together with the one at this offset, itself included; none if it has no partner. */
export function partners(tags: Tag[], at: number): Tag[] {
  const opened: Tag[][] = [];
  for (const tag of tags) {
    if (tag.kind === "open") opened.push([tag]);
    else if (tag.kind === "middle") opened.at(-1)?.push(tag);
    else if (tag.kind === "close") {
      const whole = [...(opened.pop() ?? []), tag];
      if (whole.length > 1 && whole.some((each) => each.from <= at && at <= each.to)) return whole;
    }
  }
  return [];
}

export function named(variable: Variable): string {
  return variable.type ? `${variable.type}:${variable.name}` : variable.name;
}
