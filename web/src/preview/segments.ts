// Splits a prompt into segments with one origin each, and the template lines that produced them.
import type { Origin, Passage, TemplateLines } from "../forms";

export interface Segment {
  text: string;
  /** Null for a separator between sections. */
  origin: Origin | null;
  section: string;
  isFirst: boolean;
  /** The template lines that produced the segment; null if none did. */
  lines: [number, number] | null;
}

export function segments(text: string, passages: Passage[], templateLines: TemplateLines[] = []): Segment[] {
  const slice = slicer(text);
  const linesOf = lineFinder(templateLines);
  const found: Segment[] = [];
  let position = 0;
  for (const passage of passages) {
    if (passage.start > position) found.push(separator(slice(position, passage.start)));
    passage.origins.forEach((origin, index) => {
      const lines = linesOf(origin.start, origin.end);
      found.push({ text: slice(origin.start, origin.end), origin, section: passage.section, isFirst: index === 0, lines });
    });
    position = passage.end;
  }
  const rest = slice(position, Infinity);
  if (rest) found.push(separator(rest));
  return found;
}

function separator(text: string): Segment {
  return { text, origin: null, section: "", isFirst: false, lines: null };
}

/** A function that slices by code points, which is how the service counts. */
function slicer(text: string): (from: number, to: number) => string {
  if (!/[\ud800-\udbff]/.test(text)) return (from, to) => text.slice(from, to);
  const offsets: number[] = [];
  for (let offset = 0; offset < text.length; offset += text.codePointAt(offset)! > 0xffff ? 2 : 1) offsets.push(offset);
  return (from, to) => text.slice(offsets[from] ?? text.length, offsets[to] ?? text.length);
}

/** A function that finds the template lines that produced a range of the prompt, or null. Ranges must be passed in order. */
function lineFinder(templateLines: TemplateLines[]): (start: number, end: number) => [number, number] | null {
  let next = 0;
  return (start, end) => {
    while (next < templateLines.length && templateLines[next]!.end <= start) next++;
    let lines: [number, number] | null = null;
    for (let index = next; index < templateLines.length && templateLines[index]!.start < end; index++) {
      const [first, last] = templateLines[index]!.lines;
      lines = lines ? [Math.min(lines[0], first), Math.max(lines[1], last)] : [first, last];
    }
    return lines;
  };
}

const MAX_SOURCES = 12;

/** Where the section that begins with this segment comes from, for a printed page, where nobody can hover over the text. */
export function sourcesOf(segments: Segment[], first: number): string[] {
  const paths = new Set<string>();
  for (let index = first; segments[index]?.section === segments[first]!.section; index++) paths.add(segments[index]!.origin?.path ?? "");
  const found = [...paths].filter(Boolean);
  return found.length > MAX_SOURCES ? [...found.slice(0, MAX_SOURCES), `and ${found.length - MAX_SOURCES} more`] : found;
}

/** The line of the origin (file or template) at an offset in its segment. */
export function lineAt(segment: Segment, offset: number): number | null {
  const lines = segment.origin?.lines;
  if (!lines) return null;
  return Math.min(lines[0] + countNewlines(segment.text.slice(0, offset)), lines[1]);
}

function countNewlines(text: string): number {
  return text.split("\n").length - 1;
}

/** The range of a segment that a template line produced. */
export function rangeOfLine(segment: Segment, line: number): [number, number] | null {
  const { lines, text } = segment;
  if (!lines || line < lines[0] || line > lines[1]) return null;
  if (segment.origin?.kind !== "template") return [0, text.length];
  let from = 0;
  for (let current = lines[0]; current < line; current++) {
    const end = text.indexOf("\n", from);
    if (end < 0) return null;
    from = end + 1;
  }
  const end = text.indexOf("\n", from);
  return [from, end < 0 ? text.length : end];
}
