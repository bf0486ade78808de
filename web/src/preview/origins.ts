// Display names for origins.
import type { Origin } from "../forms";

const KINDS: Record<string, string> = {
  template: "Template",
  file: "File",
  variable: "Value",
  builtin: "Built-in text",
  layout: "Layout",
  setting: "Setting",
  skill: "Skill",
  resident: "Resident file",
  caller: "Caller",
  tool: "Tool",
  scope: "Scope",
  environment: "Environment",
  extension: "Extension",
  mark: "Marker",
};

export function kindName(kind: string): string {
  return KINDS[kind] ?? kind;
}

/** An origin's path and its line or lines. */
export function location(origin: Origin, line: number | null = null): string {
  const lines = line !== null ? `, line ${line}` : origin.lines ? range(origin.lines) : "";
  return `${origin.path}${lines}`;
}

function range([first, last]: [number, number]): string {
  return first === last ? `, line ${first}` : `, lines ${first}–${last}`;
}
