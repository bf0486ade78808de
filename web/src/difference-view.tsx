// The differences between two texts, line by line and word by word, in a form that screen readers can read.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { type Line, difference, hunks } from "./difference";
import { type Words, wordDifference } from "./word-difference";
import { Visible } from "./visible";
import { count, counted, plural } from "./words";

// More lines would be slow to render, and nobody would read them.
const MAX_LINES = 600;

const SIGNS: Record<Line["mark"], [string, string]> = { same: [" ", ""], removed: ["−", "removed: "], added: ["+", "added: "] };

export function DifferenceView({ before, after, label }: { before: string; after: string; label: string }) {
  const lines = useMemo(() => difference(before, after), [before, after]);
  const words = useMemo(() => wordsOf(lines), [lines]);
  const [added, removed] = (["added", "removed"] as const).map((mark) => lines.filter((line) => line.mark === mark).length) as [number, number];
  const shown = hunks(lines);
  if (!added && !removed) return <p class="quiet">No changes.</p>;
  return (
    <figure class="difference">
      <figcaption class="quiet">{counted(added, "line")} added, {count(removed)} removed</figcaption>
      <div class="lines" role="region" aria-label={label} tabIndex={0}>
        <table>
          <tbody>
            {shown.slice(0, MAX_LINES).map((line, index) => ("gap" in line ? <Gap key={index}>{line.gap} unchanged {plural("line", line.gap)}</Gap> : <Row key={index} line={line} words={words.get(line)} />))}
            {shown.length > MAX_LINES && <Gap>{count(shown.length - MAX_LINES)} more lines are not shown</Gap>}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

/** The words of changed lines: in each run of changes, the first removed line is compared with the first added line, and so on. */
function wordsOf(lines: Line[]): Map<Line, Words[]> {
  const words = new Map<Line, Words[]>();
  for (let start = 0; start < lines.length; start++) {
    if (lines[start]!.mark === "same") continue;
    let end = start;
    while (end < lines.length && lines[end]!.mark !== "same") end++;
    const run = lines.slice(start, end);
    const [removed, added] = [run.filter(({ mark }) => mark === "removed"), run.filter(({ mark }) => mark === "added")];
    removed.forEach((line, index) => {
      const other = added[index];
      const pair = other && wordDifference(line.text, other.text);
      if (!pair) return;
      words.set(line, pair[0]);
      words.set(other, pair[1]);
    });
    start = end;
  }
  return words;
}

function Gap({ children }: { children: ComponentChildren }) {
  return <tr class="gap"><td colSpan={4}>{children}</td></tr>;
}

function Row({ line, words }: { line: Line; words: Words[] | undefined }) {
  const [sign, spoken] = SIGNS[line.mark];
  return (
    <tr class={line.mark}>
      <td class="number">{line.before}</td>
      <td class="number">{line.after}</td>
      <td class="sign"><span aria-hidden="true">{sign}</span></td>
      <td class="text">
        {spoken && <span class="visually-hidden">{spoken}</span>}
        {words ? words.map(({ text, isChanged }, index) => (isChanged ? <mark key={index}><Visible text={text} /></mark> : <Visible text={text} />)) : <Visible text={line.text} />}
        {line.isUnended && line.mark !== "same" && <span class="quiet"> without a line feed at the end</span>}
      </td>
    </tr>
  );
}
