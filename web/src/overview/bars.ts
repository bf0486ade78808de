// Lays out the days of a chart.
import type { DayUsage } from "../forms";

export interface Bar {
  day: string;
  /** From 0 to 1; null on a day without calls. */
  rate: number | null;
  left: number;
  width: number;
}

const DAY = 24 * 60 * 60 * 1000;
// The part of a day's place that is empty. The last day has no gap after it.
const GAP = 0.2;

/** A bar for each day from the first to the last, but at least `min` and at most `max` days, in a chart that is `total` wide. */
export function dailyBars(days: DayUsage[], min: number, max: number, total: number): Bar[] {
  const last = days.at(-1);
  if (!last) return [];
  const rates = new Map(days.map(({ day, usage }) => [day, usage.hit_rate]));
  const end = Date.parse(last.day);
  const first = Math.max(Math.min(Date.parse(days[0]!.day), end - (min - 1) * DAY), end - (max - 1) * DAY);
  const number = Math.round((end - first) / DAY) + 1;
  const step = total / (number - GAP);
  return Array.from({ length: number }, (_, index) => {
    const day = new Date(first + index * DAY).toISOString().slice(0, 10);
    return { day, rate: rates.get(day) ?? null, left: index * step, width: step * (1 - GAP) };
  });
}
