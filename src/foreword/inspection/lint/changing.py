"""Finds text that will be different tomorrow: a clock, today's date, the id of a run.

When it changes, everything after it in the prompt is billed in full. That does not matter in a section that lasts for a turn, but it
does in one that should last as long as the project.
"""

from __future__ import annotations

import re

from .patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...vocabulary import Prompt
    from .source_text import SourceText

    Match = tuple[int, str]

# Values that change from one conversation to the next.
_CHANGING_VALUES = {
    "now.long": "the time",
    "now.iso": "the time",
    "now.utc": "the time",
    "now.date": "the date",
    "session": "the session's id",
    "system:time": "the time",
    "system:date": "the date",
    "prompt:conversation_id": "the conversation's id",
    "git:status": "the state of the working tree",
}
LONG_LIVED = frozenset(("release", "project"))

_DATE = r"(?:20\d\d-[01]\d-[0-3]\d|[A-Z][a-z]{2,8} \d{1,2},? 20\d\d|\d{1,2} [A-Z][a-z]{2,8} 20\d\d)"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_MARKS = r"[*_`\"']{0,3}"
_PATTERNS = (
    (
        "today's date",
        rf"\b(?:today(?:['’]s date)?|current (?:date|time|date and time|datetime))\b{_MARKS}(?: is|:| ?=){_MARKS}[ \t]{{0,3}}{_MARKS}"
        rf"(?:\w{{3,9}}, )?{_DATE}",
    ),
    (
        "the id of a run",
        rf"\b(?:session|conversation|request|run|trace|thread|build)[ _-]?id\b{_MARKS}(?: is|:| ?=){_MARKS}[ \t]{{0,3}}{_MARKS}(?:{_UUID}|[0-9a-f]{{24,64}})\b",
    ),
)
_HINT = lazy_pattern(r"20\d\d|[ _-]id\b", re.IGNORECASE)
_compiled: list[tuple[str, re.Pattern[str]]] = []


def find_changing_text(source: SourceText) -> Iterator[Match]:
    """Yield text in a long-lived file that will soon be out of date: its offset and a description."""
    if source.lifetime not in LONG_LIVED or not _HINT.search(source.text):
        return
    if not _compiled:
        _compiled.extend((description, re.compile(pattern, re.IGNORECASE)) for description, pattern in _PATTERNS)
    for description, pattern in _compiled:
        for match in pattern.finditer(source.text):
            if not source.is_code(match.start()):
                yield match.start(), description


def find_changing_values(prompt: Prompt) -> Iterator[tuple[str, str, str, int]]:
    """Yield changing values in long-lived sections: the section, its lifetime, a description, and how many characters follow it."""
    for passage in prompt.passages:
        if passage.lifetime not in LONG_LIVED:
            continue
        position = passage.start
        for piece in passage.pieces:
            description = (
                _CHANGING_VALUES.get(piece.origin.path) if piece.origin.kind in ("environment", "variable") else None
            )
            if description and piece.text.strip():
                yield passage.section, passage.lifetime, description, len(prompt.text) - position
            position += len(piece.text)
