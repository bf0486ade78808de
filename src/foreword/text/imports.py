"""The imports in a text: `@path` at the start of a line, after white space or after the marks of emphasis, outside code.

The path ends at white space or, if emphasis began before it, where that ends. So `see @a.md` and `**@a.md**` are imports;
`(@a.md)` and `me@a.md` are not, and `@a.md,` names a file with a comma.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from ..vocabulary import value
from .markdown import Spans, indented_code, prose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = r"\\[\\`]|(`+)|(?:(?<=\s)|^|\A)(\*{1,3}|_{1,3}|~~)?@([A-Za-z0-9._/~-]\S*)"
MAX_TOKENS = 1_000
"""More imports than this in one text are ignored: each is looked up on the disk."""


@value
class ImportToken:
    """An import in a text: its range, from the `@` on, and the path as written."""

    start: int
    end: int
    name: str


def import_tokens(text: str) -> Iterator[ImportToken]:
    """The imports in a text, in order."""
    if "@" not in text:
        return
    spans, code = Spans(text), indented_code(text)
    search = re.compile(_TOKEN, re.MULTILINE).search
    for start, limit in prose(text):
        at = start
        while match := search(text, at, limit):
            at = match.end()
            ticks, emphasis, name = match.groups()
            if ticks:
                at = spans.end(match.start(), len(ticks), limit) or at
            elif name and not _is_in(code, match.start()):
                token = _token(match, emphasis or "", name)
                if token:
                    at = token.end
                    yield token


def _is_in(ranges: list[tuple[int, int]], at: int) -> bool:
    before = bisect_right(ranges, (at, at)) - 1
    return before >= 0 and at < ranges[before][1]


def _token(match: re.Match[str], emphasis: str, name: str) -> ImportToken | None:
    begin = match.start(3) - 1
    if emphasis:
        name, closed, _ = name.partition(emphasis)
        if not closed or not name:
            return None
    # A code span begins inside the path, so it ends there.
    name = name.partition("`")[0]
    return ImportToken(begin, begin + 1 + len(name), name) if name else None
