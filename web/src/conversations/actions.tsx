// What can be done with a conversation: build its prompt again, or forget it.
import { useState } from "preact/hooks";
import { forgetConversation, rebuild } from "../api";
import { Confirmation } from "../confirmation";
import type { Drift, Edition, Token } from "../forms";
import { whyNoTurn } from "../rights";
import { CONVERSATIONS, go } from "../route";
import { announce } from "../state";
import { RebuildCost } from "./rebuild-cost";
import { rebuildPrice } from "./rebuild-words";

export function RebuildButton({ edition, drift, token, onRebuilt }: { edition: Edition; drift: Drift | null; token: Token | null; onRebuilt(): void }) {
  const [isAsking, setAsking] = useState(false);
  const whyNot = whyNoTurn(token);
  return (
    <>
      {(whyNot || drift?.changed) && <span class="quiet">{whyNot || rebuildPrice(drift!)}</span>}
      <button type="button" class="primary" disabled={whyNot !== ""} onClick={() => setAsking(true)}>Rebuild…</button>
      {isAsking && (
        <Confirmation title="Rebuild the prompt" action="Rebuild" onCancel={() => setAsking(false)}
          onConfirm={async () => {
            const number = await rebuild(edition);
            setAsking(false);
            announce(number === edition.edition ? "Nothing had changed." : `Edition ${number} is now in use.`);
            onRebuilt();
          }}>
          <p>The prompt is built from the current files and template.</p>
          {drift && <RebuildCost drift={drift} />}
        </Confirmation>
      )}
    </>
  );
}

export function ForgetButton({ id }: { id: string }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <button type="button" class="danger" onClick={() => setAsking(true)}>Forget…</button>
      {isAsking && (
        <Confirmation title="Forget this conversation" action="Forget" onCancel={() => setAsking(false)}
          onConfirm={async () => {
            await forgetConversation(id);
            announce(`Forgot ${id}.`);
            go(CONVERSATIONS);
          }}>
          Its editions are deleted, and so are the texts that no other conversation uses. This cannot be undone.
        </Confirmation>
      )}
    </>
  );
}
