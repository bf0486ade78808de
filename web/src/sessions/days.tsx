// The cost by day: the dark part of a bar is the share of the input that was read from the cache.
import { DayChart } from "../day-chart";
import { dayName, daysOf } from "../days";
import { count } from "../words";
import type { SessionRows } from "./requests";
import { cost, hitRate, inputOf } from "./session-words";

export function DayCosts({ rows }: { rows: SessionRows["rows"] }) {
  const byDay = new Map(rows.map((row) => [row.key, row]));
  const shown = daysOf([...byDay.keys()]);
  const highest = Math.max(...shown.map((day) => byDay.get(day)?.cost ?? 0), 1e-9);
  const bars = shown.map((day) => {
    const row = byDay.get(day);
    const height = (row?.cost ?? 0) / highest;
    const input = row ? inputOf(row.tokens) : 0;
    return { day, label: row ? cost(row.cost) : "", height, dark: input ? (height * row!.tokens.read) / input : 0, title: `${dayName(day)}: ${row ? `${cost(row.cost)}, hit rate ${hitRate(row.tokens)}` : "no sessions"}` };
  });
  return (
    <>
      <DayChart bars={bars} label="Cost by day" heads={["Cost", "Hit rate", "Requests"]}>
        {rows.toSorted((a, b) => (a.key < b.key ? 1 : -1)).map(({ key, cost: amount, tokens, times }) => <tr key={key}><th scope="row">{dayName(key)}</th><td class="figure">{cost(amount)}</td><td class="figure">{hitRate(tokens)}</td><td class="figure">{count(times)}</td></tr>)}
      </DayChart>
      <p class="quiet">The height of a bar is the cost of that day. Its dark part is the share of the input that was read from the cache. Days are in UTC.</p>
    </>
  );
}
