// What the kinds of origins are called.
import type { Origin } from "../forms";

const KINDS: Record<string, string> = {
  template: "Template",
  file: "File",
  variable: "Value",
  builtin: "Shipped text",
  layout: "Layout",
  setting: "Setting",
  skill: "Skill",
  resident: "Resident",
  caller: "Caller",
  tool: "Tool",
  scope: "Scope",
  environment: "Environment",
  extension: "Extension",
  mark: "Mark",
};

export function kindName(kind: string): string {
  return KINDS[kind] ?? kind;
}

/** A place in words: the path, and the line or lines. */
export function place(origin: Origin, line: number | null = null): string {
  const lines = line !== null ? `, line ${line}` : origin.lines ? range(origin.lines) : "";
  return `${origin.path}${lines}`;
}

function range([first, last]: [number, number]): string {
  return first === last ? `, line ${first}` : `, lines ${first}–${last}`;
}
