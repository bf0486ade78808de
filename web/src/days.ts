// The days of a chart.

const DAY = 24 * 60 * 60 * 1000;
// With fewer days, a single bar would be as wide as the chart.
const MIN_DAYS = 14;
const MAX_DAYS = 30;

/** All days from the first to the last of these, but at least two weeks and at most thirty days. */
export function daysOf(days: string[]): string[] {
  if (!days.length) return [];
  const times = days.map((day) => Date.parse(day));
  const end = Math.max(...times);
  const first = Math.max(Math.min(...times, end - (MIN_DAYS - 1) * DAY), end - (MAX_DAYS - 1) * DAY);
  return Array.from({ length: Math.round((end - first) / DAY) + 1 }, (_, index) => new Date(first + index * DAY).toISOString().slice(0, 10));
}

/** "2026-11-05" as "5 Nov 2026". */
export function dayName(day: string): string {
  return new Date(day).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
}

/** The step at which a label at every nth of these leaves at most `most` labels. */
export function everyNth(number: number, most: number): number {
  return Math.max(1, Math.ceil(number / most));
}
