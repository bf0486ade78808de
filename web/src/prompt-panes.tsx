// A prompt: on the left its sections and files with their tokens and authors, on the right its text, with findings in the margin of their lines.
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { AuthorSum, Authorship, Finding, Passage } from "./forms";
import { FindingList } from "./finding-list";
import { authorsOf, lineAuthors } from "./authors";
import { Legend } from "./preview/origin-info";
import { PromptText } from "./preview/prompt-text";
import { segments } from "./preview/segments";
import type { SourceOf } from "./preview/sources";
import { type Costs, SourceTable } from "./source-table";
import type { Target } from "./target";
import { count, counted } from "./words";

interface Props {
  text: string;
  passages: Passage[];
  /** Null until the tokens are counted. */
  costs: Costs | null;
  findings?: Finding[];
  /** The folder that paths are relative to. */
  root?: string;
  authorship?: { lines: Authorship; sums: AuthorSum[] } | null;
  sourceOf?: SourceOf;
  /** What is said if there is no text. */
  empty: string;
  header?: ComponentChildren;
}

const NO_FINDINGS: Finding[] = [];

export function PromptPanes({ text, passages, costs, findings = NO_FINDINGS, root = "", authorship = null, sourceOf, empty, header }: Props) {
  const [target, setTarget] = useState<Target | null>(null);
  const parts = useMemo(() => segments(text, passages), [text, passages]);
  const authors = useMemo(() => authorship && lineAuthors(authorship.lines.lines), [authorship]);
  const authorOf = useMemo(() => authors?.size ? (path: string) => authorsOf(authors.get(path)) : undefined, [authors]);
  const marks = useMemo(() => findings.flatMap(({ path, line, severity, message }) => (path && line !== null ? [{ path, line, severity, message }] : [])), [findings]);
  const authorAt = useMemo(() => (path: string, line: number | null) => (line === null ? authorsOf(authors?.get(path)) : authorsOf(authors?.get(path)?.filter((each) => each.line === line), true)), [authors]);
  return (
    <div class="panes-of-prompt">
      <section class="card" aria-labelledby="tokens-heading">
        <h3 id="tokens-heading">Where the tokens go</h3>
        {costs ? <SourceTable costs={costs} root={root} authorOf={authorOf} onTarget={(target) => setTarget({ ...target })} /> : <p class="skeleton" role="status">Counting tokens…</p>}
        {authorship && authorship.sums.length > 1 && <AuthorSums sums={authorship.sums} notes={authorship.lines.notes} />}
        {findings.length > 0 && (
          <section class="group" aria-labelledby="findings-heading">
            <h4 id="findings-heading">{counted(findings.length, "finding")}</h4>
            <FindingList findings={findings} root={root} onShow={(finding) => setTarget({ path: finding.path ?? "", line: finding.line ?? 1 })} />
          </section>
        )}
      </section>
      <section class="card prompt-card" aria-labelledby="prompt-heading">
        <header><h3 id="prompt-heading">Prompt</h3>{header}</header>
        <Legend segments={parts} />
        {text ? <PromptText label="Prompt with origins" segments={parts} marks={marks} authorAt={authorAt} target={target} sourceOf={sourceOf} root={root} /> : <p class="quiet">{empty}</p>}
      </section>
    </div>
  );
}

/** The tokens of each author. */
function AuthorSums({ sums, notes }: { sums: AuthorSum[]; notes: string[] }) {
  return (
    <section class="group" aria-labelledby="authors-heading">
      <h4 id="authors-heading">Tokens by author</h4>
      <ul class="author-sums">{sums.map(({ name, tokens }) => <li key={name}>{name} <b>{count(tokens)}</b></li>)}</ul>
      {notes.map((note) => <p key={note} class="quiet">Note: {note}.</p>)}
    </section>
  );
}
