// What changed between two texts, for the eye and for a screen reader.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { type Line, difference, hunks } from "./difference";

// More than anyone reads, and no more than a browser draws at once.
const MOST = 600;

const SIGNS: Record<Line["mark"], [string, string]> = { same: [" ", ""], gone: ["−", "removed: "], new: ["+", "added: "] };

export function DifferenceView({ before, after, label }: { before: string; after: string; label: string }) {
  const lines = useMemo(() => difference(before, after), [before, after]);
  const [added, gone] = [lines.filter((each) => each.mark === "new").length, lines.filter((each) => each.mark === "gone").length];
  const shown = hunks(lines);
  if (!added && !gone) return <p class="quiet">Nothing is different.</p>;
  return (
    <figure class="difference">
      <figcaption class="quiet">{added.toLocaleString("en")} {plural("line", added)} added, {gone.toLocaleString("en")} removed</figcaption>
      <div class="lines" role="region" aria-label={label} tabIndex={0}>
        <table>
          <tbody>
            {shown.slice(0, MOST).map((each, at) => ("gap" in each ? <Gap key={at}>{each.gap} {plural("line", each.gap)} the same</Gap> : <Row key={at} line={each} />))}
            {shown.length > MOST && <Gap>{(shown.length - MOST).toLocaleString("en")} further lines are not shown</Gap>}
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
      <td class="text">{words && <span class="unseen">{words}</span>}{line.text}</td>
    </tr>
  );
}

export function plural(word: string, many: number): string {
  return many === 1 ? word : `${word}s`;
}
