// The tokens of each section, as a bar and a list.
import type { Passage as FullPassage, Tokens } from "../forms";

type Passage = Pick<FullPassage, "section" | "tokens">;

export function TokensBar({ tokens, passages, onSection }: { tokens: Tokens; passages: Passage[]; onSection(section: string): void }) {
  const total = Math.max(1, passages.reduce((sum, passage) => sum + (passage.tokens ?? 0), 0));
  const share = (passage: Passage) => (100 * (passage.tokens ?? 0)) / total;
  return (
    <section class="tokens" aria-label="Tokens">
      <p>
        <b>{tokens.count.toLocaleString("en")}</b> tokens <span class="quiet">{method(tokens)}</span>
      </p>
      <div class="bar" aria-hidden="true">
        {passages.map((passage) => (
          <span key={passage.section} style={{ flexGrow: share(passage) }} title={passage.section} />
        ))}
      </div>
      <ul>
        {passages.map((passage) => (
          <li key={passage.section}>
            <button type="button" class="plain" onClick={() => onSection(passage.section)}>
              <span class="name">{passage.section}</span> <span class="quiet">{(passage.tokens ?? 0).toLocaleString("en")} · {Math.round(share(passage))}%</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function method({ method, exact, error }: Tokens): string {
  return exact ? `exact (${method})` : `estimated (${method}, ±${Math.round(100 * error)}%)`;
}
