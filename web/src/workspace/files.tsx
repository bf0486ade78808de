// The files that were considered for the prompt, as a tree, and an answer to "Why?" for any path.
import { useMemo } from "preact/hooks";
import { explanation, type Branch, fileTree } from "../file-tree";
import type { Explained } from "../forms";
import { Loading } from "../loading";
import { why } from "../questions";
import { replace, workspaceAt } from "../route";
import { useLatest } from "../use-latest";
import { counted, relative, withRelativePaths } from "../words";
import type { TabProps } from "./tab";
import { answerTo } from "./why-words";

export function FilesTab({ subject, root }: TabProps) {
  const candidates = useLatest((signal) => why(subject, "", signal), [subject.cwd, subject.layout, subject.model, subject.tools, subject.revision], 200);
  return (
    <>
      <section class="card" aria-labelledby="why-heading">
        <h3 id="why-heading">Why?</h3>
        <label>
          Path of a file, relative to the folder
          <input type="search" value={relative(subject.with, root)} placeholder="packages/web/CLAUDE.md" spellcheck={false} onInput={(event) => replace(workspaceAt("files", { ...subject, with: event.currentTarget.value }))} />
        </label>
        {subject.with ? <Answer {...{ subject, root }} /> : <p class="quiet">Enter a path, or choose a file below, to see why it is in this prompt or not, which agents read it, and how to include it.</p>}
      </section>
      <Loading loaded={candidates} doing="Looking for files">
        {(found) => <Files candidates={found} marked={subject.with} root={root} onChoose={(path) => replace(workspaceAt("files", { ...subject, with: path }))} />}
      </Loading>
    </>
  );
}

function Answer({ subject, root }: TabProps) {
  const explained = useLatest((signal) => why(subject, subject.with, signal), [subject], 300);
  return (
    <Loading loaded={explained} doing="Looking for the reason">
      {(found) => <ul class="answers" aria-label="Answer">{found.map((row, index) => <li key={index}>{answerTo(row, root)}</li>)}{!found.length && <li>No file was considered at this path.</li>}</ul>}
    </Loading>
  );
}

interface FilesProps {
  candidates: Explained[];
  /** The path of the file that the address asks for. */
  marked: string;
  root: string;
  onChoose(path: string): void;
}

function Files({ candidates, marked, root, onChoose }: FilesProps) {
  const [existing, absent] = useMemo(() => [true, false].map((exists) => candidates.filter(({ fate }) => (fate !== "absent") === exists).map((row) => shortened(row, root))) as [Explained[], Explained[]], [candidates, root]);
  const tree = (rows: Explained[]) => <ul class="tree">{fileTree(rows).map((branch) => <BranchView key={branch.name} branch={branch} marked={relative(marked, root)} onChoose={onChoose} />)}</ul>;
  const used = existing.filter(({ fate }) => fate === "used").length;
  return (
    <section class="card" aria-labelledby="files-heading">
      <header><h3 id="files-heading">Files</h3><p class="total"><b>{used}</b> of {counted(existing.length, "file")} in the prompt</p></header>
      {tree(existing)}
      {absent.length > 0 && <details><summary>{counted(absent.length, "file")} that would be read, if {absent.length === 1 ? "it" : "they"} existed</summary>{tree(absent)}</details>}
    </section>
  );
}

function shortened(row: Explained, root: string): Explained {
  return { ...row, path: relative(row.path, root), reason: withRelativePaths(row.reason, root), target: row.target && relative(row.target, root) };
}

function BranchView({ branch, marked, onChoose }: { branch: Branch } & Pick<FilesProps, "marked" | "onChoose">) {
  return (
    <li>
      {branch.children.length > 0
        ? <details open><summary class="path">{branch.name}/</summary><ul>{branch.children.map((child) => <BranchView key={child.name} branch={child} marked={marked} onChoose={onChoose} />)}</ul></details>
        : null}
      {branch.candidates.map((candidate, index) => (
        <p key={index} aria-current={candidate.path === marked || undefined} class={`file ${candidate.fate === "used" ? "used" : "unused"}`}>
          <button type="button" class="plain path" onClick={() => onChoose(candidate.path)}>{branch.name}</button>
          <span class={`badge fate-${candidate.fate}`}>{candidate.fate}</span>
          <span class="quiet">{explanation(candidate)}</span>
        </p>
      ))}
    </li>
  );
}
