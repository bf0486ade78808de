// Who wrote the prompt: the tokens of each author, and the commit behind each line.
import { useState } from "preact/hooks";
import type { AuthorSum, AuthoredLine } from "../forms";
import { Loading } from "../loading";
import { readAuthors, readAuthorship } from "../questions";
import { useLatest } from "../use-latest";
import { count, counted, lastParts, percent } from "../words";
import { type Run, age, runs } from "./authorship";
import type { TabProps } from "./tab";

const STEP = 200;

export function AuthorsTab({ subject }: TabProps) {
  const loaded = useLatest((signal) => Promise.all([readAuthors(subject, signal), readAuthorship(subject, signal)]), [subject], 200);
  return (
    <Loading loaded={loaded} doing="Asking git who wrote each line">
      {([sums, { lines, notes }]) => <><Authors sums={sums} /><Lines lines={lines} notes={notes} /></>}
    </Loading>
  );
}

/** A table whose last column is a bar chart of its numbers. */
function Authors({ sums }: { sums: AuthorSum[] }) {
  const total = Math.max(1, sums.reduce((sum, { tokens }) => sum + tokens, 0));
  const largest = Math.max(1, ...sums.map(({ tokens }) => tokens));
  return (
    <section class="card" aria-labelledby="authors-heading">
      <h3 id="authors-heading">Tokens by author</h3>
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of tokens by author">
        <table class="data authors">
          <thead><tr><th scope="col">Author</th><th scope="col" class="figure">Tokens</th><th scope="col" class="figure">Share</th><th scope="col" class="figure">Lines</th><td class="share-bar" /></tr></thead>
          <tbody>
            {sums.map(({ name, tokens, lines }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="figure">{count(tokens)}</td>
                <td class="figure">{percent(tokens / total)}</td>
                <td class="figure">{count(lines)}</td>
                <td class="share-bar"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect width={(100 * tokens) / largest} height="10" /></svg></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Lines({ lines, notes }: { lines: AuthoredLine[]; notes: string[] }) {
  const [limit, setLimit] = useState(STEP);
  const all = runs(lines);
  return (
    <section class="card" aria-labelledby="lines-heading">
      <h3 id="lines-heading">Who wrote each line</h3>
      <p class="quiet">{counted(lines.length, "line")} of the prompt</p>
      {notes.map((note) => <p key={note}>Note: {note}.</p>)}
      <ol class="blame">{all.slice(0, limit).map((run, index) => <RunItem key={index} run={run} />)}</ol>
      {all.length > limit && <p><button type="button" onClick={() => setLimit(limit + STEP)}>Show more</button></p>}
    </section>
  );
}

function RunItem({ run }: { run: Run }) {
  return (
    <li>
      <p class="by">
        <b>{run.name}</b>{" "}
        {run.time && <span class="quiet"><code>{run.commit.slice(0, 8)}</code> <time dateTime={run.time} title={run.time}>{age(run.time, Date.now())}</time></span>}{" "}
        <span class="quiet path" title={run.path}>{lastParts(run.path)}{run.line !== null && `:${run.line}`}</span>
      </p>
      <pre>{run.text}</pre>
    </li>
  );
}
