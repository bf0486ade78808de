// Where a piece of the prompt came from, and which kinds of origins a prompt has.
import { kindName, location } from "./origins";
import { relative } from "../words";
import type { Mark } from "./renderer";
import type { Segment } from "./segments";
import type { SourceOf } from "./sources";

export interface Place {
  segment: Segment;
  /** The line of the origin, or null for all its lines. */
  line: number | null;
}

interface Props {
  place: Place | null;
  sourceOf: SourceOf | undefined;
  marks: Mark[];
  authorAt: ((path: string, line: number | null) => string) | undefined;
  root: string;
}

export function OriginInfo({ place, sourceOf, marks, authorAt, root }: Props) {
  const origin = place?.segment.origin;
  if (!origin) return <p class="origin-info"><span class="quiet">Point at the text, tap it or use the arrow keys to see where it came from.</span></p>;
  const source = sourceOf?.(origin);
  const author = authorAt?.(origin.path, place.line);
  const found = place.line === null ? [] : marks.filter(({ path, line }) => path === origin.path && line === place.line);
  return (
    <div class="origin-info">
      <span class={`swatch k-${origin.kind}`} aria-hidden="true" />
      <b>{kindName(origin.kind)}</b> <span class="path">{location({ ...origin, path: relative(origin.path, root) }, place.line)}</span>
      {author && <span class="quiet">{author}</span>}
      {source && <a href={source.address}>{source.name}</a>}
      {found.map(({ severity, message }) => <p key={message}><span class={`badge ${severity}`}>{severity}</span> {message}</p>)}
    </div>
  );
}

const MAX_SPOKEN = 120;

/** What a screen reader says about a segment: its origin, and how its text begins. */
export function spokenOrigin({ origin, text }: Segment): string {
  if (!origin) return "";
  const start = text.trim();
  return `${kindName(origin.kind)} ${location(origin)}: ${start.length > MAX_SPOKEN ? `${start.slice(0, MAX_SPOKEN)}…` : start}`;
}

/** The colours of the kinds of origins in this prompt. */
export function Legend({ segments }: { segments: Segment[] }) {
  const kinds = [...new Set(segments.flatMap((segment) => segment.origin?.kind ?? []))];
  if (!kinds.length) return null;
  return (
    <ul class="legend" aria-label="Origins in this prompt">
      {kinds.map((kind) => (
        <li key={kind}>
          <span class={`swatch k-${kind}`} aria-hidden="true" />
          {kindName(kind)}
        </li>
      ))}
    </ul>
  );
}
