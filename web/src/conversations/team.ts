// Conversations of several teams in one list, for a token that sees all teams.
import type { ListedConversation } from "../forms";

/** How a list names its conversations: with their teams, if it has several. Links then open the page of the conversation's team. */
export function namesIn(rows: ListedConversation[]) {
  const hasSeveral = rows.some(({ team }) => team !== rows[0]?.team);
  return {
    nameOf: ({ team, id }: ListedConversation) => (hasSeveral && team ? `${team} · ${id}` : id),
    /** The page of the conversation's team, before the address of a view. */
    pageOf: ({ team }: ListedConversation) => (hasSeveral ? `/?team=${encodeURIComponent(team)}` : ""),
  };
}
