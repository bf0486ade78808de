"""The JSON form of prompts and tools, with token counts."""

from __future__ import annotations

from ..vocabulary.tools import definition_text, server_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from ..encoding.forms import PromptForm
    from ..inspection.own_part import OwnPart
    from ..vocabulary import Passage, Prompt
    from .forms import CountedSource, CountedTool, OwnPartForm


def prompt_with_counts(prompt: Prompt, model: str = "", provider: str = "") -> PromptForm:
    """Return a prompt as JSON, with the most accurate token counts available."""
    from ..encoding.prompt import prompt_form
    from ..text.tokens import count

    by_passage = [count(passage.text, model, provider) for passage in prompt.passages]
    return prompt_form(prompt, count(prompt.text, model, provider), by_passage)


def count_sources(passage: Passage, count: Callable[[str], int]) -> list[CountedSource]:
    """Return the token count of each source's text in a section, in the order in which they first occur.

    Each is counted on its own, so their sum may differ by a few tokens from the section's count.
    """
    texts: dict[tuple[str, str], list[str]] = {}
    for piece in passage.pieces:
        if piece.text:
            texts.setdefault((piece.origin.kind, piece.origin.path), []).append(piece.text)
    return [{"kind": kind, "path": path, "tokens": count("".join(parts))} for (kind, path), parts in texts.items()]


def count_tools(definitions: Iterable[Mapping[str, Any]], count: Callable[[str], int]) -> list[CountedTool]:
    """Return the token count of each tool's definition, sorted by name, with the MCP server that the tool belongs to.

    A tool that is deferred costs nothing until a search finds it.
    """
    rows = sorted(definitions, key=lambda row: str(row["name"]))
    return [{"name": row["name"], "server": server_of(row), "tokens": count(definition_text(row))} for row in rows]


def counts_by_server(tools: Iterable[CountedTool]) -> dict[str, tuple[int, int]]:
    """Return the number of tools of each MCP server and the tokens of their definitions. Tools without a server have an empty name."""
    totals: dict[str, tuple[int, int]] = {}
    for tool in tools:
        number, tokens = totals.get(tool["server"] or "", (0, 0))
        totals[tool["server"] or ""] = number + 1, tokens + tool["tokens"]
    return totals


def own_part_form(own: OwnPart | None) -> OwnPartForm | None:
    return {"program": own.program, "prompt": own.prompt, "tools": own.tools} if own else None
