// The figures of a conversation: its tokens, its editions, and what a rebuild would keep in the provider's cache.
import { Figure } from "../figure";
import type { Drift, EditionRow, UsageCounts } from "../forms";
import { compare } from "../questions";
import { useLatest } from "../use-latest";
import { count, counted, percent } from "../words";
import { isCached } from "./drift";

interface Props {
  id: string;
  editions: EditionRow[];
  /** Of the edition that is shown; undefined until it is known. */
  usage: UsageCounts | null | undefined;
  drift: Drift | null;
}

export function Figures({ id, editions, usage, drift }: Props) {
  const newest = editions.at(-1)?.edition ?? 0;
  const current = `talk:${id}@${newest}`;
  const compared = useLatest(async () => (newest ? compare(current, current) : null), [newest]);
  const tokens = compared.value?.new.tokens;
  return (
    <dl class="figures">
      <Figure name="Tokens in use" value={tokens && count(tokens.count)} note={tokens && (tokens.exact ? "exact" : `within ${percent(tokens.error)}`)} />
      <Figure name="Cache hit rate" value={usage === undefined ? undefined : usage?.hit_rate == null ? "–" : percent(usage.hit_rate)} note={usage === null ? "No usage recorded yet" : usage && counted(usage.calls, "call")} />
      <Figure name={editions.length === 1 ? "Edition" : "Editions"} value={editions.length ? count(editions.length) : undefined} />
      <Figure name="A rebuild keeps" value={drift ? count(drift.tokens_kept) : undefined} note={drift && (isCached(drift) ? "tokens in the cache" : "too short for the cache")} />
      <Figure name="A rebuild loses" value={drift ? count(drift.tokens_lost) : undefined} note="tokens in the cache" isWarning={Boolean(drift?.tokens_lost)} />
    </dl>
  );
}
