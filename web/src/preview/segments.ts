// A prompt cut into segments of one origin each, and which lines of the template each came from.
import type { Origin, Passage, TemplateLines } from "../forms";

export interface Segment {
  text: string;
  /** None: a separator between sections. */
  origin: Origin | null;
  section: string;
  isFirst: boolean;
  /** Lines of the template that made it; none if it did not come from there. */
  lines: [number, number] | null;
}

export function segments(text: string, passages: Passage[], written: TemplateLines[] = []): Segment[] {
  const slice = slicer(text);
  const linesOf = lineFinder(written);
  const found: Segment[] = [];
  let at = 0;
  for (const passage of passages) {
    if (passage.start > at) found.push(separator(slice(at, passage.start)));
    passage.origins.forEach((origin, index) => {
      const lines = linesOf(origin.start, origin.end);
      found.push({ text: slice(origin.start, origin.end), origin, section: passage.section, isFirst: index === 0, lines });
    });
    at = passage.end;
  }
  const rest = slice(at, Infinity);
  if (rest) found.push(separator(rest));
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

/** The lines of the template that wrote these characters, as the service says; none if the template did not. Both lists are in order. */
function lineFinder(written: TemplateLines[]): (start: number, end: number) => [number, number] | null {
  let next = 0;
  return (start, end) => {
    while (next < written.length && written[next]!.end <= start) next++;
    let lines: [number, number] | null = null;
    for (let at = next; at < written.length && written[at]!.start < end; at++) {
      const [first, last] = written[at]!.lines;
      lines = lines ? [Math.min(lines[0], first), Math.max(lines[1], last)] : [first, last];
    }
    return lines;
  };
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
