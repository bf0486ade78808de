// Turns the filters of the list into a query of the service.
import type { ConversationFilter } from "../route";

interface Query {
  search?: string;
  layout?: string;
  model?: string;
  template?: string;
  version?: number;
  since?: string;
  until?: string;
  drifted?: boolean;
}

/** Empty fields are left out. Both days are included, in the time zone of the browser. */
export function filterQuery({ version, since, until, drifted, ...texts }: Partial<ConversationFilter>): Query {
  return {
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text)),
    ...(version && { version: Number(version) }),
    ...(since && { since: startOf(since) }),
    ...(until && { until: startOf(until, 1) }),
    ...(drifted && { drifted: drifted === "true" }),
  };
}

/** When a day begins, or a later day. */
function startOf(day: string, later = 0): string {
  const start = new Date(`${day}T00:00`);
  start.setDate(start.getDate() + later);
  return start.toISOString();
}
