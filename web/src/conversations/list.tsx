// The conversations as a table: search, chips, sortable headings, and rebuilding several at once.
import { useEffect, useMemo, useState } from "preact/hooks";
import { type ConversationFilter, conversationsAt, replace } from "../route";
import type { Sorting } from "../sort-heading";
import { useToken } from "../use-token";
import { cachedPercent, count, counted, dollars, plural } from "../words";
import { type AllConversations, useAllConversations } from "./all";
import { Chips } from "./chips";
import { rememberList } from "./last-list";
import { type Column, inOrder, matching } from "./matching";
import { RebuildSelected } from "./rebuild-selected";
import { ConversationTable } from "./table";

export function ConversationsView({ filter }: { filter: ConversationFilter }) {
  const address = conversationsAt(filter);
  useEffect(() => rememberList(address), [address]);
  const all = useAllConversations();
  const token = useToken();
  const [sorting, setSorting] = useState<Sorting<Column> | null>(null);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const found = useMemo(() => matching(all.rows ?? [], filter, Date.now()), [all.rows, filter]);
  const rows = useMemo(() => inOrder(found, sorting), [found, sorting]);
  const chosen = rows.filter(({ id }) => selected.has(id));
  const change = (changed: Partial<ConversationFilter>) => replace(conversationsAt({ ...filter, ...changed }));
  const isFiltered = Object.values(filter).some(Boolean);
  const sums = useMemo(() => summary(found, isFiltered), [found, isFiltered]);
  return (
    <main class="conversations">
      <header class="heading">
        <div>
          <h2 id="conversations-heading">Conversations</h2>
          <Total all={all} />
        </div>
        <RebuildSelected rows={chosen} token={token} onDone={() => { setSelected(new Set()); all.reload(); }} />
      </header>
      {all.problem && <p class="note wrong" role="alert">{all.problem} <button type="button" onClick={all.reload}>Try again</button></p>}
      <section class="card" aria-labelledby="conversations-heading" aria-busy={!all.rows && !all.problem}>
        <search>
          <label><span class="visually-hidden">Search for id, folder or model</span><input type="search" value={filter.search} placeholder="Id, folder or model" spellcheck={false} onInput={(event) => change({ search: event.currentTarget.value })} /></label>
          <Chips rows={all.rows ?? []} filter={filter} onChange={change} />
        </search>
        {all.rows && <p class="quiet" role="status">{sums}</p>}
        {all.rows && rows.length === 0 && <p>{isFiltered ? (filter.drifted && !all.isComplete ? "No conversations match so far." : "No conversations match.") : "No conversations have been started yet."}</p>}
        {!all.rows && !all.problem && <p class="skeleton" role="status">Reading the conversations…</p>}
        {rows.length > 0 && <ConversationTable rows={rows} sorting={sorting} onSort={setSorting} selected={selected} onSelect={setSelected} />}
      </section>
    </main>
  );
}

/** How many there are, and how many are behind: of those that are compared so far. */
function Total({ all: { rows, total, compared, isComplete } }: { all: AllConversations }) {
  if (!rows) return null;
  const behind = rows.filter(({ drift }) => drift?.changed).length;
  const loaded = rows.length < total.count ? `, of which the newest ${count(rows.length)} are listed` : "";
  return (
    <>
      <p class="total"><b>{count(total.count)}{total.exact ? "" : "+"}</b> {plural("conversation", total.count)}{loaded}{rows.length > 0 && <>, <b>{count(behind)}</b> behind</>}</p>
      {!isComplete && rows.length > 0 && <p class="quiet progress"><progress value={compared} max={rows.length} aria-label="Compared with a prompt built now" /> {count(compared)} of {count(rows.length)} compared</p>}
    </>
  );
}

/** What the listed conversations cost, and how much of their input was cached. */
function summary(rows: ReturnType<typeof matching>, isFiltered: boolean): string {
  const usages = rows.flatMap(({ usage }) => usage ?? []);
  const costs = usages.flatMap(({ cost }) => cost ?? []);
  const reported = usages.filter(({ read }) => read !== null);
  const input = reported.reduce((sum, usage) => sum + usage.input, 0);
  const read = reported.reduce((sum, usage) => sum + usage.read!, 0);
  const calls = usages.reduce((sum, usage) => sum + usage.calls, 0);
  const parts = [isFiltered && counted(rows.length, "conversation"), calls && counted(calls, "call"), costs.length && dollars(costs.reduce((sum, cost) => sum + cost, 0)), input && `${cachedPercent(read / input)} of the input from the cache`];
  return parts.filter(Boolean).join(", ");
}
