// One conversation: its current edition, the prompt with its origins, and how a prompt built now would differ.
import { useMemo, useState } from "preact/hooks";
import { listEditions, readDrift, readEdition } from "../api";
import type { Drift, Edition, EditionRow, ToolTokens, UsageCounts } from "../forms";
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
          <Tools tools={edition.tool_tokens} />
          {edition.findings.length > 0 && <ul class="plain-list">{edition.findings.map((finding, index) => <li key={index}>{finding.severity}: {sentence(finding)}</li>)}</ul>}
        </section>
      )}
    </main>
  );
}

function describe({ calls, input, output, cost, hit_rate }: UsageCounts): string {
  if (calls === 0) return "";
  const cached = hit_rate === null ? "" : `, ${Math.round(100 * hit_rate)}% of the input from the cache`;
  const dollars = cost === null ? "" : `, $${cost.toFixed(cost < 1 ? 4 : 2)}`;
  return `${number(calls)} ${calls === 1 ? "call" : "calls"}, ${number(input)} tokens in, ${number(output)} out${cached}${dollars}`;
}

function number(value: number): string {
  return value.toLocaleString("en");
}

// The tools by MCP server, with the tokens of their definitions. Tools without a server come first.
function Tools({ tools }: { tools: ToolTokens[] }) {
  if (tools.length === 0) return null;
  const servers = [...new Set(tools.map((tool) => tool.server))].sort((a, b) => (a ?? "").localeCompare(b ?? ""));
  const total = (rows: ToolTokens[]) => number(rows.reduce((sum, tool) => sum + tool.tokens, 0));
  return (
    <section aria-labelledby="tools-heading">
      <h3 id="tools-heading">Tools <span class="quiet">about {total(tools)} tokens</span></h3>
      <ul class="plain-list">
        {servers.map((server) => {
          const rows = tools.filter((tool) => tool.server === server);
          return (
            <li key={server ?? ""}>
              {server && <><b>{server}</b> <span class="quiet">{total(rows)}</span>: </>}
              {rows.map((tool, index) => <span key={tool.name}>{index > 0 && ", "}{tool.name} <span class="quiet">{number(tool.tokens)}</span></span>)}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Facts({ edition }: { edition: Edition }) {
  const { cwd, model, provider } = edition.built_for;
  const usage = edition.usage && describe(edition.usage);
  const facts = { Layout: shortLayout(edition.layout), Folder: cwd, Model: model, Provider: provider, Edition: String(edition.edition), Usage: usage };
  return (
    <dl class="facts">
      {Object.entries(facts).map(([name, fact]) => fact && <div key={name}><dt>{name}</dt><dd class="path">{fact}</dd></div>)}
      <div><dt>Created</dt><dd><Time iso={edition.created} /></dd></div>
    </dl>
  );
}
