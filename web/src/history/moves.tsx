// Who moved which label, newest first.
import type { LabelMove } from "../forms";
import { Time } from "../time";
import { counted } from "../words";
import { moveInWords } from "./move-words";

export function Moves({ moves }: { moves: LabelMove[] }) {
  if (!moves.length) return null;
  return (
    <details>
      <summary>{counted(moves.length, "move")} of labels</summary>
      <ol class="timeline" tabIndex={0} aria-label="Label moves">
        {moves.map((move, index) => (
          <li key={index}>
            <b>{move.label || "The template"}</b> {moveInWords(move)}
            <br />
            <span class="quiet"><Time iso={move.time} />{move.author && ` · ${move.author}`}{move.note && ` · ${move.note}`}</span>
          </li>
        ))}
      </ol>
    </details>
  );
}
