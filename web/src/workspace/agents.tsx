// The matrix of files and released agents: which agent loads which file, and why.
import { useRef, useState } from "preact/hooks";
import { Breakable } from "../breakable";
import type { AgentsTable, Verdict } from "../forms";
import { type Cell, cellAfter } from "../grid-keys";
import { Loading } from "../loading";
import { Popover } from "../popover";
import { compareAgents, costsOfFiles } from "../questions";
import { workspaceAt } from "../route";
import { maySeeSessions } from "../sessions/requests";
import { cost } from "../sessions/session-words";
import { useLatest } from "../use-latest";
import { useToken } from "../use-token";
import { count, counted, plural, relative, withRelativePaths } from "../words";
import { AlignDialog } from "./align";
import type { TabProps } from "./tab";

/** What files cost in the last 30 days, by path. Null if no price is known. */
type Costs = Record<string, number | null>;

export function AgentsTab({ subject }: TabProps) {
  // Empty: the agents that this repository is written for.
  const [names, setNames] = useState<string[]>([]);
  const table = useLatest((signal) => compareAgents(subject, names, signal), [subject, names], 200);
  const hasCosts = maySeeSessions(useToken());
  // The table does not wait for the logs.
  const costs = useLatest(async (signal) => (hasCosts ? costsOfFiles(subject, names, signal) : {}), [subject, names, hasCosts], 200);
  return <Loading loaded={table} doing="Checking what each agent reads">{(value) => <Matrix table={value} costs={costs.value ?? {}} subject={subject} onNames={setNames} />}</Loading>;
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
  never: "this agent does not read it",
};

interface MatrixProps {
  table: AgentsTable;
  costs: Costs;
  subject: TabProps["subject"];
  onNames(names: string[]): void;
}

function Matrix({ table: whole, costs, subject, onNames }: MatrixProps) {
  const [isAligning, setAligning] = useState(false);
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
  const file = chosen && table.files[chosen.row];
  const verdict = file?.verdicts[chosen!.column];
  if (!table.agents.length) return <p class="note">This repository has no files that a known agent looks for. Add an AGENTS.md, and most agents will read it.</p>;
  return (
    <section class="card" aria-labelledby="agents-heading">
      <header><h3 id="agents-heading">Files by agent</h3><div class="beside"><p class="total"><b>{count(read.length)}</b> {plural("file", read.length)} read by {counted(table.agents.length, "agent")}</p><button type="button" onClick={() => setAligning(true)}>Align…</button></div></header>
      <div class="chips" role="group" aria-label="Agents">
        <span class="quiet">Columns:</span>
        {known.current.map((name) => <button key={name} type="button" class="chip" aria-pressed={shown.includes(name)} disabled={shown.length === 1 && shown[0] === name} onClick={() => toggleAgent(name)}>{name}</button>)}
      </div>
      <Legend table={table} />
      <Grid table={table} costs={costs} chosen={chosen} whyAt={(path, layout) => workspaceAt("files", { ...subject, layout, with: path })} onChoose={setChosen} />
      <p class="quiet">The tokens are those of the instructions in each prompt. The agent's own prompt and tools are sent in addition.</p>
      <p class="quiet" id="agents-keys">Choose a cell to see the reason. The arrow keys move between cells, and Escape closes the reason.</p>
      <p role="status" class="visually-hidden">{verdict && <Reason verdict={verdict} path={file!.path} root={table.root} />}</p>
      {isAligning && <AlignDialog cwd={subject.cwd || "."} folder={table.root} onClose={() => setAligning(false)} />}
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
  costs: Costs;
  chosen: Cell | null;
  /** Where the popover leads to: the answer about a file, for this agent. */
  whyAt(path: string, agent: string): string;
  onChoose(cell: Cell): void;
}

/** A table that is one tab stop. The arrow keys move between its cells, and a popover at the focused cell says why. */
function Grid({ table, costs, chosen, whyAt, onChoose }: GridProps) {
  const host = useRef<HTMLTableElement>(null);
  const [isOpen, setOpen] = useState(false);
  const { row, column } = chosen ?? { row: 0, column: 0 };
  const cellAt = (cell: Cell) => host.current!.tBodies[0]!.rows[cell.row]!.querySelectorAll("td")[cell.column]!;
  function key(event: KeyboardEvent): void {
    if (event.key === "Escape" && isOpen) {
      cellAt({ row, column }).focus(); // the focus may be in the popover
      setOpen(false);
    }
    if (event.target instanceof HTMLAnchorElement) return;
    if (event.key === "Enter" || event.key === " ") setOpen(!isOpen);
    const cell = event.altKey || event.metaKey ? null : cellAfter(event.key, event.ctrlKey, { row, column }, { row: table.files.length, column: table.agents.length });
    if (cell) cellAt(cell).focus();
    if (cell || event.key === " ") event.preventDefault();
  }
  function leave(event: FocusEvent): void {
    if (!(event.currentTarget as Node).contains(event.relatedTarget as Node | null)) setOpen(false);
  }
  return (
    <div class="scroll">
      <table class="data matrix" role="grid" aria-label="Files and agents" aria-describedby="agents-keys" ref={host} onKeyDown={key} onFocusOut={leave}>
        <thead>
          <tr><th scope="col">File</th>{table.agents.map((agent) => <th key={agent.name} scope="col">{agent.name} <small class="quiet">{agent.mirrors}</small></th>)}</tr>
          <tr><th scope="row">Tokens (estimate)</th>{table.agents.map((agent) => <td key={agent.name}>{count(agent.tokens.count)}</td>)}</tr>
          {table.agents.some(({ own }) => own) && (
            <tr><th scope="row">The agent's own</th>{table.agents.map(({ name, own }) => <td key={name}>{own ? count(own.prompt + own.tools) : "–"}</td>)}</tr>
          )}
        </thead>
        <tbody>
          {table.files.map(({ path, verdicts }, at) => (
            <tr key={path}>
              <th scope="row" class="path"><Breakable text={relative(path, table.root)} />{path in costs && <small class="quiet">{cost(costs[path] ?? null)} in 30 days</small>}</th>
              {verdicts.map((verdict, index) => {
                const isChosen = chosen !== null && at === row && index === column;
                return (
                  <td key={verdict.agent} tabIndex={at === row && index === column ? 0 : -1} aria-selected={isChosen} onClick={() => setOpen(true)}
                    onFocus={(event) => event.target === event.currentTarget && (onChoose({ row: at, column: index }), setOpen(true))}>
                    <span class={`badge verdict-${verdict.verdict}`}>{verdict.verdict.replace("-", " ")}</span>
                    {isChosen && isOpen && (
                      <Popover>
                        <p><Reason verdict={verdict} path={path} root={table.root} /></p>
                        <a href={whyAt(path, verdict.agent)}>More about this file</a>
                      </Popover>
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Reason({ verdict: { agent, verdict, reason }, path, root }: { verdict: Verdict; path: string; root: string }) {
  return <><b>{agent}</b>, <span class="path">{relative(path, root)}</span>, {verdict.replace("-", " ")}: {withRelativePaths(reason, root) || LEGEND[verdict]}.</>;
}
