// Describes recorded usage in words.
import type { UsageCounts, UsageTotal } from "../forms";
import { cachedPercent, count, counted, dollars } from "../words";

/** The calls, tokens, hit rate and cost. Empty without calls. */
export function usageInWords({ calls, input, output, cost, hit_rate, unreported }: UsageCounts): string {
  if (calls === 0) return "";
  const known = unreported ? ` (${counted(unreported, "call")} did not say)` : "";
  const cached = hit_rate === null ? ", cached part unknown" : `, ${cachedPercent(hit_rate)} of the input from the cache${known}`;
  const price = cost === null ? "" : `, ${dollars(cost)}`;
  return `${counted(calls, "call")}, ${count(input)} tokens in, ${count(output)} out${cached}${price}`;
}

/** The usage of a list. If the list is long, that of its newest conversations. */
export function totalInWords({ total, conversations, next }: UsageTotal): string {
  const words = usageInWords(total);
  return words && next ? `${words}, in the newest ${counted(conversations, "conversation")}` : words;
}
