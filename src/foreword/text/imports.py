"""Finds imports in text: `@path` outside fences and code spans, at the start of a line or after white space.

There are three ways to recognize them:

word        the path begins with a letter, `.`, `/` or `~` and ends at white space: `see @a.md`. In `@a.md,` the comma is part of the path
markdown    an import may also be inside emphasis or a link's text, which end the path: `**@a.md**`, `[@a.md](b)`. A backslash before
            a space makes it part of the path, `#` begins a fragment, which is ignored, and indented code has no imports
punctuated  an import may also follow a bracket or quotation mark. The path must be relative, and does not include trailing
            punctuation or anything from a `<` on: `(@a.md)`, `@a.md,`
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

    TokenStyle = Literal["word", "markdown", "punctuated"]

_TOKEN_PATTERNS = {
    "word": r"(?:(?<=\s)|^)()@([A-Za-z./~]\S*)",
    "markdown": r"((?:(?<=\s)|^)(?:\*{1,3}|_{1,3}|)|\[)@([A-Za-z0-9._/~-](?:\\ |\S)*)",
    "punctuated": r"(?:(?<=[\s(\[{>\"'])|^)()@([A-Za-z0-9._-][^\s<]*)",
}
_PUNCTUATION = ".,;:!?)]}\"'"
MAX_TOKENS = 1_000
"""How many imports one text may have. The others are ignored, because each import is looked up on the disk."""
MAX_FOLLOWED = 3_000
"""How many imports all texts in a prompt may have together. A text counts each time that it is imported."""


@value
class ImportToken:
    """An import in text: its range, beginning at the `@`, and its path. `line` and `column` are its position in the file, if known."""

    start: int
    end: int
    name: str
    line: int | None = None
    column: int | None = None


def import_tokens(text: str, style: TokenStyle = "word") -> Iterator[ImportToken]:
    """Yield the imports in text, in order. `style` specifies how to recognize them."""
    if "@" not in text:
        return
    spans, code = Spans(text), indented_code(text) if style == "markdown" else []
    search = re.compile(rf"\\[\\`]|(`+)|{_TOKEN_PATTERNS[style]}", re.MULTILINE).search
    for start, limit in prose(text):
        position = start
        while match := search(text, position, limit):
            position = match.end()
            ticks, opening, name = match.groups()
            if ticks:
                position = spans.end(match.start(), len(ticks), limit) or position
            elif name and (path_text := _path_in_token(name, opening, style)) and not _contains(code, match.start()):
                begin = match.start(3) - 1
                position = begin + 1 + len(path_text)
                path = path_text.partition("#")[0].replace("\\ ", " ") if style == "markdown" else path_text
                if path:
                    yield ImportToken(begin, position, path)


def _path_in_token(name: str, opening: str, style: TokenStyle) -> str:
    """Return a token's path as written, or empty if it is not an import. `opening` is the emphasis mark or bracket before it, if any."""
    if opening:
        name, closing, _ = name.partition("](" if opening == "[" else opening)
        name = name if closing else ""
    name = name.partition("`")[0]  # a code span begins inside it
    return name.rstrip(_PUNCTUATION) if style == "punctuated" else name


def _contains(ranges: list[tuple[int, int]], position: int) -> bool:
    index = bisect_right(ranges, (position, position)) - 1
    return index >= 0 and position < ranges[index][1]
