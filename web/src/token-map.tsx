// A picture of where the tokens go: one block per section, divided by source. A table behind it has the same numbers.
import type { Prompt, Tokens } from "./forms";
import { kindName } from "./preview/origins";
import { type SectionShare, boxes, shares } from "./token-share";
import { count, percent } from "./words";

const WIDTH = 1000;
const HEIGHT = 110;
const NARROW = 46;

export function TokenMap({ prompt, onSection }: { prompt: Pick<Prompt, "passages" | "tokens">; onSection?: (section: string) => void }) {
  const sections = shares(prompt);
  const places = boxes(sections.map(({ tokens }) => tokens), WIDTH, 4, 8);
  return (
    <figure class="token-map">
      <figcaption><b>{count(prompt.tokens.count)}</b> tokens <span class="quiet">{method(prompt.tokens)}</span></figcaption>
      <div class="names" aria-hidden="true">
        {sections.map(({ section, tokens }, index) => (places[index]!.width < NARROW ? null : (
          <span key={section} style={{ left: `${places[index]!.left / 10}%`, width: `${places[index]!.width / 10}%` }}><b>{section}</b> {count(tokens)}</span>
        )))}
      </div>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label="Tokens by section and source. The table below has the same numbers." preserveAspectRatio="none">
        {sections.map((section, index) => <Block key={section.section} section={section} {...places[index]!} onSection={onSection} />)}
      </svg>
      <details>
        <summary>As a table</summary>
        <SharesTable sections={sections} total={prompt.tokens.count} onSection={onSection} />
      </details>
    </figure>
  );
}

interface BlockProps {
  section: SectionShare;
  left: number;
  width: number;
  onSection: ((section: string) => void) | undefined;
}

function Block({ section, left, width, onSection }: BlockProps) {
  const places = boxes(section.sources.map(({ tokens }) => tokens), width, width > NARROW ? 2 : 0, 0);
  return (
    <g transform={`translate(${left} 0)`} onClick={() => onSection?.(section.section)}>
      <title>{`${section.section}: ${count(section.tokens)} tokens`}</title>
      {section.sources.map((source, index) => (
        <rect key={index} class={`fill-${source.kind}`} x={places[index]!.left} y="0" width={places[index]!.width} height={HEIGHT} rx="3">
          <title>{`${section.section}: ${kindName(source.kind)} ${source.path}, about ${count(source.tokens)} tokens`}</title>
        </rect>
      ))}
    </g>
  );
}

function SharesTable({ sections, total, onSection }: { sections: SectionShare[]; total: number; onSection: ((section: string) => void) | undefined }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Tokens by section">
      <table class="data">
        <thead><tr><th>Section</th><th>Source</th><th class="figure">Tokens</th><th class="figure">Share</th></tr></thead>
        <tbody>
          {sections.map((section) => [
            <tr key={section.section}>
              <th scope="row">{onSection ? <button type="button" class="plain" onClick={() => onSection(section.section)}>{section.section}</button> : section.section}</th>
              <td />
              <td class="figure">{count(section.tokens)}</td>
              <td class="figure">{percent(section.tokens / Math.max(1, total))}</td>
            </tr>,
            ...(section.sources.length > 1 ? section.sources : []).map((source, index) => (
              <tr key={`${section.section} ${index}`} class="quiet">
                <td />
                <td class="path">{kindName(source.kind)} {source.path}</td>
                <td class="figure">≈ {count(source.tokens)}</td>
                <td />
              </tr>
            )),
          ])}
        </tbody>
      </table>
    </div>
  );
}

export function method({ method, exact, error }: Tokens): string {
  return exact ? `exact (${method})` : `estimated (${method}, ±${percent(error)})`;
}
