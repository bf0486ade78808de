// Describes what a rebuild costs, in words.
import type { Drift } from "../forms";
import { count, dollars } from "../words";

const BASES: Record<string, string> = {
  call: "counted from the last recorded call",
  messages: "counted from the prompt and the messages",
  prompt: "without the messages, because no call is recorded",
};

/** What a rebuild costs, in one sentence. It never claims that nothing is lost if that is not known. */
export function rebuildInWords({ changed, tokens_kept, tokens_lost, cost, basis, expired }: Drift): string {
  if (!changed) return "A prompt built now would be the same, so a rebuild costs nothing.";
  if (tokens_lost === 0 && tokens_kept === 0) {
    return basis === "call"
      ? "The last recorded call left nothing in the provider's cache."
      : "The prompt alone is too short for the provider's cache. What a rebuild costs with the messages is unknown, because no call is recorded.";
  }
  const money = cost === null ? "" : `, ${dollars(cost)}`;
  const end = expired ? " The provider has probably dropped its cache since that call." : "";
  return `A rebuild keeps about ${count(tokens_kept)} cached tokens and loses ${count(tokens_lost)}${money}, ${BASES[basis]}.${end}`;
}

/** The same, short enough for a place next to a button. Empty if a rebuild changes nothing. */
export function rebuildPrice({ changed, tokens_lost, cost, basis }: Drift): string {
  if (!changed) return "";
  const scope = basis === "prompt" ? " and the messages" : "";
  return `Costs ${cost === null ? "" : `${dollars(cost)}: `}${count(tokens_lost)} cached tokens${scope}`;
}
