// Rows of conversations, each a link.
import type { ListedConversation } from "../forms";
import { conversationAt } from "../route";
import { Time } from "../time";
import { shortLayout } from "./layout-name";
import { namesIn } from "./team";

export function ConversationRows({ rows }: { rows: ListedConversation[] }) {
  const { nameOf, pageOf } = namesIn(rows);
  return (
    <ul class="rows">
      {rows.map((row) => (
        <li key={nameOf(row)}>
          <a href={pageOf(row) + conversationAt(row.id)}>
            <span class="name">{nameOf(row)}</span>
            <span class="details quiet">
              <span>{shortLayout(row.layout)}</span> <span>{row.model}</span> <span>{templateOf(row)}</span> <span>edition {row.editions}</span> <span><Time iso={row.created} /></span>
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** The version of the stored template, if the conversation uses one. */
function templateOf({ template, version }: ListedConversation): string {
  if (!version) return "";
  return template ? `${template} version ${version}` : `version ${version}`;
}
