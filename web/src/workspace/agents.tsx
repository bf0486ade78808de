// The matrix of files and released agents: which agent loads which file, and why.
import { useState } from "preact/hooks";
import { compareAgents } from "../questions";
import type { AgentsTable, Verdict } from "../forms";
import { Loading } from "../loading";
import { useLatest } from "../use-latest";
import { count } from "../words";
import type { TabProps } from "./workspace";

export function AgentsTab({ subject }: TabProps) {
  const table = useLatest((signal) => compareAgents(subject, signal), [subject.cwd], 200);
  return <Loading loaded={table} doing="Checking what each agent reads">{(value) => <Matrix table={value} />}</Loading>;
}

function Matrix({ table }: { table: AgentsTable }) {
  const [chosen, setChosen] = useState<{ path: string; verdict: Verdict } | null>(null);
  if (!table.agents.length) return <p class="note">This repository has no files that a known agent looks for. Add an AGENTS.md, and most agents will read it.</p>;
  return (
    <section class="card" aria-labelledby="agents-heading">
      <h3 id="agents-heading">Files by agent</h3>
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of files and agents">
        <table class="data matrix">
          <thead>
            <tr><th scope="col">File</th>{table.agents.map((agent) => <th key={agent.name} scope="col" title={agent.mirrors}>{agent.name}</th>)}</tr>
          </thead>
          <tbody>
            {table.files.map((file) => (
              <tr key={file.path}>
                <th scope="row" class="path">{relative(file.path, table.root)}</th>
                {file.verdicts.map((verdict) => (
                  <td key={verdict.agent}>
                    <button type="button" class={`badge verdict-${verdict.verdict}`} title={verdict.reason} aria-pressed={chosen?.verdict === verdict} onClick={() => setChosen({ path: file.path, verdict })}>
                      {verdict.verdict.replace("-", " ")}
                    </button>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr><th scope="row">Tokens (estimate)</th>{table.agents.map((agent) => <td key={agent.name}>{count(agent.tokens.count)}</td>)}</tr>
          </tfoot>
        </table>
      </div>
      <p role="status" class="origin-info">
        {chosen
          ? <><b>{chosen.verdict.agent}</b> <span class="path">{relative(chosen.path, table.root)}</span> {chosen.verdict.verdict.replace("-", " ")}{chosen.verdict.reason && `: ${chosen.verdict.reason}`}</>
          : <span class="quiet">Choose a cell to see the reason.</span>}
      </p>
      {table.others.length > 0 && <p class="quiet">Not detected: {table.others.join(", ")}</p>}
    </section>
  );
}

function relative(path: string, root: string): string {
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}
