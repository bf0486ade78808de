// What a rebuild costs: a sentence, and a picture of the cached request, cut where the new prompt first differs.
import type { Drift } from "../forms";
import { count, sentenceCase } from "../words";
import { rebuildInWords } from "./rebuild-words";

export function RebuildCost({ drift }: { drift: Drift }) {
  const parts = drift.parts.filter(({ tokens_kept, tokens_lost }) => tokens_kept + tokens_lost > 0);
  return (
    <div class="rebuild-cost">
      <p>{rebuildInWords(drift)}</p>
      {drift.changed && parts.length > 1 && <RequestBar parts={parts} />}
    </div>
  );
}

/** The parts in the order in which the provider reads them. The list below the picture has the numbers. */
function RequestBar({ parts }: { parts: Drift["parts"] }) {
  const total = parts.reduce((sum, { tokens_kept, tokens_lost }) => sum + tokens_kept + tokens_lost, 0);
  const kept = parts.reduce((sum, { tokens_kept }) => sum + tokens_kept, 0);
  let end = 0;
  const rects = parts.flatMap(({ of, tokens_kept, tokens_lost }) => [{ class: `of-${of}`, tokens: tokens_kept }, { class: `of-${of} again`, tokens: tokens_lost }])
    .filter(({ tokens }) => tokens > 0)
    .map((piece) => ({ ...piece, start: end, end: (end += piece.tokens) }));
  const scale = (tokens: number) => (100 * tokens) / total;
  return (
    <>
      <svg class="request-bar" viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden="true">
        {rects.map((rect) => <rect key={rect.class} class={rect.class} x={scale(rect.start)} y="2" width={scale(rect.end - rect.start)} height="10" />)}
        <line class="cut" x1={scale(kept)} x2={scale(kept)} y1="0" y2="14" />
      </svg>
      <ul class="legend" aria-label="Cached tokens by part of the request">
        {parts.map(({ of, tokens_kept, tokens_lost }) => (
          <li key={of}><span class={`swatch of-${of}${tokens_lost ? " again" : ""}`} aria-hidden="true" />{sentenceCase(of)}: {keptAndLost(tokens_kept, tokens_lost)}</li>
        ))}
      </ul>
    </>
  );
}

function keptAndLost(kept: number, lost: number): string {
  return [kept && `${count(kept)} kept`, lost && `${count(lost)} again`].filter(Boolean).join(", ");
}
