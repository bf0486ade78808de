// The figures of sessions in words.
import { cachedPercent } from "../words";
import type { Tokens } from "./requests";

const CENT = 0.01;

/** A cost as the command prints it: in cents, smaller ones with four decimal places. A dash if no price is known. */
export function cost(amount: number | null): string {
  return amount === null ? "–" : inDollars(amount, amount >= CENT || !amount ? 2 : 4);
}

/** Costs that are rounded so that they add up to the total as it is printed. */
export function costs(amounts: (number | null)[], total: number | null): string[] {
  const places = total !== null && total > 0 && total < CENT ? 4 : 2;
  const known = amounts.filter((amount) => amount !== null);
  const rounded = apportion(Math.round((total ?? 0) * 10 ** places), known);
  return amounts.map((amount) => (amount === null ? "–" : inDollars(rounded.shift()! / 10 ** places, places)));
}

/** Divide a whole number in proportion to these shares, so that the results are whole and add up to it. */
function apportion(total: number, shares: number[]): number[] {
  const whole = shares.reduce((sum, share) => sum + share, 0);
  if (whole <= 0) return shares.map((_, index) => (index ? 0 : total));
  const exact = shares.map((share) => (total * share) / whole);
  const result = exact.map(Math.floor);
  const missing = total - result.reduce((sum, part) => sum + part, 0);
  const order = [...exact.keys()].sort((a, b) => result[a]! - exact[a]! - (result[b]! - exact[b]!) || a - b);
  for (const index of order.slice(0, missing)) result[index]! += 1;
  return result;
}

function inDollars(amount: number, places: number): string {
  return `$${amount.toLocaleString("en", { minimumFractionDigits: places, maximumFractionDigits: places })}`;
}

export function inputOf({ fresh, written, read }: Tokens): number {
  return fresh + written + read;
}

/** The share of the input that was read from the cache, as the command prints it. */
export function hitRate(tokens: Tokens): string {
  const input = inputOf(tokens);
  return cachedPercent(input ? tokens.read / input : null);
}

/** What a cause means, for people who see it for the first time. */
export const CAUSES: Record<string, string> = {
  file: "an instruction file changed",
  tool: "a tool was added, removed, changed or moved",
  server: "the tools of an MCP server changed",
  setting: "the program's own text or a setting changed",
  clock: "a date or time in the prompt",
  message: "a message was rewritten or removed",
  lifetime: "the pause was longer than the cache lasts",
  compaction: "the conversation was replaced by a summary",
  model: "another model, which has a cache of its own",
  provider: "nothing differs, and the cache should still have been there",
  unknown: "the log does not show enough",
  "no collapse": "everything else",
};
