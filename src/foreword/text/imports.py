"""The imports in a text: `@path` outside fences and code spans, at the start of a line or after white space.

word        the path begins with a letter, `.`, `/` or `~` and ends at white space: `see @a.md`; `@a.md,` names a file with a comma
markdown    also at the beginning of emphasis or of a link's text, which end the path: `**@a.md**`, `[@a.md](b)`. A backslash makes a
            blank part of the path, and `#` begins a fragment, which is ignored. Code that is only indented has no imports.
punctuated  also after a bracket or quotation mark. Punctuation at the end and a `<` are not part of the path, which must be relative:
            `(@a.md)`, `@a.md,`
"""

from __future__ import annotations

import re
from bisect import bisect_right

from ..vocabulary import value
from .markdown import Spans, indented_code, prose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    Tokens = Literal["word", "markdown", "punctuated"]

_TOKENS = {
    "word": r"(?:(?<=\s)|^)()@([A-Za-z./~]\S*)",
    "markdown": r"((?:(?<=\s)|^)(?:\*{1,3}|_{1,3}|)|\[)@([A-Za-z0-9._/~-](?:\\ |\S)*)",
    "punctuated": r"(?:(?<=[\s(\[{>\"'])|^)()@([A-Za-z0-9._-][^\s<]*)",
}
_PUNCTUATION = ".,;:!?)]}\"'"
MAX_TOKENS = 1_000
"""More imports than this in one text are ignored: each is looked up on the disk."""


@value
class ImportToken:
    """An import in a text: its range, from the `@` on, and its path. `line` and `column` are those in the file, if they are known."""

    start: int
    end: int
    name: str
    line: int | None = None
    column: int | None = None


def import_tokens(text: str, tokens: Tokens = "word") -> Iterator[ImportToken]:
    """The imports in a text, in order."""
    if "@" not in text:
        return
    spans, code = Spans(text), indented_code(text) if tokens == "markdown" else []
    search = re.compile(rf"\\[\\`]|(`+)|{_TOKENS[tokens]}", re.MULTILINE).search
    for start, limit in prose(text):
        at = start
        while match := search(text, at, limit):
            at = match.end()
            ticks, mark, name = match.groups()
            if ticks:
                at = spans.end(match.start(), len(ticks), limit) or at
            elif name and (written := _written(name, mark, tokens)) and not _is_in(code, match.start()):
                begin = match.start(3) - 1
                at = begin + 1 + len(written)
                path = written.partition("#")[0].replace("\\ ", " ") if tokens == "markdown" else written
                if path:
                    yield ImportToken(begin, at, path)


def _written(name: str, mark: str, tokens: Tokens) -> str:
    """The path of a token as written; empty if it is not an import. `mark` is what begins before it."""
    if mark:
        name, closed, _ = name.partition("](" if mark == "[" else mark)
        name = name if closed else ""
    name = name.partition("`")[0]  # a code span begins inside it
    return name.rstrip(_PUNCTUATION) if tokens == "punctuated" else name


def _is_in(ranges: list[tuple[int, int]], at: int) -> bool:
    before = bisect_right(ranges, (at, at)) - 1
    return before >= 0 and at < ranges[before][1]
