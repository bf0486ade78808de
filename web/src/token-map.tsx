// A chart of where the tokens go: one block per section, divided by source. The table below it has the same numbers.
import { boxes } from "./boxes";
import { Breakable } from "./breakable";
import type { CountedSource, Passage as FullPassage, Tokens } from "./forms";
import type { Target } from "./target";
import { kindName } from "./preview/origins";
import { count, percent } from "./words";

const WIDTH = 1000;
const HEIGHT = 110;
const NARROW = 46;

type Passage = Pick<FullPassage, "section" | "tokens" | "sources">;

interface Props {
  prompt: { passages: Passage[]; tokens: Tokens };
  onTarget?: (target: Target) => void;
  /** What the table is called, if there is more than one in a view. */
  label?: string;
  /** Whether the table is open from the start. */
  isOpen?: boolean;
}

export function TokenMap({ prompt: { passages, tokens }, onTarget, label = "Tokens by section", isOpen = false }: Props) {
  const places = boxes(passages.map(({ tokens = 0 }) => tokens), WIDTH, 4, 8);
  return (
    <figure class="token-map">
      <figcaption><b>{count(tokens.count)}</b> tokens <span class="quiet">{method(tokens)}</span></figcaption>
      <div class="names" aria-hidden="true">
        {passages.map(({ section, tokens = 0 }, index) => (places[index]!.width < NARROW ? null : (
          <span key={index} style={{ left: `${places[index]!.left / 10}%`, width: `${places[index]!.width / 10}%` }}><b>{section}</b><span>{count(tokens)}</span></span>
        )))}
      </div>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`Tokens by section: ${passages.map(({ section, tokens = 0 }) => `${section} ${count(tokens)}`).join(", ")}. The table below has the same numbers.`} preserveAspectRatio="none">
        {passages.map((passage, index) => <Block key={index} passage={passage} {...places[index]!} onTarget={onTarget} />)}
      </svg>
      <details open={isOpen}>
        <summary>As a table</summary>
        <TokenTable label={label} passages={passages} total={tokens.count} onTarget={onTarget} />
      </details>
    </figure>
  );
}

interface BlockProps {
  passage: Passage;
  left: number;
  width: number;
  onTarget: Props["onTarget"];
}

function Block({ passage: { section, tokens = 0, sources = [] }, left, width, onTarget }: BlockProps) {
  const parts: CountedSource[] = sources.length ? sources : [{ kind: "layout", path: "", tokens }];
  const places = boxes(parts.map(({ tokens }) => tokens), width, width > NARROW ? 2 : 0, 0);
  return (
    <g transform={`translate(${left} 0)`} class={onTarget && "clickable"}>
      {parts.map((source, index) => (
        <rect key={index} class={`fill-${source.kind}`} x={places[index]!.left} y="0" width={places[index]!.width} height={HEIGHT} rx="3" onClick={() => onTarget?.({ section, ...source })}>
          <title>{sources.length ? `${section}: ${kindName(source.kind)} ${source.path}, ${count(source.tokens)} tokens` : `${section}: ${count(tokens)} tokens`}</title>
        </rect>
      ))}
    </g>
  );
}

function TokenTable({ label, passages, total, onTarget }: { label: string; passages: Passage[]; total: number; onTarget: Props["onTarget"] }) {
  const link = (text: string, target: Target) => (onTarget ? <button type="button" class="plain" onClick={() => onTarget(target)}><span><Breakable text={text} /></span></button> : <Breakable text={text} />);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class="data">
        <thead><tr><th>Section and source</th><th class="figure">Tokens</th><th class="figure">Share</th></tr></thead>
        <tbody>
          {passages.map(({ section, tokens = 0, sources = [] }, index) => [
            <tr key={index}>
              <th scope="row">{link(section, { section })}</th>
              <td class="figure count">{count(tokens)}</td>
              <td class="figure">{percent(tokens / Math.max(1, total))}</td>
            </tr>,
            ...sources.map((source, number) => (
              <tr key={`${index} ${number}`} class="source">
                <td class="path">{link(`${kindName(source.kind)} ${source.path}`, { section, ...source })}</td>
                <td class="figure count">{count(source.tokens)}</td>
                <td />
              </tr>
            )),
          ])}
        </tbody>
      </table>
      <p class="quiet">Sources are counted one by one, so their sum can differ from the section's number by a few tokens.</p>
    </div>
  );
}

export function method({ method, exact, error }: Tokens): string {
  return exact ? `exact (${method})` : `estimated (${method}, ±${percent(error)})`;
}
