// Rebuilds the prompts of the selected conversations, after saying what that costs.
import { useState } from "preact/hooks";
import { readEdition, rebuild } from "../api";
import { Confirmation } from "../confirmation";
import type { ListedConversation, Token } from "../forms";
import { whyNoTurn } from "../rights";
import { announce } from "../state";
import { counted, dollars } from "../words";
import { rebuildSum } from "./matching";

export const MAX_REBUILT = 100;

interface Props {
  rows: ListedConversation[];
  token: Token | null;
  onDone(): void;
}

export function RebuildSelected({ rows, token, onDone }: Props) {
  const [isAsking, setAsking] = useState(false);
  const [done, setDone] = useState(0);
  const whyNot = whyNoTurn(token) || (rows.length > MAX_REBUILT ? `At most ${MAX_REBUILT} can be rebuilt at once.` : "");
  async function rebuildAll(): Promise<void> {
    for (const [index, { id }] of rows.entries()) {
      await rebuild(await readEdition(id));
      setDone(index + 1);
    }
    setAsking(false);
    setDone(0);
    announce(`Rebuilt ${counted(rows.length, "conversation")}.`);
    onDone();
  }
  if (!rows.length) return null;
  return (
    <div class="buttons">
      {whyNot && <span class="quiet">{whyNot}</span>}
      <button type="button" class="primary" disabled={whyNot !== ""} onClick={() => setAsking(true)}>Rebuild {rows.length}…</button>
      {isAsking && (
        <Confirmation title={`Rebuild ${counted(rows.length, "conversation")}`} action="Rebuild" onCancel={() => setAsking(false)} onConfirm={rebuildAll}>
          <p>{costInWords(rows)}</p>
          {done > 0 && <p role="status"><progress value={done} max={rows.length} aria-label="Rebuilt" /> {done} of {rows.length} rebuilt</p>}
        </Confirmation>
      )}
    </div>
  );
}

/** What rebuilding these costs now and later. */
export function costInWords(rows: ListedConversation[]): string {
  const { cost, unknown } = rebuildSum(rows);
  const tokens = rows.reduce((sum, { drift }) => sum + (drift?.tokens_lost ?? 0), 0);
  const money = cost === null ? "" : `: ${dollars(cost)} once`;
  const rest = unknown ? ` For ${counted(unknown, "conversation")} the cost is unknown, because no call or price is recorded.` : "";
  return `Rebuilding now reads about ${counted(tokens, "cached token")} again${money}.${rest} At the next compaction that builds the prompt: nothing extra.`;
}
