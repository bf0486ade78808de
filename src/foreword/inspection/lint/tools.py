"""Tools that a text tells the agent to use and that it does not have."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .source_text import SourceText

# Names of well-known agents' tools that people write without backticks.
KNOWN = (
    "Agent AskUserQuestion Bash BashOutput Edit EnterPlanMode ExitPlanMode Glob Grep KillShell LS MultiEdit NotebookEdit NotebookRead Read"
    " SlashCommand Task TaskCreate TaskUpdate TodoRead TodoWrite ToolSearch WebFetch WebSearch Write"
).split()
_NAMED = re.compile(
    rf"`(?P<quoted>mcp__\w{{2,80}}|[a-z]+(?:_[a-z]+)+|[A-Z][a-z]+(?:[A-Z][a-z]+)+|{'|'.join(KNOWN)})`[ \t]+tool\b(?![ \t]+calls?\b)"
    rf"|\bthe[ \t]+(?P<bare>{'|'.join(KNOWN)})[ \t]+tool\b(?![ \t]+calls?\b)"
    r"|\btool[ \t]+`(?P<after>mcp__\w{2,80}|[a-z]+(?:_[a-z]+)+)`"
)


# Whoever writes so knows that the tool may not be there, or does not want it used.
_KNOWS = re.compile(
    r"\b(?:if|when|where|unless|hook|matcher|not available|is available|do not|don['’]t|never|instead of|without|equivalent)\b|❌|✗",
    re.IGNORECASE,
)


def missing_tools(source: SourceText, tools: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Tools that are named and not there, each once, with the place."""
    has = {name.lower() for name in tools}
    for match in _mentions(source.text):
        name = match[str(match.lastgroup)]
        if name.lower() in has or source.is_fenced(match.start()):
            continue
        if not _KNOWS.search(source.line_around(match.start())):
            has.add(name.lower())
            yield match.start(), name


def _mentions(text: str) -> Iterator[re.Match[str]]:
    """Names of tools, looked for only on lines that speak of tools."""
    end = 0
    while (found := text.find("tool", end)) >= 0:
        start = max(text.rfind("\n", end, found) + 1, end, found - 2_000)
        newline = text.find("\n", found, found + 2_000)
        end = newline if newline >= 0 else min(found + 2_000, len(text))
        yield from _NAMED.finditer(text, start, end)
