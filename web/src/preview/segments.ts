// A prompt cut into segments of one origin each, and which lines of the template each came from.
import type { Origin, Passage } from "../forms";
import type { Tag } from "../languages/language";

export interface Segment {
  text: string;
  /** None: a separator between sections. */
  origin: Origin | null;
  section: string;
  isFirst: boolean;
  /** Lines of the template that made it; none if it did not come from there. */
  lines: [number, number] | null;
}

export function segments(text: string, passages: Passage[], template = "", tags: Tag[] = []): Segment[] {
  const slice = slicer(text);
  const found: Segment[] = [];
  let at = 0;
  for (const passage of passages) {
    if (passage.start > at) found.push(separator(slice(at, passage.start)));
    passage.origins.forEach((origin, index) => {
      const lines = origin.kind === "template" ? origin.lines : null;
      found.push({ text: slice(origin.start, origin.end), origin, section: passage.section, isFirst: index === 0, lines });
    });
    at = passage.end;
  }
  const rest = slice(at, Infinity);
  if (rest) found.push(separator(rest));
  if (template) placeValues(found, template, tags);
  return found;
}

function separator(text: string): Segment {
  return { text, origin: null, section: "", isFirst: false, lines: null };
}

/** Cuts by code points, in which the service counts. */
function slicer(text: string): (from: number, to: number) => string {
  if (!/[\ud800-\udbff]/.test(text)) return (from, to) => text.slice(from, to);
  const places: number[] = [];
  for (let at = 0; at < text.length; at += text.codePointAt(at)! > 0xffff ? 2 : 1) places.push(at);
  return (from, to) => text.slice(places[from] ?? text.length, places[to] ?? text.length);
}

/** A value has no line of its own: it is that of the tag between the texts of the template around it. */
function placeValues(found: Segment[], template: string, tags: Tag[]): void {
  const variables = withLines(template, tags.filter((tag) => tag.kind === "variable"));
  const after = linesAfter(found);
  let first = 1;
  let next = 0;
  found.forEach((segment, index) => {
    const { origin, lines } = segment;
    if (lines) first = lines[1];
    if (!origin || lines || !["file", "variable"].includes(origin.kind)) return;
    for (let at = next; at < variables.length; at++) {
      const { tag, line } = variables[at]!;
      if (line > after[index]!) break;
      if (line < first || !isValueOf(origin, tag.variable)) continue;
      segment.lines = [line, line];
      next = found[index + 1]?.origin?.path === origin.path ? at : at + 1;
      return;
    }
  });
}

/** For each segment the line on which the next text of the template begins. */
function linesAfter(found: Segment[]): number[] {
  const after: number[] = [];
  let line = Infinity;
  for (let at = found.length - 1; at >= 0; at--) {
    line = found[at]!.lines?.[0] ?? line;
    after[at] = line;
  }
  return after;
}

function isValueOf(origin: Origin, variable: string): boolean {
  if (origin.kind === "variable") return origin.path === variable;
  const name = variable.replace(/^[^:]*:/, "").replace(/^(\.\.?\/)+/, "");
  return origin.path === name || origin.path.endsWith(`/${name}`);
}

function withLines(text: string, tags: Tag[]): { tag: Tag; line: number }[] {
  let line = 1;
  let at = 0;
  return tags.map((tag) => {
    for (; at < tag.from; at++) if (text.charCodeAt(at) === 10) line++;
    return { tag, line };
  });
}

/** The line of an origin at an offset of its segment: where it came from, file or template. */
export function lineAt(segment: Segment, offset: number): number | null {
  const lines = segment.origin?.lines;
  if (!lines) return null;
  return Math.min(lines[0] + count(segment.text.slice(0, offset)), lines[1]);
}

function count(text: string): number {
  return text.split("\n").length - 1;
}

/** The stretch of a segment that a line of the template made. */
export function stretch(segment: Segment, line: number): [number, number] | null {
  const { lines, text } = segment;
  if (!lines || line < lines[0] || line > lines[1]) return null;
  if (segment.origin?.kind !== "template") return [0, text.length];
  let from = 0;
  for (let at = lines[0]; at < line; at++) {
    const end = text.indexOf("\n", from);
    if (end < 0) return null;
    from = end + 1;
  }
  const end = text.indexOf("\n", from);
  return [from, end < 0 ? text.length : end];
}
