// What `foreword align` would change, so that every agent reads every instruction once. The page writes nothing into a workspace.
import { useState } from "preact/hooks";
import type { AlignForm, FileChangeForm } from "../../../clients/typescript/index.js";
import { CopyButton } from "../copy";
import { Dialog } from "../dialog";
import { DifferenceView } from "../difference-view";
import { FindingList } from "../finding-list";
import type { Finding } from "../forms";
import { Loading } from "../loading";
import { planAlignment } from "../questions";
import { useLatest } from "../use-latest";
import { counted, listed } from "../words";
import { alignCommand, readingWords } from "./align-words";

interface Props {
  /** The folder, as requests name it. */
  cwd: string;
  /** The path of the repository, as commands name it. */
  folder: string;
  onClose(): void;
}

export function AlignDialog({ cwd, folder, onClose }: Props) {
  const [options, setOptions] = useState({ merge: false, links: false });
  const plan = useLatest((signal) => planAlignment(cwd, options, signal), [cwd, options]);
  const option = (name: keyof typeof options, label: string) => (
    <label class="check"><input type="checkbox" checked={options[name]} onChange={({ currentTarget }) => setOptions({ ...options, [name]: currentTarget.checked })} /> {label}</label>
  );
  return (
    <Dialog label="Align the agents" onCancel={onClose}>
      <h2>Align the agents</h2>
      <p class="quiet">The fewest changes after which every agent reads every instruction in AGENTS.md files, rules and skills exactly once.</p>
      <div class="buttons start">
        {option("merge", "Merge the agents' own files into AGENTS.md")}
        {option("links", "Use links instead of imports and copies")}
      </div>
      <Loading loaded={plan} doing="Planning the changes">{(found) => <Plan plan={found} command={alignCommand(folder, options)} />}</Loading>
      <p class="buttons"><button type="button" data-first onClick={onClose}>Close</button></p>
    </Dialog>
  );
}

function Plan({ plan: { changes, before, after, findings }, command }: { plan: AlignForm; command: string }) {
  const agents = Object.keys(before);
  return (
    <>
      {agents.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="What each agent reads">
          <table class="data">
            <thead><tr><th scope="col">Agent</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
            <tbody>{agents.map((name) => <tr key={name}><th scope="row">{name}</th><td>{readingWords(before[name]!)}</td><td>{readingWords(after[name]!)}</td></tr>)}</tbody>
          </table>
        </div>
      )}
      {changes.length > 0 ? (
        <div class="command">
          <p>Nothing is written here. To make {changes.length === 1 ? "this change" : `these ${counted(changes.length, "change")}`}, run:</p>
          <pre class="text" tabIndex={0} role="region" aria-label="Command">{command}</pre>
          <CopyButton text={command} what="Copy command" />
        </div>
      ) : <p class="note">{agents.length > 0 ? "There is nothing to change." : "No agent is in use here that this could help."}</p>}
      {changes.map((change) => <Change key={change.path} change={change} />)}
      {findings.length > 0 && <FindingList findings={findings as Finding[]} />}
    </>
  );
}

function Change({ change: { path, action, agents, reason, before, text } }: { change: FileChangeForm }) {
  return (
    <section class="group">
      <h3>{action} <span class="path">{path}</span></h3>
      <p class="quiet">{agents.length > 0 && `For ${listed(agents)}: `}{reason}</p>
      {action === "link" ? <p>It becomes a link to <span class="path">{text}</span>.</p> : <DifferenceView before={before ?? ""} after={text ?? ""} label={`Changes in ${path}`} />}
    </section>
  );
}
