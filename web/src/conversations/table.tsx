// A table of conversations, of which only the rows on the screen are drawn.
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ListedConversation } from "../forms";
import { conversationAt } from "../route";
import { SortHeading, type Sorting } from "../sort-heading";
import { age, cachedPercent, count, dollars, lastParts } from "../words";
import { MAX_REBUILT } from "./rebuild-selected";
import type { Column } from "./matching";
import { nextRows, type Range } from "./drawn-rows";
import { namesIn } from "./team";
import { useIsPrinting } from "./use-is-printing";

const ROW = 41; // as in overview.css
/** How many rows beyond the screen are drawn. */
const MARGIN = 6;
const FRAME = 16; // in milliseconds
/** How many rows are printed: about 25 pages. */
const MAX_PRINTED = 1_000;

interface Props {
  rows: ListedConversation[];
  sorting: Sorting<Column> | null;
  onSort(sorting: Sorting<Column>): void;
  selected: ReadonlySet<string>;
  onSelect(selected: ReadonlySet<string>): void;
}

const COLUMNS: [Column, string, boolean][] = [["id", "Conversation", false], ["cwd", "Folder", false], ["model", "Model", false], ["editions", "Edition", true], ["tokens", "Tokens", true], ["cost", "Cost", true], ["cached", "Cached", true], ["behind", "Behind", false], ["last", "Last call", true]];

export function ConversationTable({ rows, sorting, onSort, selected, onSelect }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const [drawn, setDrawn] = useState<Range>([0, 0]);
  const current = useRef(drawn);
  const timer = useRef(0);
  function draw(): void {
    clearTimeout(timer.current);
    if (!host.current) return;
    const { scrollTop, clientHeight } = host.current;
    const top = Math.floor(scrollTop / ROW);
    const wanted: Range = [Math.max(0, top - MARGIN), Math.min(rows.length, Math.ceil((scrollTop + clientHeight) / ROW) + MARGIN)];
    current.current = nextRows(current.current, wanted, top);
    setDrawn(current.current);
    if (current.current[0] !== wanted[0] || current.current[1] !== wanted[1]) timer.current = setTimeout(draw, FRAME);
  }
  useLayoutEffect(draw, [rows.length]);
  const isPrinting = useIsPrinting();
  const [first, last] = isPrinting ? [0, Math.min(rows.length, MAX_PRINTED)] : [Math.min(drawn[0], rows.length), Math.min(drawn[1], rows.length)];
  const behind = useMemo(() => rows.filter(({ drift }) => drift?.changed).slice(0, MAX_REBUILT).map(({ id }) => id), [rows]);
  const areAll = behind.length > 0 && behind.every((id) => selected.has(id));
  function toggle(id: string, isOn: boolean): void {
    const changed = new Set(selected);
    if (isOn) changed.add(id);
    else changed.delete(id);
    onSelect(changed);
  }
  const now = Date.now();
  const { nameOf, pageOf } = useMemo(() => namesIn(rows), [rows]);
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
              <td class="path cut" title={row.cwd}>{lastParts(row.cwd ?? "")}</td>
              <td class="cut" title={row.model}>{row.model || "–"}</td>
              <td class="figure">{row.editions}</td>
              <td class="figure">{row.tokens === undefined ? "–" : count(row.tokens)}</td>
              <td class="figure">{row.usage?.cost == null ? "–" : dollars(row.usage.cost)}</td>
              <td class="figure">{cachedPercent(row.usage?.hit_rate)}</td>
              <td class="behind cut"><Behind row={row} /></td>
              <td class="figure"><time dateTime={row.last_call ?? row.created} title={row.last_call ?? `No call recorded; built ${row.created}`}>{row.last_call ? age(row.last_call, now) : `built ${age(row.created, now)}`}</time></td>
            </tr>
          ))}
          {!isPrinting && last < rows.length && <tr class="spacer" style={{ height: `${(rows.length - last) * ROW}px` }} aria-hidden="true"><td colSpan={COLUMNS.length + 1} /></tr>}
        </tbody>
      </table>
      {isPrinting && last < rows.length && <p>The other {count(rows.length - last)} rows are not printed.</p>}
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
