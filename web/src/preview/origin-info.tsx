// Where a piece of the prompt came from, and which kinds of origins a prompt has.
import { kindName, location } from "./origins";
import type { Segment } from "./segments";
import type { SourceOf } from "./sources";

export interface Place {
  segment: Segment;
  /** The line of the origin, or null for all its lines. */
  line: number | null;
}

export function OriginInfo({ place, sourceOf }: { place: Place | null; sourceOf: SourceOf | undefined }) {
  const origin = place?.segment.origin;
  if (!origin) return <p class="origin-info"><span class="quiet">Point at the text, tap it or use the arrow keys to see where it came from.</span></p>;
  const source = sourceOf?.(origin);
  return (
    <p class="origin-info">
      <span class={`swatch k-${origin.kind}`} aria-hidden="true" />
      <b>{kindName(origin.kind)}</b> <span class="path">{location(origin, place.line)}</span>
      {source && <a href={source.address}>{source.name}</a>}
    </p>
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
