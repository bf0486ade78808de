"""Turns problems in a template into findings with a line and columns. The message includes an excerpt with carets below it.

    [endif] has no [if] and is left as text
        and so [endif] on
               ^^^^^^^

Only the template is quoted, never a variable's value, and never more than one line.
"""

from __future__ import annotations

from ..findings import finding
from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..vocabulary import Finding

# A hostile template can have a problem every few characters; further problems are only counted.
MAX_LISTED = 50
MAX_EXCERPT = 60


@value
class Diagnostic:
    """A problem with the characters from `start` up to `end`. The message is those characters, followed by `problem`."""

    code: str
    problem: str
    start: int
    end: int


def to_findings(
    diagnostics: Iterable[Diagnostic], text: str, path: str = "", first_line: int = 1
) -> tuple[Finding, ...]:
    """Return the diagnostics as findings, in text order. The text begins on line `first_line` of its file."""
    ordered = sorted(diagnostics, key=lambda diagnostic: (diagnostic.start, diagnostic.end))
    findings = []
    line, position = first_line, 0
    for diagnostic in ordered[:MAX_LISTED]:
        line += text.count("\n", position, diagnostic.start)
        position = diagnostic.start
        column, end_column = _columns(diagnostic, text)
        findings.append(finding(diagnostic.code, _message(diagnostic, text), path, line, column, end_column))
    if len(ordered) > MAX_LISTED:
        findings.append(finding("template-more", f"{len(ordered) - MAX_LISTED:,} more problems are not listed", path))
    return tuple(findings)


def _columns(diagnostic: Diagnostic, text: str) -> tuple[int, int]:
    """Return the first column, and the column after the last character on the same line."""
    begin = text.rfind("\n", 0, diagnostic.start) + 1
    stop = text.find("\n", diagnostic.start)
    end = min(diagnostic.end, stop if stop >= 0 else len(text))
    return diagnostic.start - begin + 1, max(end, diagnostic.start + 1) - begin + 1


def _message(diagnostic: Diagnostic, text: str) -> str:
    begin = text.rfind("\n", 0, diagnostic.start) + 1
    quoted = text[diagnostic.start : diagnostic.end]
    subject = _printable(quoted if len(quoted) <= MAX_EXCERPT else quoted[: MAX_EXCERPT - 1] + "…") or "the end"
    excerpt, carets = _excerpt(text, begin, diagnostic)
    return f"{subject} {diagnostic.problem}\n    {excerpt}\n    {carets}"


def _excerpt(text: str, begin: int, diagnostic: Diagnostic) -> tuple[str, str]:
    """Return at most MAX_EXCERPT characters of the line, and the carets below them."""
    stop = text.find("\n", diagnostic.start)
    if stop < 0:
        stop = len(text)
    left = max(begin, diagnostic.start - MAX_EXCERPT // 2)
    right = min(stop, left + MAX_EXCERPT)
    indent = _display_width(text[left : diagnostic.start])
    carets = max(1, _display_width(text[diagnostic.start : min(diagnostic.end, right)]))
    return _printable(text[left:right]).rstrip(), " " * indent + "^" * carets


def _display_width(text: str) -> int:
    """Return how many terminal columns the text takes: two for a wide character, none for an accent."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(2 if east_asian_width(character) in "WF" else not combining(character) for character in text)


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " if character == "\t" else "·" for character in text)
