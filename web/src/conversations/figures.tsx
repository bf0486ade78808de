// The figures of a conversation: its tokens, its editions, and what a rebuild would keep in the provider's cache.
import { Figure } from "../figure";
import type { Drift, EditionRow } from "../forms";
import { compare } from "../questions";
import { useLatest } from "../use-latest";
import { count, percent, plural } from "../words";

export function Figures({ id, editions, drift }: { id: string; editions: EditionRow[]; drift: Drift | null }) {
  const newest = editions.at(-1)?.edition ?? 0;
  const current = `talk:${id}@${newest}`;
  const compared = useLatest(async () => (newest ? compare(current, current) : null), [newest]);
  const tokens = compared.value?.new.tokens;
  return (
    <dl class="figures">
      <Figure value={tokens && count(tokens.count)} name={`tokens in use${tokens && !tokens.exact ? ` (within ${percent(tokens.error)})` : ""}`} />
      <Figure value={editions.length ? count(editions.length) : undefined} name={plural("edition", editions.length)} />
      <Figure value={drift ? count(drift.changed ? drift.tokens_kept : (tokens?.count ?? 0)) : undefined} name="tokens a rebuild keeps in the cache" />
      <Figure value={drift ? count(drift.changed ? drift.tokens_lost : 0) : undefined} name="tokens a rebuild loses" />
    </dl>
  );
}
