// The cost of the prompt by section, and of each tool's definition.
import type { Prompt, ToolTokens } from "../forms";
import { Loading } from "../loading";
import { targetName } from "../target";
import { countTokens, show, withSources } from "../questions";
import { type Subject, go, workspaceAt } from "../route";
import { TokenMap } from "../token-map";
import { useLatest } from "../use-latest";
import { count } from "../words";
import type { TabProps } from "./tab";

export function TokensTab({ subject }: TabProps) {
  const costs = useLatest(
    (signal) => Promise.all([show(subject, signal), countTokens(subject, signal)]).then(([prompt, counted]) => ({ prompt: withSources(prompt, counted), tools: counted.tools })),
    [subject], 200,
  );
  return <Loading loaded={costs} doing="Counting tokens">{({ prompt, tools }) => <Costs prompt={prompt} tools={tools} subject={subject} />}</Loading>;
}

function Costs({ prompt, tools, subject }: { prompt: Prompt; tools: ToolTokens[]; subject: Subject }) {
  return (
    <>
      <section class="card" aria-labelledby="tokens-heading">
        <h3 id="tokens-heading">Where the tokens go</h3>
        <TokenMap isOpen prompt={prompt} onTarget={(target) => go(workspaceAt("prompt", { ...subject, with: targetName(target) }))} />
      </section>
      {tools.length > 0 && (
        <section class="card" aria-labelledby="tools-heading">
          <h3 id="tools-heading">Tool definitions</h3>
          <table class="data">
            <thead><tr><th>Tool</th><th class="figure">Tokens</th></tr></thead>
            <tbody>{tools.map((tool) => <tr key={tool.name}><th scope="row">{tool.name}</th><td class="figure">{count(tool.tokens)}</td></tr>)}</tbody>
          </table>
        </section>
      )}
    </>
  );
}
