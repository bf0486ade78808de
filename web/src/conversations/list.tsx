// The conversations, newest first, with search.
import { useEffect, useMemo, useState } from "preact/hooks";
import { PAGE, listConversations } from "../api";
import type { ConversationRow } from "../forms";
import { latest } from "../latest";
import { conversationAt } from "../route";
import { Time } from "../time";
import { shortLayout } from "./layout-name";

export function Conversations() {
  const [search, setSearch] = useState("");
  const [rows, setRows] = useState<ConversationRow[] | null>(null);
  const [isMore, setMore] = useState(false);
  const [problem, setProblem] = useState("");

  const asking = useMemo(() => latest<string, ConversationRow[]>(150, (words, signal) => listConversations(words, 0, signal), {
    answer(found) {
      setRows(found);
      setMore(found.length === PAGE);
      setProblem("");
    },
    failure: (error) => setProblem((error as Error).message),
  }), []);
  useEffect(() => asking.ask(search), [search]);
  useEffect(() => asking.stop, []);

  async function more(): Promise<void> {
    try {
      const found = await listConversations(search, rows!.length);
      setRows([...rows!, ...found]);
      setMore(found.length === PAGE);
    } catch (error) {
      setProblem((error as Error).message);
    }
  }

  return (
    <section class="card conversations" aria-labelledby="conversations-heading">
      <header>
        <h2 id="conversations-heading">Conversations</h2>
        <label class="search">
          <span class="unseen">Search conversations by id</span>
          <input type="search" placeholder="Search by id" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
        </label>
      </header>
      {problem && <p class="note wrong" role="alert">{problem}</p>}
      <p class="unseen" role="status">{rows && `${rows.length}${isMore ? " or more" : ""} conversations found`}</p>
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
      {isMore && <p><button type="button" onClick={() => void more()}>Show more</button></p>}
    </section>
  );
}
