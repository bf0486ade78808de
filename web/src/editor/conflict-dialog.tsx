// Shows what someone else saved in the meantime, and offers to merge both changes.
import { Dialog } from "../dialog";
import { DifferenceView } from "../difference-view";
import { Time } from "../time";
import { plural } from "../words";
import type { Conflict } from "./saving";

interface Props {
  conflict: Conflict;
  mine: string;
  onMerge(text: string): void;
  onSaveMine(): void;
  onTakeTheirs(): void;
  onCancel(): void;
}

export function ConflictDialog({ conflict: { theirs, saved, merged }, mine, onMerge, onSaveMine, onTakeTheirs, onCancel }: Props) {
  const text = merged && "text" in merged ? merged.text : null;
  return (
    <Dialog label="Someone else saved" onCancel={onCancel}>
      <h2>Someone else saved a new version</h2>
      <p>
        {saved?.author ? <b>{saved.author}</b> : "Someone"} saved version {theirs.version}{saved?.time && <> on <Time iso={saved.time} /></>}{saved?.note ? `: “${saved.note}”.` : "."}{" "}
        Your text is not lost.
      </p>
      {text !== null ? (
        <>
          <p>You changed different lines, so both changes fit together. This is what yours add to theirs:</p>
          <DifferenceView before={theirs.template} after={text} label="Changes from their text to the merged text" />
        </>
      ) : (
        <>
          <p>{merged && "conflicts" in merged && `You both changed ${places(merged.conflicts)}, so you need to choose. `}This is how your text differs from theirs:</p>
          <DifferenceView before={theirs.template} after={mine} label="Changes from their text to yours" />
        </>
      )}
      <p class="buttons">
        <button type="button" onClick={onTakeTheirs}>Use theirs</button>
        <button type="button" onClick={onSaveMine}>Save mine anyway</button>
        <button type="button" class={text === null ? "primary" : ""} onClick={onCancel} data-first={text === null}>Keep editing</button>
        {text !== null && <button type="button" class="primary" onClick={() => onMerge(text)} data-first>Merge both</button>}
      </p>
    </Dialog>
  );
}

const MAX_PLACES = 4;

/** The lines that both have changed, such as "lines 3 and 7–9". */
export function places(ranges: [number, number][]): string {
  const names = ranges.slice(0, MAX_PLACES).map(([first, last]) => (first === last ? String(first) : `${first}–${last}`));
  if (ranges.length > MAX_PLACES) names.push("others");
  const isOne = ranges.length === 1 && ranges[0]![0] === ranges[0]![1];
  const list = names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0];
  return `${plural("line", isOne ? 1 : 2)} ${list}`;
}
