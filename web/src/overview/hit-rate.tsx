// A chart of the hit rate by day. The table below it has the same numbers.
import type { UsageTotal } from "../forms";
import { count, counted, dollars, percent } from "../words";
import { dailyBars } from "./bars";

const WIDTH = 1000;
const HEIGHT = 100;
const EMPTY = 2; // the height of the bar for a day without calls
// With fewer days, a single bar would be as wide as the chart.
const MIN_DAYS = 14;
const MAX_DAYS = 30;

export function HitRate({ usage }: { usage: UsageTotal }) {
  const bars = dailyBars(usage.days, MIN_DAYS, MAX_DAYS, WIDTH);
  return (
    <section class="card" aria-labelledby="hit-rate-heading">
      <h3 id="hit-rate-heading">Cache hit rate by day</h3>
      <figure class="day-chart">
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`Cache hit rate by day, ${percent(bars.at(-1)!.rate ?? 0)} on ${bars.at(-1)!.day}. The table below has the same numbers.`} preserveAspectRatio="none">
          {bars.map(({ day, rate, left, width }) => (
            <g key={day}>
              <title>{`${day}: ${rate === null ? "no calls" : percent(rate)}`}</title>
              <rect class="track" x={left} y={rate === null ? HEIGHT - EMPTY : 0} width={width} height={rate === null ? EMPTY : HEIGHT} />
              {rate !== null && <rect class="value" x={left} y={HEIGHT * (1 - rate)} width={width} height={HEIGHT * rate} />}
            </g>
          ))}
        </svg>
        <figcaption class="quiet"><span>{bars[0]!.day}</span>{bars.length > 1 && <span>{bars.at(-1)!.day}</span>}</figcaption>
        <details>
          <summary>As a table</summary>
          <div class="scroll" tabIndex={0} role="region" aria-label="Hit rate by day">
            <table class="data">
              <thead><tr><th>Day</th><th class="figure">Hit rate</th><th class="figure">Calls</th><th class="figure">Tokens in</th><th class="figure">From the cache</th><th class="figure">Cost</th></tr></thead>
              <tbody>
                {usage.days.toReversed().map(({ day, usage: { hit_rate, calls, input, read, cost } }) => (
                  <tr key={day}><th scope="row">{day}</th><td class="figure">{hit_rate === null ? "–" : percent(hit_rate)}</td><td class="figure">{count(calls)}</td><td class="figure">{count(input)}</td><td class="figure">{read === null ? "–" : count(read)}</td><td class="figure">{cost === null ? "–" : dollars(cost)}</td></tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      </figure>
      <p class="quiet">The share of the input tokens that providers read from their caches, in {usage.next ? "the newest " : ""}{counted(usage.conversations, "conversation")}. Days are in UTC.</p>
    </section>
  );
}
