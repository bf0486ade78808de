// A bar for each day: its height is the cost, and the lower part of it is the share of the input that was read from the cache.
import { count } from "../words";
import type { SessionRows } from "./requests";
import { cost, hitRate, inputOf } from "./session-words";

const WIDTH = 1000;
const HEIGHT = 100;
const MIN = 14; // with fewer days, a single bar would be as wide as the chart
const MAX = 60;
const GAP = 0.2;

export function DayCosts({ rows }: { rows: SessionRows["rows"] }) {
  const days = [...rows].sort((a, b) => (a.key < b.key ? -1 : 1));
  const shown = days.slice(-MAX);
  const highest = Math.max(...shown.map((day) => day.cost ?? 0), 1e-9);
  const step = WIDTH / Math.max(shown.length, MIN);
  return (
    <figure class="day-chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label="Cost by day. The table below has the same numbers." preserveAspectRatio="none">
        {shown.map(({ key, cost: amount, tokens }, index) => {
          const height = (HEIGHT * (amount ?? 0)) / highest;
          const read = inputOf(tokens) ? (height * tokens.read) / inputOf(tokens) : 0;
          return (
            <g key={key}>
              <title>{`${key}: ${cost(amount)}, hit rate ${hitRate(tokens)}`}</title>
              <rect class="track" x={index * step} y={HEIGHT - Math.max(height, 1)} width={step * (1 - GAP)} height={Math.max(height, 1)} />
              <rect class="value" x={index * step} y={HEIGHT - read} width={step * (1 - GAP)} height={read} />
            </g>
          );
        })}
      </svg>
      <figcaption class="quiet"><span>{shown[0]!.key}</span>{shown.length > 1 && <span>{shown.at(-1)!.key}</span>}</figcaption>
      <details>
        <summary>As a table</summary>
        <div class="scroll" tabIndex={0} role="region" aria-label="Cost by day">
          <table class="data">
            <thead><tr><th>Day</th><th class="figure">Cost</th><th class="figure">Hit rate</th><th class="figure">Requests</th></tr></thead>
            <tbody>{days.toReversed().map(({ key, cost: amount, tokens, times }) => <tr key={key}><th scope="row">{key}</th><td class="figure">{cost(amount)}</td><td class="figure">{hitRate(tokens)}</td><td class="figure">{count(times)}</td></tr>)}</tbody>
          </table>
        </div>
      </details>
      <p class="quiet">The height of a bar is the cost of that day. Its dark part is the share of the input that was read from the cache. Days are in UTC.</p>
    </figure>
  );
}
