// The conversations, newest first, with search and filters.
import { useEffect, useMemo, useState } from "preact/hooks";
import { listConversations, listLayouts, readTotalUsage } from "../api";
import type { ConversationPage, ConversationRow } from "../forms";
import { latest } from "../latest";
import { type ConversationFilter, conversationsAt, replace } from "../route";
import { useServer } from "../server";
import { listTemplates } from "../stored-templates";
import { useLatest } from "../use-latest";
import { count, plural } from "../words";
import { rememberList } from "./last-list";
import { ConversationRows } from "./rows";
import { totalInWords } from "./usage-words";

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
  const usage = useLatest((signal) => readTotalUsage(filter, signal), [address], 300).value;

  const isFiltered = Object.values(filter).some(Boolean);
  return (
    <main class="conversations">
      <header class="heading">
        <div>
          <h2 id="conversations-heading">Conversations</h2>
          <p class="quiet" role="status">{page && rows && (filter.drifted ? totalOf(rows.length, !page.next) : totalOf(page.total.count, page.total.exact))}</p>
          {usage && !filter.drifted && <p class="quiet">{totalInWords(usage)}</p>}
        </div>
      </header>
      <Filters filter={filter} onChange={(filter) => replace(conversationsAt(filter))} />
      {problem && <p class="note wrong" role="alert">{problem}</p>}
      {rows && (
        <section class="card" aria-labelledby="conversations-heading">
          {rows.length === 0 && <p class="quiet">{page?.next ? "No conversations match so far." : isFiltered ? "No conversations match." : "No conversations have been started yet."}</p>}
          {rows.length > 0 && <ConversationRows rows={rows} isWide />}
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
  const templates = useLatest(listTemplates, []).value ?? [];
  const field = (name: keyof ConversationFilter) => ({
    value: filter[name],
    onInput: (event: { currentTarget: HTMLInputElement | HTMLSelectElement }) => onChange({ ...filter, [name]: event.currentTarget.value }),
  });
  return (
    <form class="choices filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <label>Id begins with<input type="search" {...field("search")} /></label>
      <label>
        Layout
        <Options {...field("layout")} names={layouts.map(({ name }) => name)} />
      </label>
      <label>Model<input {...field("model")} placeholder="any" spellcheck={false} /></label>
      <label>
        Template
        <Options {...field("template")} names={templates.map(({ name }) => name)} />
      </label>
      <label>Version<input {...field("version")} type="number" min="0" placeholder="any" /></label>
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

interface OptionsProps {
  value: string;
  names: string[];
  onInput(event: { currentTarget: HTMLSelectElement }): void;
}

/** One of these names, or any. The chosen name is listed even if it is not known. */
function Options({ value, names, onInput }: OptionsProps) {
  return (
    <select value={value} onInput={onInput}>
      <option value="">any</option>
      {[...new Set([...names, value])].filter(Boolean).map((name) => <option key={name}>{name}</option>)}
    </select>
  );
}
