// The conversations, newest first, with search and filters.
import { useEffect, useMemo, useState } from "preact/hooks";
import { listConversations, listLayouts } from "../api";
import type { ConversationPage, ConversationRow } from "../forms";
import { latest } from "../latest";
import { type ConversationFilter, conversationsAt, replace } from "../route";
import { useServer } from "../server";
import { useLatest } from "../use-latest";
import { count, plural } from "../words";
import { rememberList } from "./last-list";
import { ConversationRows } from "./rows";

interface Query {
  filter: ConversationFilter;
  /** The rows that are already shown, and where the next page begins. */
  rows: ConversationRow[];
  after: string;
}

export function ConversationsView({ filter }: { filter: ConversationFilter }) {
  const address = conversationsAt(filter);
  useEffect(() => rememberList(address), [address]);
  const [rows, setRows] = useState<ConversationRow[] | null>(null);
  const [page, setPage] = useState<ConversationPage | null>(null);
  const [problem, setProblem] = useState("");

  const loading = useMemo(() => latest<Query, ConversationPage>(150, ({ filter, after }, signal) => listConversations(filter, after, signal), {
    success(found, { rows }) {
      setRows([...rows, ...found.conversations]);
      setPage(found);
      setProblem("");
    },
    failure: (error) => setProblem((error as Error).message),
  }), []);
  useServer(() => loading.request({ filter, rows: [], after: "" }), [address]);
  useEffect(() => loading.stop, []);

  const isFiltered = Object.values(filter).some(Boolean);
  return (
    <main class="conversations">
      <header class="heading">
        <div>
          <h2 id="conversations-heading">Conversations</h2>
          <p class="quiet" role="status">{page && rows && (filter.drifted ? totalOf(rows.length, !page.next) : totalOf(page.total.count, page.total.exact))}</p>
        </div>
      </header>
      <Filters filter={filter} onChange={(filter) => replace(conversationsAt(filter))} />
      {problem && <p class="note wrong" role="alert">{problem}</p>}
      {rows && (
        <section class="card" aria-labelledby="conversations-heading">
          {rows.length === 0 && <p class="quiet">{page?.next ? "No conversations match so far." : isFiltered ? "No conversations match." : "No conversations have been started yet."}</p>}
          {rows.length > 0 && <ConversationRows rows={rows} />}
          {filter.drifted && page?.next && <p class="quiet">Each step compares 50 conversations with a prompt built now.</p>}
          {page?.next && <p><button type="button" onClick={() => loading.request({ filter, rows, after: page.next! })}>Show more</button></p>}
        </section>
      )}
    </main>
  );
}

function totalOf(number: number, isExact: boolean): string {
  return `${count(number)}${isExact ? "" : " or more"} ${plural("conversation", number)}`;
}

function Filters({ filter, onChange }: { filter: ConversationFilter; onChange(filter: ConversationFilter): void }) {
  const layouts = useLatest(() => listLayouts(), []).value?.layouts.filter(({ mirrors }) => !mirrors) ?? [];
  const field = (name: keyof ConversationFilter) => ({
    value: filter[name],
    onInput: (event: { currentTarget: HTMLInputElement | HTMLSelectElement }) => onChange({ ...filter, [name]: event.currentTarget.value }),
  });
  return (
    <form class="choices filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <label>Id begins with<input type="search" {...field("search")} /></label>
      <label>
        Layout
        <select {...field("layout")}>
          <option value="">any</option>
          {layouts.map(({ name }) => <option key={name}>{name}</option>)}
        </select>
      </label>
      <label>Model<input {...field("model")} placeholder="any" spellcheck={false} /></label>
      <label>Template version<input {...field("version")} type="number" min="0" placeholder="any" /></label>
      <label>Since<input {...field("since")} type="date" /></label>
      <label>Until<input {...field("until")} type="date" /></label>
      <label>
        Drift
        <select {...field("drifted")}>
          <option value="">any</option>
          <option value="true">drifted</option>
          <option value="false">not drifted</option>
        </select>
      </label>
    </form>
  );
}
