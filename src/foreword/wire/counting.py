"""The JSON form of prompts with exact token counts."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..encoding.forms import PromptForm
    from ..vocabulary import Prompt, Tool
    from .forms import CountedTool


def counted_form(prompt: Prompt, model: str = "", provider: str = "") -> PromptForm:
    """A prompt with the most exact token counts available."""
    from ..encoding.prompt import prompt_form
    from ..text.tokens import count

    by_passage = [count(passage.text, model, provider) for passage in prompt.passages]
    return prompt_form(prompt, count(prompt.text, model, provider), by_passage)


def counted_tools(tools: Iterable[Tool], model: str = "", provider: str = "") -> list[CountedTool]:
    """What each tool's definition costs, sorted by name. A tool named `mcp__server__tool` belongs to that MCP server."""
    from ..conversation.tools import serialize_tools
    from ..text.tokens import count

    return [
        {
            "name": tool.name,
            "server": _server(tool.name),
            "tokens": count(serialize_tools([tool]), model, provider).count,
        }
        for tool in sorted(tools, key=lambda tool: tool.name)
    ]


def _server(name: str) -> str | None:
    prefix, _, rest = name.partition("__")
    server, separator, tool = rest.partition("__")
    return server if prefix == "mcp" and server and separator and tool else None
