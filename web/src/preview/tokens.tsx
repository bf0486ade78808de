// The tokens of each section, as a bar and a list.
import type { Passage, Tokens } from "../forms";

export function TokensBar({ tokens, passages, onSection }: { tokens: Tokens; passages: Passage[]; onSection(section: string): void }) {
  const total = Math.max(1, passages.reduce((sum, each) => sum + (each.tokens ?? 0), 0));
  const share = (passage: Passage) => (100 * (passage.tokens ?? 0)) / total;
  return (
    <section class="tokens" aria-label="Tokens">
      <p>
        <b>{tokens.count.toLocaleString("en")}</b> tokens <span class="quiet">{method(tokens)}</span>
      </p>
      <div class="bar" aria-hidden="true">
        {passages.map((each) => (
          <span key={each.section} style={{ flexGrow: share(each) }} title={each.section} />
        ))}
      </div>
      <ul>
        {passages.map((each) => (
          <li key={each.section}>
            <button type="button" class="plain" onClick={() => onSection(each.section)}>
              <span class="name">{each.section}</span> <span class="quiet">{(each.tokens ?? 0).toLocaleString("en")} · {Math.round(share(each))}%</span>
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
