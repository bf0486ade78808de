// The figures of a conversation: the edition in use, and what a rebuild would do to the cache.
import { Figure } from "../figure";
import type { Counted, Drift, Edition, EditionRow } from "../forms";
import { count, counted, dollars, percent } from "../words";
import { toolTokens } from "./tools";

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
      <Figure name="Tokens in use" value={tokens ? count(tokens.tokens.count) : undefined} note={tokens && tokensNote(tokens)} />
      <Figure name="Cache hit rate" value={edition ? (usage?.hit_rate == null ? "–" : percent(usage.hit_rate)) : undefined} note={edition && (usage ? counted(usage.calls, "call") : "No usage recorded yet")} />
      <Figure name="Editions" value={editions.length ? count(editions.length) : undefined} note={edition && (edition.edition === 1 ? "Never rebuilt" : `Edition ${count(edition.edition)} is in use`)} />
      <Figure name="A rebuild keeps" value={drift ? count(drift.tokens_kept) : undefined} note="tokens in the cache" />
      <Figure name="A rebuild loses" value={drift ? count(drift.tokens_lost) : undefined} note={drift && lossNote(drift)} isWarning={Boolean(drift?.tokens_lost)} />
    </dl>
  );
}

function lossNote({ changed, cost, basis }: Drift): string {
  const money = cost === null || !changed ? "tokens in the cache" : `tokens, ${dollars(cost)}`;
  return changed && basis === "prompt" ? `${money}, without messages` : money;
}

function tokensNote({ tokens: { exact, error }, tools }: Counted): string {
  const accuracy = exact ? "exact" : `within ${percent(error)}`;
  return tools.length ? `${accuracy}, plus ${count(toolTokens(tools))} for tools` : accuracy;
}
