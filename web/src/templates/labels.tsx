// A template's labels, except the one for the live version, and who moved them.
import { useState } from "preact/hooks";
import { Confirmation } from "../confirmation";
import type { LabelMove, Token } from "../forms";
import { Lock } from "../lock";
import { isProtected, whyNoLabel, whyNoTemplates } from "../rights";
import { announce } from "../state";
import { LIVE, removeLabel } from "../stored-templates";
import { Time } from "../time";

interface Props {
  name: string;
  labels: Record<string, number>;
  moves: LabelMove[];
  token: Token | null;
  onRemoved(): void;
}

export function Labels({ name, labels, moves, token, onRemoved }: Props) {
  const [removed, setRemoved] = useState("");
  const others = Object.entries(labels).filter(([label]) => label !== LIVE);
  if (!others.length) return null;
  return (
    <>
      <ul class="plain-list" aria-label="Labels">
        {others.map(([label, version]) => {
          const move = moves.find((candidate) => candidate.label === label);
          const whyNot = whyNoTemplates(token) || whyNoLabel(token, label);
          return (
            <li key={label}>
              <span class="badge">{label}{isProtected(token, label) && <Lock label={label} />}</span> version {version}
              {move?.time && <span class="quiet"> · since <Time iso={move.time} />{move.author && ` · ${move.author}`}</span>}{" "}
              {!whyNot && <button type="button" class="plain quiet" aria-label={`Remove the label ${label}`} onClick={() => setRemoved(label)}>Remove…</button>}
            </li>
          );
        })}
      </ul>
      {removed && (
        <Confirmation title={`Remove the label ${removed}`} action="Remove" onCancel={() => setRemoved("")}
          onConfirm={async () => {
            await removeLabel(name, removed, token?.name ?? "");
            announce(`Removed the label ${removed}.`);
            setRemoved("");
            onRemoved();
          }}>
          The version is kept. Conversations that ask for this label cannot be built until it exists again.
        </Confirmation>
      )}
    </>
  );
}
