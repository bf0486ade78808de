// The editions of a conversation: what changed in each and why, and any two of them compared word by word.
import { useState } from "preact/hooks";
import { readEdition } from "../api";
import { DifferenceView } from "../difference-view";
import type { Difference, EditionRow } from "../forms";
import { Loading } from "../loading";
import { compare } from "../questions";
import { Time } from "../time";
import { useLatest } from "../use-latest";
import { count } from "../words";

const SHOWN = 20;

export function EditionChanges({ id, editions }: { id: string; editions: EditionRow[] }) {
  const newest = editions.at(-1)!.edition;
  const [[old, current], setPair] = useState<[number, number]>([newest - 1, newest]);
  const shown = editions.slice(-SHOWN).reverse();
  return (
    <section class="card" aria-labelledby="editions-heading">
      <h3 id="editions-heading">Editions</h3>
      <ol class="timeline">
        {shown.map((row) => <EditionItem key={row.edition} id={id} row={row} onCompare={() => setPair([row.edition - 1, row.edition])} />)}
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

function EditionItem({ id, row, onCompare }: { id: string; row: EditionRow; onCompare(): void }) {
  const changes = useLatest(async () => (row.edition > 1 ? compare(`talk:${id}@${row.edition - 1}`, `talk:${id}@${row.edition}`) : null), []);
  return (
    <li>
      <b>Edition {row.edition}</b> <span class="quiet"><Time iso={row.created} /></span>{" "}
      {row.edition === 1 ? <span class="quiet">first</span> : changes.value && (
        <>
          <span>{summary(changes.value)}</span>{" "}
          <button type="button" class="plain" onClick={onCompare} aria-label={`Compare edition ${row.edition} with the one before`}>compare</button>
        </>
      )}
    </li>
  );
}

/** What changed, and the sources that caused it. */
function summary({ details, tools, old, new: current }: Difference): string {
  const sections = details.map(({ section, changes, sources }) => `${section} ${changes.join(" and ")}${sources.length ? ` (${sources.map(lastPart).join(", ")})` : ""}`);
  const changedTools = Object.entries(tools).flatMap(([change, names]) => (names.length ? [`tools ${change}: ${names.join(", ")}`] : []));
  const tokens = current.tokens.count - old.tokens.count;
  return [...sections, ...changedTools, `${tokens < 0 ? "−" : "+"}${count(Math.abs(tokens))} tokens`].join(" · ");
}

function lastPart(path: string): string {
  return path.split("/").slice(-2).join("/");
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
