// The editions of a conversation: what changed in each, why, and how many cached tokens that lost; and any two of them compared word by word.
import { useState } from "preact/hooks";
import { readEdition } from "../api";
import { DifferenceView } from "../difference-view";
import type { CacheLoss, EditionRow, UsageCounts } from "../forms";
import { Loading } from "../loading";
import { cacheLoss, compare, editionName } from "../questions";
import { Time } from "../time";
import { useLatest } from "../use-latest";
import { count } from "../words";
import { usageInWords } from "./usage-words";
import { keptShare, lossOf, reasons, triggerInWords } from "./change-words";

const SHOWN = 20;

/** `usage` is that of all editions. */
export function EditionChanges({ id, editions, usage }: { id: string; editions: EditionRow[]; usage: UsageCounts | null }) {
  const numbers = editions.map(({ edition }) => edition);
  const [[old, current], setPair] = useState<[number, number]>([numbers.at(-2)!, numbers.at(-1)!]);
  const losses = useLatest((signal) => readLosses(id, editions.slice(-SHOWN - 1), signal), []);
  const shown = editions.map((row, index) => ({ row, previous: editions[index - 1] })).slice(-SHOWN).reverse();
  return (
    <section class="card" aria-labelledby="editions-heading">
      <header><h3 id="editions-heading">Editions</h3>{usage && <p class="quiet">In sum: {usageInWords(usage)}</p>}</header>
      <ol class="timeline">
        {shown.map(({ row, previous }) => <EditionItem key={row.edition} id={id} row={row} previous={previous} loss={losses.value?.get(row.edition)} onCompare={() => setPair([previous!.edition, row.edition])} />)}
      </ol>
      {editions.length > SHOWN && <p class="quiet">{count(editions.length - SHOWN)} older editions are not listed; compare them below.</p>}
      <div class="buttons">
        <EditionChoice label="Compare edition" value={old} editions={editions} onInput={(number) => setPair([number, current])} />
        <EditionChoice label="with" value={current} editions={editions} onInput={(number) => setPair([old, number])} />
      </div>
      <Comparison id={id} old={old} current={current} />
    </section>
  );
}

/** How many cached tokens each edition lost, by its number. They are read one by one, because the service answers only a few such requests at a time. */
async function readLosses(id: string, editions: EditionRow[], signal: AbortSignal): Promise<Map<number, CacheLoss>> {
  const losses = new Map<number, CacheLoss>();
  for (const [index, { edition, built_for }] of editions.entries()) {
    const previous = editions[index - 1];
    if (previous) losses.set(edition, await cacheLoss(editionName(id, previous.edition), editionName(id, edition), built_for, signal));
  }
  return losses;
}

interface ItemProps {
  id: string;
  row: EditionRow;
  /** Undefined for the oldest edition that is stored. */
  previous: EditionRow | undefined;
  loss: CacheLoss | undefined;
  onCompare(): void;
}

function EditionItem({ id, row, previous, loss, onCompare }: ItemProps) {
  return (
    <li>
      <p>
        <b>Edition {row.edition}</b> <span class="quiet"><Time iso={row.created} />{row.trigger && ` · ${triggerInWords(row.trigger)}`}{row.built_for.template !== undefined && ` · ${row.built_for.template ? `template version ${row.built_for.template}` : "the text that Foreword comes with"}`}</span>{" "}
        {previous && <button type="button" class="plain" onClick={onCompare} aria-label={`Compare edition ${row.edition} with the one before`}>compare</button>}
      </p>
      {row.usage && <p class="quiet">{usageInWords(row.usage)}</p>}
      {previous ? <Changes id={id} old={previous} row={row} loss={loss} /> : <p class="quiet">{row.edition === 1 ? "The first edition." : "Older editions were removed."}</p>}
    </li>
  );
}

function Changes({ id, old, row, loss }: { id: string; old: EditionRow; row: EditionRow; loss: CacheLoss | undefined }) {
  const changes = useLatest((signal) => compare(editionName(id, old.edition), editionName(id, row.edition), signal), []);
  return (
    <ul class="plain-list">
      {changes.value && reasons(changes.value).map((reason) => <li key={reason}>{reason}</li>)}
      {changes.problem && <li class="wrong">{changes.problem}</li>}
      {loss && <li class="quiet"><KeptBar share={keptShare(loss, row.built_for.model)} />{lossOf(loss, row.built_for.model)}</li>}
    </ul>
  );
}

/** A picture of the share of the cache that was kept. The text beside it has the numbers. */
function KeptBar({ share }: { share: number | null }) {
  if (share === null) return null;
  return <svg class="kept-bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="lost" width="100" height="10" /><rect class="kept" width={100 * share} height="10" /></svg>;
}

interface ChoiceProps {
  label: string;
  value: number;
  editions: EditionRow[];
  onInput(number: number): void;
}

function EditionChoice({ label, value, editions, onInput }: ChoiceProps) {
  return (
    <label class="inline">
      {label}{" "}
      <select value={String(value)} onInput={(event) => onInput(Number(event.currentTarget.value))}>
        {editions.map(({ edition }) => <option key={edition}>{edition}</option>)}
      </select>
    </label>
  );
}

function Comparison({ id, old, current }: { id: string; old: number; current: number }) {
  const both = useLatest(() => Promise.all([readEdition(id, old), readEdition(id, current)]), [old, current]);
  return (
    <Loading loaded={both} doing="Comparing">
      {([before, after]) => <DifferenceView before={before.system} after={after.system} label={`Changes from edition ${old} to ${current}`} />}
    </Loading>
  );
}
