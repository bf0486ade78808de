// One conversation: its current edition, the prompt with its origins, and how a prompt built now would differ.
import { useMemo, useState } from "preact/hooks";
import { listEditions, readDrift, readEdition } from "../api";
import type { Drift, Edition, EditionRow } from "../forms";
import { latest } from "../latest";
import { Legend, PromptText } from "../preview/prompt-text";
import { segments } from "../preview/segments";
import { OVERVIEW } from "../route";
import { useServer } from "../server";
import { Time } from "../time";
import { sentence } from "../editor/diagnostics";
import { DriftView } from "./drift";
import { shortLayout } from "./layout-name";

export function Conversation({ id }: { id: string }) {
  const [editions, setEditions] = useState<EditionRow[]>([]);
  const [number, setNumber] = useState<number | undefined>();
  const [edition, setEdition] = useState<Edition | null>(null);
  const [drift, setDrift] = useState<Drift | null>(null);
  const [problem, setProblem] = useState("");
  const [driftProblem, setDriftProblem] = useState("");

  const loading = useMemo(() => latest<number | undefined, Edition>(0, (number) => readEdition(id, number), {
    success(edition) {
      setEdition(edition);
      setProblem("");
    },
    failure: (error) => setProblem((error as Error).message),
  }), []);
  useServer(() => {
    setDriftProblem("");
    listEditions(id).then(setEditions, () => {});
    readDrift(id).then(setDrift, (error: Error) => setDriftProblem(error.message));
  });
  useServer(() => loading.request(number), [number]);
  const parts = useMemo(() => (edition ? segments(edition.system, edition.passages) : []), [edition]);
  const newest = Math.max(0, ...editions.map((row) => row.edition));

  return (
    <main class="conversation">
      <header>
        <p><a href={OVERVIEW}>← Overview</a></p>
        <h2 class="path">{id}</h2>
        {problem && <p class="note wrong" role="alert">{problem}</p>}
        {edition && <Facts edition={edition} />}
        {editions.length > 1 && (
          <label class="inline">
            Edition{" "}
            <select value={String(edition?.edition ?? newest)} onInput={(event) => setNumber(Number(event.currentTarget.value))}>
              {editions.map((row) => <option key={row.edition} value={row.edition}>{row.edition}{row.edition === newest ? " (current)" : ""}</option>)}
            </select>
          </label>
        )}
      </header>
      <DriftView drift={drift} problem={driftProblem} />
      {edition && (
        <section class="card prompt-card" aria-labelledby="prompt-heading">
          <h3 id="prompt-heading">Prompt</h3>
          <Legend segments={parts} />
          {edition.system ? <PromptText label="Prompt with origins" segments={parts} /> : <p class="quiet">This edition has no system prompt.</p>}
          {edition.tools.length > 0 && <p><b>Tools</b> {edition.tools.map((tool) => tool.name).join(", ")}</p>}
          {edition.findings.length > 0 && <ul class="plain-list">{edition.findings.map((finding, index) => <li key={index}>{finding.severity}: {sentence(finding)}</li>)}</ul>}
        </section>
      )}
    </main>
  );
}

function Facts({ edition }: { edition: Edition }) {
  const { cwd, model, provider } = edition.built_for;
  const facts = { Layout: shortLayout(edition.layout), Folder: cwd, Model: model, Provider: provider, Edition: String(edition.edition) };
  return (
    <dl class="facts">
      {Object.entries(facts).map(([name, fact]) => fact && <div key={name}><dt>{name}</dt><dd class="path">{fact}</dd></div>)}
      <div><dt>Created</dt><dd><Time iso={edition.created} /></dd></div>
    </dl>
  );
}
