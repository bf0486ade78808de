// The figures of a conversation: the edition in use, and what a rebuild would do to the cache.
import { Figure } from "../figure";
import type { Counted, Drift, Edition, EditionRow } from "../forms";
import { cachedPercent, count, counted, dollars, percent } from "../words";

interface Props {
  /** The edition in use; null until it is known. */
  edition: Edition | null;
  editions: EditionRow[];
  tokens: Counted | null;
  drift: Drift | null;
}

export function Figures({ edition, editions, tokens, drift }: Props) {
  const usage = edition && (edition.usage ?? null);
  return (
    <dl class="figures">
      <Figure name="A rebuild costs" value={drift ? priceOf(drift) : undefined} note={drift && priceNote(drift)} isWarning={Boolean(drift?.tokens_lost)} />
      <Figure name="Tokens in use" value={tokens ? count(tokens.tokens.count) : undefined} note={tokens && tokensNote(tokens)} />
      <Figure name="Cache hit rate" value={edition ? cachedPercent(usage?.hit_rate) : undefined} note={edition && (usage ? counted(usage.calls, "call") : "No usage recorded yet")} />
      <Figure name="Editions" value={editions.length ? count(editions.length) : undefined} note={edition && (edition.edition === 1 ? "Never rebuilt" : `Edition ${count(edition.edition)} is in use`)} />
    </dl>
  );
}

/** The price in money, or in tokens if no price is known. */
function priceOf({ changed, cost, tokens_lost, basis }: Drift): string {
  const isUnknown = tokens_lost === 0 && basis === "prompt"; // the prompt is too short for the cache, and the messages are not known
  if (!changed) return "$0";
  if (isUnknown) return "unknown";
  return cost === null ? count(tokens_lost) : dollars(cost);
}

function priceNote({ changed, tokens_lost, cost, basis }: Drift): string {
  if (!changed) return "Nothing has changed";
  if (tokens_lost === 0 && basis === "prompt") return "No call of this edition is recorded";
  const tokens = cost === null ? "tokens read again" : `${counted(tokens_lost, "token")} read again`;
  return basis === "prompt" ? `${tokens}, without the history` : tokens;
}

function tokensNote({ tokens: { exact, error }, tools }: Counted): string {
  const accuracy = exact ? "exact" : `within ${percent(error)}`;
  return tools.length ? `${accuracy}, plus ${count(tools.reduce((sum, tool) => sum + tool.tokens, 0))} for tools` : accuracy;
}
