// The tools of an edition by MCP server, with the tokens of their definitions. Tools without a server come first.
import type { ToolTokens } from "../forms";
import { count } from "../words";

export function Tools({ tools }: { tools: ToolTokens[] }) {
  if (tools.length === 0) return null;
  const servers = [...new Set(tools.map((tool) => tool.server))].sort((a, b) => (a ?? "").localeCompare(b ?? ""));
  return (
    <section aria-labelledby="tools-heading">
      <h4 id="tools-heading">Tools <span class="quiet">{count(toolTokens(tools))} tokens, in addition to the prompt</span></h4>
      <ul class="plain-list">
        {servers.map((server) => {
          const rows = tools.filter((tool) => tool.server === server);
          return (
            <li key={server ?? ""}>
              {server && <><b>{server}</b> <span class="quiet">{count(toolTokens(rows))}</span>: </>}
              {rows.map((tool, index) => <span key={tool.name}>{index > 0 && ", "}{tool.name} <span class="quiet">{count(tool.tokens)}</span></span>)}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** The tokens of all these definitions together. */
export function toolTokens(tools: ToolTokens[]): number {
  return tools.reduce((sum, tool) => sum + tool.tokens, 0);
}
