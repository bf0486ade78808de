// Every file that was considered, as a tree, with its fate and the reason.
import { useMemo } from "preact/hooks";
import { why } from "../questions";
import { type Branch, explanation, fileTree } from "../file-tree";
import type { Candidate } from "../forms";
import { Loading } from "../loading";
import { useLatest } from "../use-latest";
import { counted } from "../words";
import type { TabProps } from "./tab";

export function FilesTab({ subject }: TabProps) {
  const candidates = useLatest((signal) => why(subject, signal), [subject], 200);
  return <Loading loaded={candidates} doing="Looking for files">{(found) => <Files candidates={found} marked={subject.with} />}</Loading>;
}

function Files({ candidates, marked }: { candidates: Candidate[]; marked: string }) {
  const tree = useMemo(() => fileTree(candidates), [candidates]);
  const used = candidates.filter(({ fate }) => fate === "used").length;
  return (
    <section class="card" aria-labelledby="files-heading">
      <h3 id="files-heading">Files</h3>
      <p class="quiet">{counted(candidates.length, "file")} considered, {used} used</p>
      <ul class="tree">{tree.map((branch) => <BranchView key={branch.name} branch={branch} marked={marked} />)}</ul>
    </section>
  );
}

/** `marked` is the path of the file that the address asks for. */
function BranchView({ branch, marked }: { branch: Branch; marked: string }) {
  return (
    <li>
      {branch.children.length > 0
        ? <details open><summary class="path">{branch.name}/</summary><ul>{branch.children.map((child) => <BranchView key={child.name} branch={child} marked={marked} />)}</ul></details>
        : null}
      {branch.candidates.map((candidate, index) => (
        <p key={index} aria-current={candidate.path === marked || undefined} class={`file ${candidate.fate === "used" ? "used" : "unused"}`}>
          <span class="path">{branch.name}</span>
          <span class={`badge fate-${candidate.fate}`}>{candidate.fate}</span>
          <span class="quiet">{explanation(candidate)}</span>
        </p>
      ))}
    </li>
  );
}
