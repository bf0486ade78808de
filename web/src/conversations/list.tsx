// The conversations, by id, with search.
import { useEffect, useMemo, useState } from "preact/hooks";
import { PAGE, listConversations } from "../api";
import { plural } from "../difference-view";
import type { ConversationRow } from "../forms";
import { latest } from "../latest";
import { conversationAt } from "../route";
import { useServer } from "../server";
import { Watched, useWatched } from "../state";
import { Time } from "../time";
import { shortLayout } from "./layout-name";

interface Asked {
  search: string;
  /** Those that are there already. */
  after: ConversationRow[];
}

/** Stays as it is while one looks at a conversation and comes back. */
const searched = new Watched("");

export function Conversations() {
  const search = useWatched(searched);
  const [rows, setRows] = useState<ConversationRow[] | null>(null);
  const [isMore, setMore] = useState(false);
  const [problem, setProblem] = useState("");

  const asking = useMemo(() => latest<Asked, ConversationRow[]>(150, ({ search, after }, signal) => listConversations(search, after.length, signal), {
    answer(found, { after }) {
      setRows([...after, ...found]);
      setMore(found.length === PAGE);
      setProblem("");
    },
    failure: (error) => setProblem((error as Error).message),
  }), []);
  useServer(() => asking.ask({ search, after: [] }), [search]);
  useEffect(() => asking.stop, []);

  return (
    <section class="card conversations" aria-labelledby="conversations-heading">
      <header>
        <h2 id="conversations-heading">Conversations</h2>
        <label class="search">
          <span class="unseen">Search conversations by id</span>
          <input type="search" placeholder="Search by id" value={search} onInput={(event) => searched.set(event.currentTarget.value)} />
        </label>
      </header>
      {problem && <p class="note wrong" role="alert">{problem}</p>}
      <p class="unseen" role="status">{rows && `${rows.length}${isMore ? " or more" : ""} ${plural("conversation", rows.length)} found`}</p>
      {rows?.length === 0 && <p class="quiet">{search ? `No conversation has “${search}” in its id.` : "No conversation has been constructed yet."}</p>}
      {rows && rows.length > 0 && (
        <ul class="rows">
          {rows.map((row) => (
            <li key={row.id}>
              <a href={conversationAt(row.id)}>
                <span class="name">{row.id}</span>
                <span class="quiet">{shortLayout(row.layout)} · edition {row.editions} · <Time iso={row.made} /></span>
              </a>
            </li>
          ))}
        </ul>
      )}
      {isMore && <p><button type="button" onClick={() => asking.ask({ search, after: rows! })}>Show more</button></p>}
    </section>
  );
}
