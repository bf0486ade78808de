// Asks before a template is deleted, and names the conversations that were built from it.
import { useState } from "preact/hooks";
import { Confirmation } from "../confirmation";
import type { Token } from "../forms";
import { Loading } from "../loading";
import { whyNoDeletion } from "../rights";
import { TEMPLATE, conversationAt, conversationsAt, go } from "../route";
import { announce } from "../state";
import { deleteTemplate, listUsers } from "../stored-templates";
import { useLatest } from "../use-latest";
import { counted, plural } from "../words";

const MAX_NAMED = 5;

export function DeleteButton({ name, token, onDeleted }: { name: string; token: Token | null; onDeleted(): void }) {
  const [isAsking, setAsking] = useState(false);
  const whyNot = whyNoDeletion(token, name);
  return (
    <>
      <button type="button" class="danger" disabled={whyNot !== ""} onClick={() => setAsking(true)}>Delete…</button>
      {whyNot && <p class="quiet">{whyNot}</p>}
      {isAsking && (
        <Confirmation title={`Delete ${name}`} action="Delete" isFinal onCancel={() => setAsking(false)}
          onConfirm={async () => {
            const versions = await deleteTemplate(name);
            announce(`Deleted ${name} with ${counted(versions, "version")}.`);
            onDeleted();
            go(TEMPLATE);
          }}>
          <p>All its versions and labels are deleted. This cannot be undone.</p>
          <BuiltFromIt name={name} />
        </Confirmation>
      )}
    </>
  );
}

function BuiltFromIt({ name }: { name: string }) {
  const users = useLatest(() => listUsers(name, MAX_NAMED), [name]);
  return (
    <Loading loaded={users} doing="Looking for conversations that use it">
      {({ ids, count, exact }) => {
        if (!count) return <p>No conversation uses it.</p>;
        const more = count - ids.length;
        return (
          <div class="note">
            <b>{exact ? "" : "At least "}{counted(count, "conversation")}</b> {count === 1 ? "was" : "were"} built from it. {count === 1 ? "It keeps its prompt" : "They keep their prompts"}, but cannot be rebuilt until {count === 1 ? "it names" : "they name"} another template:
            <ul class="bullets">
              {ids.map((id) => <li key={id}><a href={conversationAt(id)}>{id}</a></li>)}
              {more > 0 && <li><a href={conversationsAt({ template: name })}>{more.toLocaleString("en")} other {plural("conversation", more)}</a></li>}
            </ul>
          </div>
        );
      }}
    </Loading>
  );
}
