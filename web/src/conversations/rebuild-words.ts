// Describes what a rebuild costs, in words.
import type { Drift } from "../forms";
import { count, dollars } from "../words";

/** What a rebuild costs now and later. It never claims that nothing is lost if that is not known. */
export function rebuildInWords(drift: Drift): string {
  const { changed, tokens_kept, tokens_lost, cost, basis, expired } = drift;
  if (!changed) return "A prompt built now would be the same, so a rebuild costs nothing.";
  if (tokens_lost === 0 && basis === "prompt") {
    const alone = tokens_kept ? "The cached part of the prompt stays the same." : "The prompt alone is too short for the provider's cache.";
    return `${alone} What a rebuild costs with the messages is unknown, because no call of this edition is recorded.`;
  }
  if (tokens_lost === 0 && tokens_kept === 0) return "The last recorded call left nothing in the provider's cache.";
  const money = cost === null ? "" : `: ${dollars(cost)} once`;
  const dropped = expired ? " The provider has probably dropped its cache since the last call, and reads them again anyway." : "";
  return `Rebuilding now reads about ${count(tokens_lost)} tokens again${partsInWords(drift)}${money}.${dropped} At the next compaction that builds the prompt: nothing extra.`;
}

/** Which parts of the request are read again, in brackets. Empty if that is not known. */
function partsInWords({ parts, basis }: Drift): string {
  const lost = parts.filter(({ tokens_lost }) => tokens_lost > 0).map(({ of, tokens_lost }) => `${count(tokens_lost)} ${of}`);
  if (basis === "prompt") lost.push("history unknown, because no call of this edition is recorded");
  return lost.length ? ` (${lost.join(", ")})` : "";
}

/** The same, short enough for a place next to a button. Empty if a rebuild changes nothing. */
export function rebuildPrice({ changed, tokens_lost, cost, basis }: Drift): string {
  if (!changed) return "";
  if (tokens_lost === 0 && basis === "prompt") return "The cost is unknown";
  const scope = basis === "prompt" ? " and the messages" : "";
  return `Costs ${cost === null ? "" : `${dollars(cost)}: `}${count(tokens_lost)} cached tokens${scope}`;
}
