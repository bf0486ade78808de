// The differences between two texts, also readable by screen readers.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { type Line, difference, hunks } from "./difference";

// More lines would be slow to render, and nobody would read them.
const MAX_LINES = 600;

const SIGNS: Record<Line["mark"], [string, string]> = { same: [" ", ""], removed: ["−", "removed: "], added: ["+", "added: "] };

export function DifferenceView({ before, after, label }: { before: string; after: string; label: string }) {
  const lines = useMemo(() => difference(before, after), [before, after]);
  const [added, removed] = (["added", "removed"] as const).map((mark) => lines.filter((line) => line.mark === mark).length) as [number, number];
  const shown = hunks(lines);
  if (!added && !removed) return <p class="quiet">No changes.</p>;
  return (
    <figure class="difference">
      <figcaption class="quiet">{added.toLocaleString("en")} {plural("line", added)} added, {removed.toLocaleString("en")} removed</figcaption>
      <div class="lines" role="region" aria-label={label} tabIndex={0}>
        <table>
          <tbody>
            {shown.slice(0, MAX_LINES).map((line, index) => ("gap" in line ? <Gap key={index}>{line.gap} unchanged {plural("line", line.gap)}</Gap> : <Row key={index} line={line} />))}
            {shown.length > MAX_LINES && <Gap>{(shown.length - MAX_LINES).toLocaleString("en")} more lines are not shown</Gap>}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

function Gap({ children }: { children: ComponentChildren }) {
  return <tr class="gap"><td colSpan={4}>{children}</td></tr>;
}

function Row({ line }: { line: Line }) {
  const [sign, words] = SIGNS[line.mark];
  return (
    <tr class={line.mark}>
      <td class="number">{line.before}</td>
      <td class="number">{line.after}</td>
      <td class="sign"><span aria-hidden="true">{sign}</span></td>
      <td class="text">{words && <span class="visually-hidden">{words}</span>}{line.text}</td>
    </tr>
  );
}

export function plural(word: string, count: number): string {
  return count === 1 ? word : `${word}s`;
}
