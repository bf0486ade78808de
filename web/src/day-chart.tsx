// A chart with a bar for each day, whose value is written above it. The table below it has the same numbers.
import type { ComponentChildren } from "preact";
import { dayName, everyNth } from "./days";

export interface Bar {
  day: string;
  /** What is written above the bar. Empty on a day without calls. */
  label: string;
  /** The height of the bar and of its dark part, from 0 to 1. */
  height: number;
  dark: number;
  /** The numbers in words. */
  title: string;
}

/** More labels would overlap on a phone, or on a larger screen. */
const MAX_SMALL = 8;
const MAX_LABELS = 16;

export function DayChart({ bars, label, heads, children }: { bars: Bar[]; label: string; /** The headings of the table, whose rows are the children. */ heads: string[]; children: ComponentChildren }) {
  const isAt = (index: number, most: number) => (bars.length - 1 - index) % everyNth(bars.length, most) === 0;
  return (
    <figure class="day-chart">
      <div class="bars" role="img" aria-label={`${label}: ${bars.at(-1)!.title}. The table below has the same numbers.`}>
        {bars.map(({ day, label, height, dark, title }, index) => (
          <div key={day} title={title}>
            <span class={isAt(index, MAX_SMALL) ? "" : "large-only"}>{isAt(index, MAX_LABELS) && label}</span>
            <i style={{ height: `${100 * height}%` }}><i style={{ height: `${height ? (100 * dark) / height : 0}%` }} /></i>
          </div>
        ))}
      </div>
      <figcaption class="quiet"><span>{dayName(bars[0]!.day)}</span>{bars.length > 1 && <span>{dayName(bars.at(-1)!.day)}</span>}</figcaption>
      <details>
        <summary>As a table</summary>
        <div class="scroll" tabIndex={0} role="region" aria-label={label}>
          <table class="data">
            <thead><tr><th>Day</th>{heads.map((head) => <th key={head} class="figure">{head}</th>)}</tr></thead>
            <tbody>{children}</tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}
