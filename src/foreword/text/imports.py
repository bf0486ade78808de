"""Finds imports in text: `@path` outside fences and code spans, at the start of a line or after white space.

There are four ways to recognize them:

word        the path begins with a letter, `.`, `/` or `~` and ends at white space: `see @a.md`. In `@a.md,` the comma is part of the path.
            Indented code has no imports
loose       like `word`, but of all code only spans and closed fences of backticks have no imports
markdown    an import may also be inside emphasis or a link's text, which end the path: `**@a.md**`, `[@a.md](b)`. A backslash before
            a space makes it part of the path, `#` begins a fragment, which is ignored, an HTML tag may come directly before and
            after it, and indented code, HTML blocks, comments and definitions of links have no imports
punctuated  an import may also follow punctuation. The path must be relative, and does not include trailing punctuation or anything
            from a `<` on: `(@a.md)`, `@a.md,`. Every line that begins like a fence opens or closes one
"""

from __future__ import annotations

import re
from bisect import bisect_right

from ..vocabulary import value
from .markdown import Spans, definitions, fences, html, indented_code, outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    TokenStyle = Literal["word", "loose", "markdown", "punctuated"]

_TOKEN_PATTERNS = {
    "word": r"(?:(?<=\s)|^)()@([A-Za-z./~]\S*)",
    "loose": r"(?:(?<=\s)|^)()@([A-Za-z./~]\S*)",
    "markdown": r"((?:(?<=\s)|(?<=[\w\"'/]>)|^)(?:\*{1,3}|_{1,3}|)|\[)@([A-Za-z0-9._/~-](?:\\ |\S)*)",
    "punctuated": r"(?<![A-Za-z0-9_*@-])()@([A-Za-z0-9._\x80-\U0010ffff-][^\s<]*)",
}
_PUNCTUATION = ".,;:!?)]}>\"'"
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
    spans, code = Spans(text), _without_imports(text, style)
    may_have_token = re.compile(_TOKEN_PATTERNS[style], re.MULTILINE).search
    search = re.compile(rf"\\[\\`]|(`+)|{_TOKEN_PATTERNS[style]}", re.MULTILINE).search
    for start, limit in outside(_fences(text, style), len(text)):
        position = start if may_have_token(text, start, limit) else limit
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


def _without_imports(text: str, style: TokenStyle) -> list[tuple[int, int]]:
    """Return the ranges outside fences in which imports do not count."""
    code = indented_code(text) if style in ("word", "markdown") else []
    if style != "markdown":
        return code
    return sorted([*code, *html(text), *definitions(text)])


def _fences(text: str, style: TokenStyle) -> list[tuple[int, int]]:
    """Return the ranges of the fences in which imports do not count."""
    if style == "punctuated":
        return list(_alternating_fences(text))
    ranges = fences(text)
    return [found for found in ranges if _is_closed(text[slice(*found)])] if style == "loose" else ranges


def _is_closed(fence: str) -> bool:
    """Whether a fence consists of backticks and is closed."""
    lines = fence.strip().splitlines()
    return len(lines) > 1 and lines[0].lstrip("> \t").startswith("```") and lines[-1].strip("> \t").strip("`") == ""


def _alternating_fences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the fences of a program that lets every line that begins with three backticks or tildes open or close one."""
    start, mark = 0, ""
    for line in re.finditer(r"^ {0,3}(```|~~~)[^\n]*\n?", text, re.MULTILINE):
        if not mark:
            start, mark = line.start(), line[1]
        elif line[1] == mark:
            yield start, line.end()
            mark = ""
    if mark:
        yield start, len(text)


def _path_in_token(name: str, opening: str, style: TokenStyle) -> str:
    """Return a token's path as written, or empty if it is not an import. `opening` is the emphasis mark or bracket before it, if any."""
    if opening:
        name, closing, _ = name.partition("](" if opening == "[" else opening)
        name = name if closing else ""
    name = name.partition("`")[0]  # a code span begins inside it
    if style == "markdown":
        name = re.split(r"<(?=[A-Za-z/])", name, maxsplit=1)[0]
    return name.rstrip(_PUNCTUATION) if style == "punctuated" else name


def _contains(ranges: list[tuple[int, int]], position: int) -> bool:
    index = bisect_right(ranges, (position, position)) - 1
    return index >= 0 and position < ranges[index][1]
