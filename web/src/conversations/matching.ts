// Finds conversations by what people remember of them, and sorts them.
import type { ListedConversation } from "../forms";
import type { ConversationFilter } from "../route";
import { type Sorting, sorted } from "../sort-heading";
import { shortLayout } from "./layout-name";

export type Column = "id" | "cwd" | "model" | "editions" | "tokens" | "cost" | "cached" | "behind" | "last";

const DAY = 24 * 60 * 60 * 1000;

/** The days of the filters "last day" and so on, by the value in the address. */
export const AGES: Record<string, number> = { day: 1, week: 7, month: 30 };

/** The conversations that match all filters. The search looks for its words in id, folder and model. Conversations that are not compared yet are not behind. */
export function matching(rows: ListedConversation[], filter: Partial<ConversationFilter>, now: number): ListedConversation[] {
  if (!Object.values(filter).some(Boolean)) return rows;
  const words = (filter.search ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const isEqual = (wanted: string | undefined, actual: string | null) => !wanted || wanted === actual;
  return rows.filter((row) => {
    const text = words.length ? `${row.id} ${row.cwd ?? ""} ${row.model}`.toLowerCase() : "";
    return words.every((word) => text.includes(word))
      && isEqual(filter.layout, shortLayout(row.layout)) && isEqual(filter.model, row.model)
      && isEqual(filter.template, row.template) && isEqual(filter.version, String(row.version))
      && (!filter.since || now - Date.parse(row.created) < AGES[filter.since]! * DAY)
      && (!filter.drifted || (filter.drifted === "true") === Boolean(row.drift?.changed));
  });
}

/** What a column is sorted by. Unknown figures are the smallest. */
export function keyOf(row: ListedConversation, by: Column): string | number {
  switch (by) {
    case "id": return row.id;
    case "cwd": return row.cwd ?? "";
    case "model": return row.model;
    case "editions": return row.editions;
    case "tokens": return row.tokens ?? -1;
    case "cost": return row.usage?.cost ?? -1;
    case "cached": return row.usage?.hit_rate ?? -1;
    case "behind": return row.drift?.changed ? (row.drift.cost ?? 0) : -1;
    case "last": return row.last_call ?? row.created;
  }
}

export function inOrder(rows: ListedConversation[], sorting: Sorting<Column> | null): ListedConversation[] {
  return sorting ? sorted(rows, sorting.direction, (row) => keyOf(row, sorting.by)) : rows;
}

export interface Sum {
  cost: number | null;
  /** How many have no known cost. */
  unknown: number;
}

/** What rebuilding all of these costs. */
export function rebuildSum(rows: ListedConversation[]): Sum {
  const costs = rows.map(({ drift }) => (!drift?.changed ? 0 : drift.basis === "prompt" && !drift.cost ? null : drift.cost));
  const known = costs.filter((cost) => cost !== null);
  return { cost: known.length ? known.reduce((sum, cost) => sum + cost, 0) : null, unknown: costs.length - known.length };
}
