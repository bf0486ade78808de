"""Check the agent's tools against the layout's `tool_budget`. Tools are not part of the prompt, so they are reported but never cut. Pure."""

from __future__ import annotations

from ..findings import finding
from ..text.tokens import estimate
from ..vocabulary.tools import definition_text, server_of, tool_definition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..vocabulary import Finding
    from ..vocabulary.tools import Tool

_MAX_NAMED = 3


def tool_budget_findings(tools: Sequence[Tool], budget: int) -> list[Finding]:
    """Return a finding if the tools' definitions exceed the budget. It names the MCP servers and tools that cost the most."""
    costs: dict[str, list[int]] = {}
    for tool in tools:
        row = tool_definition(tool)
        server = server_of(row)
        name = f"the server {server!r}" if server else f"the tool {tool.name!r}"
        costs.setdefault(name, []).append(estimate(definition_text(row)))
    total = sum(map(sum, costs.values()))
    if total <= budget:
        return []
    largest = sorted(costs.items(), key=lambda row: (-sum(row[1]), row[0]))[:_MAX_NAMED]
    named = ", ".join(f"{name} ({sum(counts):,})" for name, counts in largest)
    message = f"the definitions of {len(tools):,} tools have {total:,} tokens; their budget is {budget:,}. The largest: {named}"
    return [finding("budget-tools", message)]
