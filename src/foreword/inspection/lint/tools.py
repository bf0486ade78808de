"""Finds tools that the instructions tell the agent to use but that it does not have."""

from __future__ import annotations

import re

from .patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .source_text import SourceText

# Well-known agents' tools whose names people write without backticks.
WELL_KNOWN_TOOLS = (
    "Agent AskUserQuestion Bash BashOutput Edit EnterPlanMode ExitPlanMode Glob Grep KillShell LS MultiEdit NotebookEdit NotebookRead Read"
    " SlashCommand Task TaskCreate TaskUpdate TodoRead TodoWrite ToolSearch WebFetch WebSearch Write"
).split()
_MENTION = lazy_pattern(
    rf"`(?P<quoted>mcp__\w{{2,80}}|[a-z]+(?:_[a-z]+)+|[A-Z][a-z]+(?:[A-Z][a-z]+)+|{'|'.join(WELL_KNOWN_TOOLS)})`[ \t]+tool\b(?![ \t]+calls?\b)"
    rf"|\bthe[ \t]+(?P<bare>{'|'.join(WELL_KNOWN_TOOLS)})[ \t]+tool\b(?![ \t]+calls?\b)"
    r"|\btool[ \t]+`(?P<after>mcp__\w{2,80}|[a-z]+(?:_[a-z]+)+)`"
)


# Words that suggest that the tool may be missing, or should not be used.
_HEDGES = lazy_pattern(
    r"\b(?:if|when|where|unless|hook|matcher|not available|is available|do not|don['’]t|never|instead of|without|equivalent)\b|❌|✗",
    re.IGNORECASE,
)


def find_missing_tools(source: SourceText, tools: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield the offset and name of each tool that the instructions mention but the agent does not have, without duplicates."""
    known = {name.lower() for name in tools}
    for match in _mentions(source.text):
        name = match[str(match.lastgroup)]
        if name.lower() in known or source.is_fenced(match.start()):
            continue
        if not _HEDGES.search(source.line_around(match.start())):
            known.add(name.lower())
            yield match.start(), name


def _mentions(text: str) -> Iterator[re.Match[str]]:
    """Yield the names of tools on lines that contain the word `tool`."""
    end = 0
    while (position := text.find("tool", end)) >= 0:
        start = max(text.rfind("\n", end, position) + 1, end, position - 2_000)
        newline = text.find("\n", position, position + 2_000)
        end = newline if newline >= 0 else min(position + 2_000, len(text))
        yield from _MENTION.finditer(text, start, end)
