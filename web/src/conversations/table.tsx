// A table of conversations, of which only the rows on the screen are drawn.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ListedConversation } from "../forms";
import { conversationAt } from "../route";
import { SortHeading, type Sorting } from "../sort-heading";
import { age, count, dollars, lastParts, percent } from "../words";
import { MAX_REBUILT } from "./rebuild-selected";
import type { Column } from "./matching";
import { namesIn } from "./team";

const ROW = 41; // as in overview.css
/** How many rows beyond the screen are drawn. */
const MARGIN = 6;

interface Props {
  rows: ListedConversation[];
  sorting: Sorting<Column> | null;
  onSort(sorting: Sorting<Column>): void;
  selected: ReadonlySet<string>;
  onSelect(selected: ReadonlySet<string>): void;
}

const COLUMNS: [Column, string, boolean][] = [["id", "Conversation", false], ["cwd", "Folder", false], ["model", "Model", false], ["editions", "Edition", true], ["tokens", "Tokens", true], ["cost", "Cost", true], ["cached", "Cached", true], ["behind", "Behind", true], ["last", "Last call", true]];

export function ConversationTable({ rows, sorting, onSort, selected, onSelect }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const [window, setWindow] = useState<[number, number]>([0, 30]);
  function draw(): void {
    const { scrollTop, clientHeight } = host.current!;
    const first = Math.max(0, Math.floor(scrollTop / ROW) - MARGIN);
    const last = Math.ceil((scrollTop + clientHeight) / ROW) + MARGIN;
    setWindow((before) => (before[0] === first && before[1] === last ? before : [first, last]));
  }
  useLayoutEffect(draw, [rows.length]);
  const [first, last] = [Math.min(window[0], Math.max(0, rows.length - 1)), Math.min(window[1], rows.length)];
  const behind = rows.filter(({ drift }) => drift?.changed).slice(0, MAX_REBUILT).map(({ id }) => id);
  const areAll = behind.length > 0 && behind.every((id) => selected.has(id));
  function toggle(id: string, isOn: boolean): void {
    const changed = new Set(selected);
    if (isOn) changed.add(id);
    else changed.delete(id);
    onSelect(changed);
  }
  const now = Date.now();
  const { nameOf, pageOf } = namesIn(rows);
  return (
    <div class="scroll conversation-table" ref={host} onScroll={draw} tabIndex={0} role="region" aria-label="Table of conversations">
      <table class="data" aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            <td class="check"><input type="checkbox" aria-label={`Select all that are behind, at most ${MAX_REBUILT}`} disabled={!behind.length} checked={areAll} onInput={() => onSelect(new Set(areAll ? [] : behind))} /></td>
            {COLUMNS.map(([by, name, isFigure]) => <SortHeading key={by} {...{ by, name, isFigure, sorting, onSort }} />)}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <tr class="spacer" style={{ height: `${first * ROW}px` }} aria-hidden="true"><td colSpan={COLUMNS.length + 1} /></tr>}
          {rows.slice(first, last).map((row, index) => (
            <tr key={nameOf(row)} aria-rowindex={first + index + 2}>
              <td class="check"><input type="checkbox" aria-label={`Select ${row.id}`} checked={selected.has(row.id)} onInput={(event) => toggle(row.id, event.currentTarget.checked)} /></td>
              <th scope="row"><a href={pageOf(row) + conversationAt(row.id)}>{nameOf(row)}</a></th>
              <td class="path" title={row.cwd}>{lastParts(row.cwd ?? "")}</td>
              <td>{row.model || "–"}</td>
              <td class="figure">{row.editions}</td>
              <td class="figure">{row.tokens === undefined ? "–" : count(row.tokens)}</td>
              <td class="figure">{row.usage?.cost == null ? "–" : dollars(row.usage.cost)}</td>
              <td class="figure">{row.usage?.hit_rate == null ? "–" : percent(row.usage.hit_rate)}</td>
              <td class="behind"><Behind row={row} /></td>
              <td class="figure"><time dateTime={row.last_call ?? row.created} title={row.last_call ?? `No call recorded; built ${row.created}`}>{row.last_call ? age(row.last_call, now) : `built ${age(row.created, now)}`}</time></td>
            </tr>
          ))}
          {last < rows.length && <tr class="spacer" style={{ height: `${(rows.length - last) * ROW}px` }} aria-hidden="true"><td colSpan={COLUMNS.length + 1} /></tr>}
        </tbody>
      </table>
    </div>
  );
}

/** The sources that have changed since the prompt was built. */
function Behind({ row: { drift } }: { row: ListedConversation }) {
  if (drift === undefined) return <span class="quiet">…</span>;
  if (drift === null) return <span class="quiet">not comparable</span>;
  if (!drift.changed) return null;
  const [first = "prompt", ...others] = drift.sources.map(lastParts);
  return <span class="badge warning" title={drift.sources.join("\n")}>{first}{others.length > 0 && ` +${others.length}`}</span>;
}
