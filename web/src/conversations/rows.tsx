// Rows of conversations, each a link.
import type { ConversationRow } from "../forms";
import { conversationAt } from "../route";
import { Time } from "../time";
import { shortLayout } from "./layout-name";

export function ConversationRows({ rows }: { rows: ConversationRow[] }) {
  return (
    <ul class="rows">
      {rows.map((row) => (
        <li key={row.id}>
          <a href={conversationAt(row.id)}>
            <span class="name">{row.id}</span>
            <span class="quiet">{shortLayout(row.layout)} · {row.model && `${row.model} · `}edition {row.editions} · <Time iso={row.created} /></span>
          </a>
        </li>
      ))}
    </ul>
  );
}
