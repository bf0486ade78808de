// Describes a change to a prompt: what changed and why, and what it costs in a provider's cache.
import type { CacheLoss, Difference } from "../forms";
import { count, counted, dollars, lastParts } from "../words";

/** What changed, each with the sources that caused it, and the change in size. */
export function reasons({ details, tools, old, new: current }: Difference): string[] {
  const sections = details.map(({ section, changes, sources }) => `${section} ${changes.join(" and ")}${sources.length ? ` (${sources.map(lastParts).join(", ")})` : ""}`);
  const changedTools = Object.entries(tools).flatMap(([change, names]) => (names.length ? [`tools ${change}: ${names.join(", ")}`] : []));
  const tokens = current.tokens.count - old.tokens.count;
  const size = tokens === 0 ? "same size" : `${tokens < 0 ? "−" : "+"}${counted(Math.abs(tokens), "token")}`;
  return [...sections, ...changedTools, size];
}

/** The cost with the provider that serves the model, or with the first one. */
function providerOf({ providers }: CacheLoss, model: string) {
  return providers.find(({ price }) => price?.model === model) ?? providers[0];
}

/** The share of the cached tokens that the change kept, from 0 to 1, or null if nothing was cached. */
export function keptShare(loss: CacheLoss, model = ""): number | null {
  const { kept = 0, lost = 0 } = providerOf(loss, model) ?? {};
  return kept + lost > 0 ? kept / (kept + lost) : null;
}

/** What the change costs in the cache. */
export function lossOf(loss: CacheLoss, model = ""): string {
  const provider = providerOf(loss, model);
  if (!provider) return "";
  const { kept, lost, rewrite, cacheable } = provider;
  if (cacheable === 0) return `The prompt is too short for the cache of ${provider.provider}.`;
  if (lost === 0) return "All cached tokens were kept.";
  const cost = rewrite === null ? "" : `, which cost ${dollars(rewrite)} more`;
  return `Kept ${count(kept)} tokens in the cache and lost ${count(lost)}${cost} (${provider.provider}).`;
}

const TRIGGERS: Record<string, string> = {
  start: "the conversation began",
  construct: "rebuilt on request",
  reload: "reloaded on request",
  compaction: "built after a compaction",
  resources: "built because resources were added",
  registry: "built because the tools were replaced",
  tools: "built because a turn had other tools",
  turn: "built for a turn, because files had changed",
  layout: "built because the layout is another one",
};

/** What an edition was built for. */
export function triggerInWords(trigger: string): string {
  return TRIGGERS[trigger] ?? `built for ${trigger}`;
}
