"""Doubtful places of a template, told as findings: the place, what is wrong, line and column, and carets under it.

    [endif] has no [if] and stands as text (line 3, column 8)
        and so [endif] on
               ^^^^^^^

Only the template is quoted, never a value, and no more of it than a line can hold.
"""

from __future__ import annotations

from ..findings import finding
from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..vocabulary import Finding

# A hostile template can hold a doubtful place every few characters; what nobody reads is counted, not listed.
MOST = 50
WIDTH = 60


@value
class Doubt:
    """A stretch of a text, from `start` to before `end`, and what is doubtful about it, told of it as the subject."""

    code: str
    words: str
    start: int
    end: int


def tell(doubts: Iterable[Doubt], text: str, path: str = "", first: int = 1) -> tuple[Finding, ...]:
    """The doubts about a text as findings, in the order of the text; its first line is number `first` of the file."""
    ordered = sorted(doubts, key=lambda doubt: (doubt.start, doubt.end))
    told = []
    line, at = first, 0
    for doubt in ordered[:MOST]:
        line += text.count("\n", at, doubt.start)
        at = doubt.start
        column, end_column = _columns(doubt, text)
        told.append(finding(doubt.code, _message(doubt, text, line, column), path, line, column, end_column))
    if len(ordered) > MOST:
        told.append(finding("template-more", f"{len(ordered) - MOST:,} more doubtful places are not listed", path))
    return tuple(told)


def _columns(doubt: Doubt, text: str) -> tuple[int, int]:
    """The first column, and the column after the last character on the same line."""
    begin = text.rfind("\n", 0, doubt.start) + 1
    stop = text.find("\n", doubt.start)
    end = min(doubt.end, stop if stop >= 0 else len(text))
    return doubt.start - begin + 1, max(end, doubt.start + 1) - begin + 1


def _message(doubt: Doubt, text: str, line: int, column: int) -> str:
    begin = text.rfind("\n", 0, doubt.start) + 1
    place = text[doubt.start : doubt.end]
    subject = _printable(place if len(place) <= WIDTH else place[: WIDTH - 1] + "…") or "the end"
    shown, carets = _excerpt(text, begin, doubt)
    return f"{subject} {doubt.words} (line {line}, column {column})\n    {shown}\n    {carets}"


def _excerpt(text: str, begin: int, doubt: Doubt) -> tuple[str, str]:
    """At most WIDTH characters of the line around the place, and the line of carets below them."""
    stop = text.find("\n", doubt.start)
    if stop < 0:
        stop = len(text)
    left = max(begin, doubt.start - WIDTH // 2)
    right = min(stop, left + WIDTH)
    under = max(1, min(doubt.end, right) - doubt.start)
    return _printable(text[left:right]).rstrip(), " " * (doubt.start - left) + "^" * under


def _printable(words: str) -> str:
    return "".join(character if character.isprintable() else " " if character == "\t" else "·" for character in words)
