// The matrix of files and released agents: which agent loads which file, and why.
import { useRef, useState } from "preact/hooks";
import { Breakable } from "../breakable";
import { compareAgents } from "../questions";
import type { AgentsTable } from "../forms";
import { type Cell, cellAfter } from "../grid-keys";
import { Loading } from "../loading";
import { useLatest } from "../use-latest";
import { count, counted, relative } from "../words";
import type { TabProps } from "./tab";

export function AgentsTab({ subject }: TabProps) {
  // Empty: the agents that this repository is written for.
  const [names, setNames] = useState<string[]>([]);
  const table = useLatest((signal) => compareAgents(subject, names, signal), [subject, names], 200);
  return <Loading loaded={table} doing="Checking what each agent reads">{(value) => <Matrix table={value} onNames={setNames} />}</Loading>;
}

/** The verdicts on a file that an agent reads, now or later. */
const READ = ["loaded", "cut", "on-touch", "listed", "elsewhere"];

const LEGEND: Record<string, string> = {
  loaded: "all of it is in the prompt",
  cut: "in the prompt, but not all of it",
  "on-touch": "added when the agent works on a file that it is for",
  listed: "only its name and description are in the prompt",
  elsewhere: "read by an agent that is started in its folder",
  shadowed: "another file takes its place",
  copy: "the prompt already has this text from another file",
  blank: "contains only white space",
  unused: "considered and left out",
  never: "not read",
};

function Matrix({ table: whole, onNames }: { table: AgentsTable; onNames(names: string[]): void }) {
  const [chosen, setChosen] = useState<Cell | null>(null);
  const [showsAll, setShowsAll] = useState(false);
  const read = whole.files.filter(({ verdicts }) => verdicts.some(({ verdict }) => READ.includes(verdict)));
  const unread = whole.files.filter((file) => !read.includes(file));
  const table = { ...whole, files: showsAll ? [...read, ...unread] : read };
  function toggle(): void {
    setShowsAll(!showsAll);
    setChosen(null); // its row may be folded
  }
  const shown = table.agents.map(({ name }) => name);
  const known = useRef<string[]>([]); // only a table without a choice lists the others
  known.current = [...new Set([...known.current, ...shown, ...table.others])].sort();
  function toggleAgent(name: string): void {
    setChosen(null);
    onNames(shown.includes(name) ? shown.filter((each) => each !== name) : [...shown, name]);
  }
  if (!table.agents.length) return <p class="note">This repository has no files that a known agent looks for. Add an AGENTS.md, and most agents will read it.</p>;
  return (
    <section class="card" aria-labelledby="agents-heading">
      <h3 id="agents-heading">Files by agent</h3>
      <div class="chips" role="group" aria-label="Agents">
        {known.current.map((name) => <button key={name} type="button" class="chip" aria-pressed={shown.includes(name)} disabled={shown.length === 1 && shown[0] === name} onClick={() => toggleAgent(name)}>{name}</button>)}
      </div>
      <Legend table={table} />
      <Grid table={table} chosen={chosen} onChoose={setChosen} />
      <p class="visually-hidden" id="agents-keys">The arrow keys move between cells, and the reason for each is announced.</p>
      <p role="status" class="origin-info"><Reason table={table} chosen={chosen} /></p>
      {unread.length > 0 && (
        <p><button type="button" aria-expanded={showsAll} onClick={toggle}>{showsAll ? "Hide" : "Show"} {counted(unread.length, "file")} that no agent reads</button></p>
      )}
    </section>
  );
}

/** What the verdicts in the table mean. */
function Legend({ table }: { table: AgentsTable }) {
  const shown = new Set(table.files.flatMap(({ verdicts }) => verdicts.map(({ verdict }) => verdict)));
  return (
    <ul class="legend" aria-label="Verdicts">
      {Object.entries(LEGEND).map(([verdict, meaning]) => shown.has(verdict) && (
        <li key={verdict}><span class={`badge verdict-${verdict}`}>{verdict.replace("-", " ")}</span>{meaning}</li>
      ))}
    </ul>
  );
}

interface GridProps {
  table: AgentsTable;
  chosen: Cell | null;
  onChoose(cell: Cell): void;
}

/** A table that is one tab stop. The arrow keys move between its cells, and the focused cell is the chosen one. */
function Grid({ table, chosen, onChoose }: GridProps) {
  const host = useRef<HTMLTableElement>(null);
  const { row, column } = chosen ?? { row: 0, column: 0 };
  function key(event: KeyboardEvent): void {
    const cell = event.altKey || event.metaKey ? null : cellAfter(event.key, event.ctrlKey, { row, column }, { row: table.files.length, column: table.agents.length });
    if (!cell) return;
    event.preventDefault();
    host.current!.tBodies[0]!.rows[cell.row]!.querySelectorAll("td")[cell.column]!.focus();
  }
  return (
    <div class="scroll">
      <table class="data matrix" role="grid" aria-label="Files and agents" aria-describedby="agents-keys" ref={host} onKeyDown={key}>
        <thead>
          <tr><th scope="col">File</th>{table.agents.map((agent) => <th key={agent.name} scope="col">{agent.name} <small class="quiet">{agent.mirrors}</small></th>)}</tr>
          <tr><th scope="row">Tokens (estimate)</th>{table.agents.map((agent) => <td key={agent.name}>{count(agent.tokens.count)}</td>)}</tr>
          {table.agents.some(({ own }) => own) && (
            <tr><th scope="row">The agent's own</th>{table.agents.map(({ name, own }) => <td key={name}>{own ? count(own.prompt + own.tools) : "–"}</td>)}</tr>
          )}
        </thead>
        <tbody>
          {table.files.map((file, at) => (
            <tr key={file.path}>
              <th scope="row" class="path"><Breakable text={relative(file.path, table.root)} /></th>
              {file.verdicts.map(({ agent, verdict, reason }, index) => (
                <td key={agent} tabIndex={at === row && index === column ? 0 : -1} title={reason} aria-selected={chosen !== null && at === row && index === column}
                  onFocus={() => onChoose({ row: at, column: index })}>
                  <span class={`badge verdict-${verdict}`}>{verdict.replace("-", " ")}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Reason({ table: { files, root }, chosen }: { table: AgentsTable; chosen: Cell | null }) {
  const file = chosen && files[chosen.row];
  const verdict = file?.verdicts[chosen!.column];
  if (!file || !verdict) return <span class="quiet">Choose a cell to see the reason.</span>;
  return <><b>{verdict.agent}</b> <span class="path">{relative(file.path, root)}</span> {verdict.verdict.replace("-", " ")}{verdict.reason && `: ${verdict.reason}`}</>;
}
