// Splits a prompt into segments with one origin each, and the template lines that produced them.
import type { Origin, Passage, Previewed } from "../forms";

export interface Segment {
  text: string;
  /** Null for a separator between sections. */
  origin: Origin | null;
  section: string;
  isFirst: boolean;
  /** The template lines that produced the segment; null if none did. */
  lines: [number, number] | null;
}

export type DividedPreview = Previewed & { segments: Segment[] };

/** The segments of a prompt with an object for each origin. */
export function segments(text: string, passages: Passage[]): Segment[] {
  const slice = slicer(text);
  return withSeparators(slice, passages, (found, { section, origins }) => {
    origins.forEach((origin, index) => {
      found.push({ text: slice(origin.start, origin.end), origin, section, isFirst: index === 0, lines: null });
    });
  });
}

/** How many numbers a compact prompt has for each origin. */
const SPAN = 6;

/** The segments of a prompt with numbers for each origin: length, source, lines of the source, and lines of the template. */
export function compactSegments({ text, passages, sources }: Pick<Previewed, "text" | "passages" | "sources">): Segment[] {
  const slice = slicer(text);
  const withoutLines = sources.map(({ kind, path }) => ({ kind, path, lines: null })); // shared, because values have no lines
  return withSeparators(slice, passages, (found, { section, start, spans }) => {
    for (let at = 0, position = start; at < spans.length; at += SPAN) {
      const end = position + spans[at]!;
      const templateLines = linesAt(spans, at + 4);
      const source = withoutLines[spans[at + 1]!]!;
      const areSame = spans[at + 2] === spans[at + 4] && spans[at + 3] === spans[at + 5];
      const lines = areSame ? templateLines : linesAt(spans, at + 2);
      const origin = lines ? { kind: source.kind, path: source.path, lines } : source;
      found.push({ text: slice(position, end), origin, section, isFirst: at === 0, lines: templateLines });
      position = end;
    }
  });
}

function linesAt(numbers: number[], at: number): [number, number] | null {
  return numbers[at] ? [numbers[at], numbers[at + 1]!] : null;
}

/** The segments that `add` finds for each passage, and the separators between them. */
function withSeparators<P extends { start: number; end: number }>(slice: Slicer, passages: P[], add: (found: Segment[], passage: P) => void): Segment[] {
  const found: Segment[] = [];
  let position = 0;
  for (const passage of passages) {
    if (passage.start > position) found.push(separator(slice(position, passage.start)));
    add(found, passage);
    position = passage.end;
  }
  const rest = slice(position, Infinity);
  if (rest) found.push(separator(rest));
  return found;
}

function separator(text: string): Segment {
  return { text, origin: null, section: "", isFirst: false, lines: null };
}

type Slicer = (from: number, to: number) => string;

/** A function that slices by code points, which is how the service counts. */
function slicer(text: string): Slicer {
  if (!/[\ud800-\udbff]/.test(text)) return (from, to) => text.slice(from, to);
  const offsets: number[] = [];
  for (let offset = 0; offset < text.length; offset += text.codePointAt(offset)! > 0xffff ? 2 : 1) offsets.push(offset);
  return (from, to) => text.slice(offsets[from] ?? text.length, offsets[to] ?? text.length);
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

/** Where a line of the origin begins in its segment, or null if the segment does not contain it. */
export function offsetOfLine({ origin, text }: Segment, line: number): number | null {
  const lines = origin?.lines;
  if (!lines || line < lines[0] || line > lines[1]) return null;
  let offset = 0;
  for (let current = lines[0]; current < line; current++) {
    offset = text.indexOf("\n", offset) + 1;
    if (offset === 0) return null;
  }
  return offset < text.length ? offset : null;
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
