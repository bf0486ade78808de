// The hit rate by day.
import { DayChart } from "../day-chart";
import { dayName, daysOf } from "../days";
import type { UsageTotal } from "../forms";
import { cachedPercent, count, counted, dollars } from "../words";

export function HitRate({ usage }: { usage: UsageTotal }) {
  const rates = new Map(usage.days.map(({ day, usage: { hit_rate } }) => [day, hit_rate]));
  const bars = daysOf([...rates.keys()]).map((day) => {
    const rate = rates.get(day) ?? null;
    const words = rate === null ? "" : cachedPercent(rate);
    return { day, label: words, height: rate === null ? 0 : 1, dark: rate ?? 0, title: `${dayName(day)}: ${words || "no calls"}` };
  });
  return (
    <section class="card" aria-labelledby="hit-rate-heading">
      <h3 id="hit-rate-heading">Cache hit rate by day</h3>
      <DayChart bars={bars} label="Hit rate by day" heads={["Hit rate", "Calls", "Tokens in", "From the cache", "Cost"]}>
        {usage.days.toReversed().map(({ day, usage: { hit_rate, calls, input, read, cost } }) => (
          <tr key={day}><th scope="row">{dayName(day)}</th><td class="figure">{cachedPercent(hit_rate)}</td><td class="figure">{count(calls)}</td><td class="figure">{count(input)}</td><td class="figure">{read === null ? "–" : count(read)}</td><td class="figure">{cost === null ? "–" : dollars(cost)}</td></tr>
        ))}
      </DayChart>
      <p class="quiet">The share of the input tokens that providers read from their caches, in {usage.next ? "the newest " : ""}{counted(usage.conversations, "conversation")}. Days are in UTC.</p>
    </section>
  );
}
