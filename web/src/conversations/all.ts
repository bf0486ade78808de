// All conversations with their details, and how each has drifted, which is computed in the background.
import { useEffect, useState } from "preact/hooks";
import { listConversations } from "../api";
import type { ListedConversation } from "../forms";
import { useServer } from "../server";

const DETAILED = 500;
const COMPARED = 20;
/** The milliseconds between two updates of the table. Each goes through all rows. */
const PAUSE = 250;
/** More would not fit into the memory of a browser tab comfortably. */
const MAX_ROWS = 10_000;

export interface AllConversations {
  rows: ListedConversation[] | null;
  /** How many there are, of which at most MAX_ROWS are loaded. */
  total: { count: number; exact: boolean };
  compared: number;
  isComplete: boolean;
  problem: string;
  reload(): void;
}

/** Without details, only how each has drifted is known. */
export function useAllConversations(hasDetails = true): AllConversations {
  const [rows, setRows] = useState<ListedConversation[] | null>(null);
  const [total, setTotal] = useState({ count: 0, exact: true });
  const [compared, setCompared] = useState(0);
  const [isComplete, setComplete] = useState(false);
  const [problem, setProblem] = useState("");
  const [attempt, setAttempt] = useState(0);
  const reload = () => setAttempt((number) => number + 1);
  useServer(reload, []);
  useEffect(() => {
    if (!attempt) return;
    const controller = new AbortController();
    const { signal } = controller;
    void (async () => {
      const known = new Map<string, ListedConversation>();
      try {
        if (hasDetails) for await (const page of pages({ details: true, limit: DETAILED }, signal)) {
          for (const row of page.conversations) known.set(row.id, row);
          setTotal(page.total);
          setRows([...known.values()]);
        }
        setProblem("");
        setCompared(0);
        let [number, shown] = [0, -PAUSE];
        for await (const page of pages({ compare: true, limit: COMPARED }, signal)) {
          for (const row of page.conversations) if (known.has(row.id) || !hasDetails) known.set(row.id, { ...row, ...known.get(row.id), drift: row.drift ?? null });
          number += page.conversations.length;
          if (page.next && performance.now() < shown + PAUSE) continue;
          shown = performance.now();
          setTotal(page.total);
          setCompared(number);
          setRows([...known.values()]);
        }
        setComplete(true);
      } catch (error) {
        if (!signal.aborted) setProblem((error as Error).message);
      }
    })();
    return () => controller.abort();
  }, [attempt]);
  return { rows, total, compared, isComplete, problem, reload };
}

/** The pages of the newest conversations. */
async function* pages(query: { details?: boolean; compare?: boolean; limit: number }, signal: AbortSignal) {
  let [after, number] = ["", 0];
  do {
    const page = await listConversations({ ...query, after }, signal);
    signal.throwIfAborted();
    yield page;
    number += page.conversations.length;
    after = page.next ?? "";
  } while (after && number < MAX_ROWS);
}
