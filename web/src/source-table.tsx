// Where the tokens go: the sections of a prompt and their sources, each with a bar, and who wrote them.
import { useMemo, useState } from "preact/hooks";
import { Breakable } from "./breakable";
import type { Counted, CountedSource, Passage, Tokens } from "./forms";
import { kindName } from "./preview/origins";
import { SortHeading, type Sorting, sorted } from "./sort-heading";
import type { Target } from "./target";
import { count, counted, percent, relative } from "./words";

export interface Costs {
  tokens: Tokens;
  passages: Pick<Passage, "section" | "tokens" | "sources">[];
  tools?: Counted["tools"];
  own?: Counted["own"];
}

interface Row {
  section: string;
  name: string;
  kind: string;
  tokens: number;
  author: string;
  /** Whether the prompt's text contains it, so that one can go there. */
  isInText: boolean;
  sources: (CountedSource & { author: string })[];
}

interface Props {
  costs: Costs;
  /** The folder that paths are relative to. */
  root?: string;
  /** Who wrote a file's part of the prompt. Without it, there is no such column. */
  authorOf?: ((path: string) => string) | undefined;
  onTarget?: (target: Target) => void;
}

export function SourceTable({ costs, root = "", authorOf, onTarget }: Props) {
  const [sorting, setSorting] = useState<Sorting<"name" | "tokens" | "author"> | null>(null);
  const rows = useMemo(() => rowsOf(costs, authorOf), [costs, authorOf]);
  const shown = useMemo(() => inOrder(rows, sorting), [rows, sorting]);
  const largest = Math.max(1, ...rows.map(({ tokens }) => tokens));
  const toolTokens = (costs.tools ?? []).reduce((sum, { tokens }) => sum + tokens, 0);
  const heading = { sorting, onSort: setSorting };
  const bar = (tokens: number) => <td class="share-bar"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect width={(100 * tokens) / largest} height="10" /></svg></td>;
  const link = (text: string, target: Target, isInText: boolean, kind = "") => {
    const name = <span>{kind && <span class="visually-hidden">{kind} </span>}<Breakable text={text} /></span>;
    return onTarget && isInText ? <button type="button" class="plain" onClick={() => onTarget(target)}>{name}</button> : name;
  };
  return (
    <div class="source-table">
      <p class="total"><b>{count(costs.tokens.count)}</b> {costs.tokens.count === 1 ? "token" : "tokens"} <span class="quiet">{method(costs.tokens)}{toolTokens > 0 && `, plus ${count(toolTokens)} for tools`}</span></p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Tokens by section and source">
        <table class="data">
          <thead>
            <tr>
              <SortHeading name="Section and source" by="name" {...heading} />
              <SortHeading name="Tokens" by="tokens" isFigure {...heading} />
              <td class="share-bar" />
              {authorOf && <SortHeading name="Author" by="author" {...heading} />}
            </tr>
          </thead>
          <tbody>
            {shown.map(({ section, name, kind, tokens, author, isInText, sources }) => [
              <tr key={section}>
                <th scope="row">{link(name, { section }, isInText)}</th>
                <td class="figure count">{count(tokens)}</td>
                {bar(tokens)}
                {authorOf && <td class="quiet author">{author}</td>}
              </tr>,
              ...sources.map((source, index) => (
                <tr key={`${section} ${index}`} class={`source fill-${source.kind}`}>
                  <td class="path"><span class={`swatch k-${source.kind}`} aria-hidden="true" />{link(relative(source.path, root), { section, ...source }, isInText, kindName(source.kind))}</td>
                  <td class="figure count">{count(source.tokens)}</td>
                  {bar(source.tokens)}
                  {authorOf && <td class="quiet author">{source.author}</td>}
                </tr>
              )),
              kind && <tr key={`${section} note`} class="source"><td class="quiet" colSpan={authorOf ? 4 : 3}>{kind}</td></tr>,
            ])}
          </tbody>
        </table>
      </div>
      {!addsUp(costs) && <p class="quiet">Each section and source is counted on its own, so the sums differ a little.</p>}
    </div>
  );
}

/** Whether the sections add up to the total, and the sources to their sections. A token can reach across a border. */
function addsUp({ tokens, passages }: Pick<Costs, "tokens" | "passages">): boolean {
  const sum = (rows: { tokens?: number }[]) => rows.reduce((all, row) => all + (row.tokens ?? 0), 0);
  return sum(passages) === tokens.count && passages.every((passage) => !passage.sources || sum(passage.sources) === (passage.tokens ?? 0));
}

function rowsOf({ passages, tools = [], own = null }: Costs, authorOf: Props["authorOf"]): Row[] {
  const author = ({ kind, path }: CountedSource) => (kind === "file" ? (authorOf?.(path) ?? "") : "");
  const rows = passages.map(({ section, tokens = 0, sources = [] }): Row => {
    const authored = sources.map((source) => ({ ...source, author: author(source) }));
    return { section, name: section, kind: "", tokens, author: "", isInText: true, sources: authored };
  });
  if (tools.length) {
    const sources = tools.map(({ name, server, tokens }) => ({ kind: "tool", path: server ? `${server}: ${name}` : name, tokens, author: "" }));
    rows.push({ section: " tools", name: "Tools", kind: "The definitions of tools are sent in addition to the prompt.", tokens: sources.reduce((sum, { tokens }) => sum + tokens, 0), author: "", isInText: false, sources });
  }
  if (own) rows.push({ section: " own", name: "The agent's own", kind: `Its own prompt (${counted(own.prompt, "token")}) and tools (${count(own.tools)}) are not shown here.`, tokens: own.prompt + own.tools, author: "", isInText: false, sources: [] });
  return rows;
}

function inOrder(rows: Row[], sorting: Sorting<"name" | "tokens" | "author"> | null): Row[] {
  if (!sorting) return rows;
  const { by, direction } = sorting;
  const key = (row: { tokens: number; author: string; name?: string; path?: string }) => (by === "tokens" ? row.tokens : by === "author" ? row.author : (row.name ?? row.path ?? ""));
  const withSources = rows.map((row) => ({ ...row, sources: sorted(row.sources, direction, key), author: row.author || row.sources.map(({ author }) => author).sort().at(-1) || "" }));
  return sorted(withSources, direction, key);
}

export function method({ method, exact, error }: Tokens): string {
  return exact ? `exact (${method})` : `estimated (${method}, ±${percent(error)})`;
}
