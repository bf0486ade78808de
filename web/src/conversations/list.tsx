// The list of conversations, ordered by id, with search.
import { useEffect, useMemo, useState } from "preact/hooks";
import { PAGE_SIZE, listConversations } from "../api";
import type { ConversationRow } from "../forms";
import { latest } from "../latest";
import { useServer } from "../server";
import { Observable, useObservable } from "../state";
import { plural } from "../words";
import { ConversationRows } from "./rows";

interface Query {
  search: string;
  /** The rows that are already shown. */
  after: ConversationRow[];
}

/** Kept outside the component, so that it survives opening a conversation and coming back. */
const searchText = new Observable("");

export function ConversationsView() {
  return <main class="conversations"><Conversations /></main>;
}

function Conversations() {
  const search = useObservable(searchText);
  const [rows, setRows] = useState<ConversationRow[] | null>(null);
  const [hasMore, setHasMore] = useState(false);
  const [problem, setProblem] = useState("");

  const loading = useMemo(() => latest<Query, ConversationRow[]>(150, ({ search, after }, signal) => listConversations(search, after.length, signal), {
    success(found, { after }) {
      setRows([...after, ...found]);
      setHasMore(found.length === PAGE_SIZE);
      setProblem("");
    },
    failure: (error) => setProblem((error as Error).message),
  }), []);
  useServer(() => loading.request({ search, after: [] }), [search]);
  useEffect(() => loading.stop, []);

  return (
    <section class="card conversations" aria-labelledby="conversations-heading">
      <header>
        <h2 id="conversations-heading">Conversations</h2>
        <label class="search">
          <span class="visually-hidden">Search conversations by id</span>
          <input type="search" placeholder="Search by id" value={search} onInput={(event) => searchText.set(event.currentTarget.value)} />
        </label>
      </header>
      {problem && <p class="note wrong" role="alert">{problem}</p>}
      <p class="visually-hidden" role="status">{rows && `${rows.length}${hasMore ? " or more" : ""} ${plural("conversation", rows.length)} found`}</p>
      {rows?.length === 0 && <p class="quiet">{search ? `No conversation id contains “${search}”.` : "No conversations have been started yet."}</p>}
      {rows && rows.length > 0 && (
        <ConversationRows rows={rows} />
      )}
      {hasMore && <p><button type="button" onClick={() => loading.request({ search, after: rows! })}>Show more</button></p>}
    </section>
  );
}
