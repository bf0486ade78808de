"""Where Markdown shows text as code: there no directive is meant.

Fences and code spans, as CommonMark has them, with these liberties. A fence may be indented by any number of blanks,
and may stand behind quote marks (it then ends with the quote) or behind a list marker. An indented text is not code:
in instruction files it is more often a list. A code span does not reach over an empty line, nor over a line that is a
fence, a heading, a table row, a rule or begins with a comment, nor into the next item of a list. Backticks that find
no partner are text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Patterns are text until a file needs them; most hold no directive, and then nobody asks where their code is.
_FENCE = r"(?m)^([ \t>]*+)((?:(?:[-+*]|\d{1,9}[.)])[ \t]++)*+)(`{3,}+|~{3,}+)([^\n]*)\n?"
_UNQUOTED = r"(?m)^(?![ \t]*>)"
_TICKS = r"`+"
_ALONE = r"$|\||<!--|#{1,6}[ \t]|(?:-+|=+|\*{3,}|_{3,})[ \t]*$"
_BLOCK = rf"(?m)^[ \t>]*+(?:({_ALONE})|[-+*][ \t]|\d{{1,9}}[.)][ \t])"


def prose(text: str) -> Iterator[tuple[int, int]]:
    """The stretches of a text that lie outside its fences; they begin and end with a line."""
    start = 0
    for begin, end in _fences(text):
        if begin > start:
            yield start, begin
        start = end
    if start < len(text):
        yield start, len(text)


def _fences(text: str) -> Iterator[tuple[int, int]]:
    """From the opening line of each fence to the end of its closing line, or of what it stands in."""
    if "```" not in text and "~~~" not in text:
        return
    opening, begin, limit, quoted = "", 0, len(text), 0
    for match in re.finditer(_FENCE, text):
        quotes, marker, run, rest = match.groups()
        if opening and match.start() >= limit:
            yield begin, limit
            opening = ""
        if opening:
            if run.startswith(opening) and not marker and not rest.strip():
                yield begin, match.end()
                opening = ""
        elif run[0] == "~" or "`" not in rest:
            if quotes.strip() and quoted < match.end():
                quoted = _quote_end(text, match.end())
            opening, begin, limit = run, match.start(), quoted if quotes.strip() else len(text)
    if opening:
        yield begin, limit


def _quote_end(text: str, after: int) -> int:
    """The first line that is not quoted: a fence in the quote must end there."""
    unquoted = re.compile(_UNQUOTED).search(text, after)
    return unquoted.start() if unquoted else len(text)


class Spans:
    """The code spans of a text, asked for one opening at a time. Each answer costs a binary search."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.runs: dict[int, list[int]] | None = None
        self.ends: list[int] = []

    def end(self, start: int, length: int, limit: int) -> int | None:
        """Where the code span ends that begins here with so many backticks; None if it does not before the limit."""
        if self.runs is None:
            self.runs = self._prepare()
        runs = self.runs.get(length, [])
        partner = bisect_left(runs, start + length)
        if partner == len(runs) or runs[partner] >= min(limit, self._block_end(start)):
            return None
        return runs[partner] + length

    def _prepare(self) -> dict[int, list[int]]:
        runs: dict[int, list[int]] = {}
        for match in re.finditer(_TICKS, self.text):
            runs.setdefault(len(match[0]), []).append(match.start())
        for match in re.finditer(_BLOCK, self.text):
            self.ends.append(match.start())
            if match[1] is not None:
                self.ends.append(self._line_end(match.end()))
        return runs

    def _line_end(self, start: int) -> int:
        newline = self.text.find("\n", start)
        return len(self.text) if newline < 0 else newline + 1

    def _block_end(self, start: int) -> int:
        after = bisect_right(self.ends, start)
        return self.ends[after] if after < len(self.ends) else len(self.text)
