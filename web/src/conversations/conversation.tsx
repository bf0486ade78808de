// One conversation: its current edition, what changed between editions, and how a prompt built now would differ.
import { useMemo, useState } from "preact/hooks";
import { listEditions, readDrift, readEdition } from "../api";
import { CopyButton } from "../copy";
import { FindingList } from "../finding-list";
import type { Drift, Edition, EditionRow } from "../forms";
import { Loading } from "../loading";
import { Legend } from "../preview/origin-info";
import { PromptText } from "../preview/prompt-text";
import { segments } from "../preview/segments";
import { sourceFor } from "../preview/sources";
import { Time } from "../time";
import { type Loaded, useLatest } from "../use-latest";
import { ForgetButton, RebuildButton } from "./actions";
import { DriftView } from "./drift";
import { EditionChanges } from "./edition-changes";
import { Figures } from "./figures";
import { lastList } from "./last-list";
import { shortLayout } from "./layout-name";
import { Tools } from "./tools";
import { usageInWords } from "./usage-words";

export function Conversation({ id }: { id: string }) {
  const [number, setNumber] = useState<number | undefined>();
  const edition = useLatest(() => readEdition(id, number), [number]);
  const editions = useLatest(() => listEditions(id), []);
  const drift = useLatest(() => readDrift(id), []);
  const rows = editions.value ?? [];
  const newest = Math.max(0, ...rows.map((row) => row.edition));
  // Drift is relative to the current edition, whichever edition is shown.
  const current = edition.value?.edition === newest ? edition.value.system : undefined;
  function reload(): void {
    setNumber(undefined);
    for (const loaded of [edition, editions, drift]) loaded.reload();
  }
  return (
    <main class="conversation">
      <header>
        <p><a href={lastList}>← Conversations</a></p>
        <div class="heading">
          <div>
            <h2 class="path">{id}</h2>
            <Badges edition={edition.value} drift={drift.value} />
          </div>
          {edition.value && (
            <div class="buttons">
              <CopyButton text={edition.value.system} what="Copy prompt" />
              <ForgetButton id={id} />
              <RebuildButton edition={edition.value} onRebuilt={reload} />
            </div>
          )}
        </div>
        {edition.value && <Facts edition={edition.value} />}
      </header>
      {!edition.problem && <Figures id={id} editions={rows} usage={edition.value ? (edition.value.usage ?? null) : undefined} drift={drift.value} />}
      {!edition.problem && <DriftView drift={drift.value} system={current} problem={drift.problem} />}
      {rows.length > 1 && <EditionChanges id={id} editions={rows} />}
      <EditionPrompt loaded={edition} rows={rows} newest={newest} onNumber={setNumber} />
    </main>
  );
}

function Badges({ edition, drift }: { edition: Edition | null; drift: Drift | null }) {
  if (!edition) return null;
  const names = [shortLayout(edition.layout), edition.built_for.model].filter(Boolean);
  return (
    <p class="badges">
      {names.map((name) => <span key={name} class="badge">{name}</span>)}
      {drift?.changed && <span class="badge warning">drifted</span>}
    </p>
  );
}

interface PromptProps {
  loaded: Loaded<Edition>;
  rows: EditionRow[];
  newest: number;
  onNumber(number: number): void;
}

function EditionPrompt({ loaded, rows, newest, onNumber }: PromptProps) {
  const parts = useMemo(() => (loaded.value ? segments(loaded.value.system, loaded.value.passages) : []), [loaded.value]);
  return (
    <section class="card prompt-card" aria-labelledby="prompt-heading">
      <header>
        <h3 id="prompt-heading">Prompt</h3>
        {rows.length > 1 && (
          <label class="inline">
            Edition{" "}
            <select value={String(loaded.value?.edition ?? newest)} onInput={(event) => onNumber(Number(event.currentTarget.value))}>
              {rows.map((row) => <option key={row.edition} value={row.edition}>{row.edition}{row.edition === newest ? " (current)" : ""}</option>)}
            </select>
          </label>
        )}
      </header>
      <Loading loaded={loaded} doing="Reading the prompt">
        {(edition) => (
          <>
            <Legend segments={parts} />
            {edition.system ? <PromptText label="Prompt with origins" segments={parts} sourceOf={sourceFor({ cwd: edition.built_for.cwd ?? "", layout: shortLayout(edition.layout) })} /> : <p class="quiet">This edition has no system prompt.</p>}
            <Tools tools={edition.tool_tokens} />
            {edition.findings.length > 0 && <FindingList findings={edition.findings} />}
          </>
        )}
      </Loading>
    </section>
  );
}

function Facts({ edition }: { edition: Edition }) {
  const { cwd, model, provider } = edition.built_for;
  const usage = edition.usage && usageInWords(edition.usage);
  const facts = { Model: model, Provider: provider, Edition: String(edition.edition), Created: <Time iso={edition.created} />, Usage: usage };
  return (
    <dl class="facts">
      {cwd && <div><dt>Folder</dt><dd class="path">{cwd}</dd></div>}
      {Object.entries(facts).map(([name, fact]) => fact && <div key={name}><dt>{name}</dt><dd>{fact}</dd></div>)}
    </dl>
  );
}
