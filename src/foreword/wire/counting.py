"""The JSON form of prompts and tools, with token counts."""

from __future__ import annotations

from ..vocabulary.tools import definition_text, server_of, tool_definition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..encoding.forms import PromptForm
    from ..vocabulary import Prompt
    from ..vocabulary.tools import Tool
    from .forms import CountedTool


def prompt_with_counts(prompt: Prompt, model: str = "", provider: str = "") -> PromptForm:
    """Return a prompt as JSON, with the most accurate token counts available."""
    from ..encoding.prompt import prompt_form
    from ..text.tokens import count

    by_passage = [count(passage.text, model, provider) for passage in prompt.passages]
    return prompt_form(prompt, count(prompt.text, model, provider), by_passage)


def tool_token_counts(tools: Iterable[Tool], model: str = "", provider: str = "") -> list[CountedTool]:
    """Return the token count of each tool's definition, sorted by name, with the MCP server that the tool belongs to.

    A tool that is deferred costs nothing until a search finds it.
    """
    from ..text.tokens import count

    rows = [tool_definition(tool) for tool in sorted(tools, key=lambda tool: tool.name)]
    return [
        {
            "name": row["name"],
            "server": server_of(row),
            "tokens": count(definition_text(row), model, provider).count,
        }
        for row in rows
    ]
