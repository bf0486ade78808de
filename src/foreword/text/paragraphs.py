"""Splits an instruction file into paragraphs and sections: the smallest texts that can be left out, and those under one heading.

A paragraph is a block of lines between blank lines, or one item of a list that is not indented. A fence belongs to the paragraph before
it if that ends with a colon. A heading is a paragraph of its own. Front matter belongs to none.
"""

from __future__ import annotations

import re
from itertools import pairwise

from ..vocabulary import value
from .markdown import fences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_ITEM = re.compile(r"(?:[-+*]|[0-9]{1,9}[.)])[ \t]")
_FRONT_MATTER = "---"


@value
class Paragraph:
    """Some lines of a file, counted from 1. `level` is that of a heading, 0 for text."""

    first: int
    last: int
    text: str
    level: int = 0

    @property
    def words(self) -> str:
        """The text with single spaces, by which copies are recognised."""
        return " ".join(self.text.split())

    @property
    def title(self) -> str:
        """The text of a heading, without its marks."""
        match = _HEADING.match(self.text.strip())
        return match[2] if match else ""


@value
class TextSection:
    """A heading with everything below it, up to the next heading of its level or a higher one."""

    title: str
    first: int
    last: int


def paragraphs_of(text: str) -> list[Paragraph]:
    """Return the paragraphs of a Markdown text, in order."""
    lines = text.replace("\r\n", "\n").split("\n")
    code = _fenced_lines("\n".join(lines))
    found: list[Paragraph] = []
    for first, last in _blocks(lines, code):
        block = "\n".join(lines[first - 1 : last])
        heading = None if first in code else _HEADING.match(block)
        previous = found[-1] if found else None
        if first in code and previous and not previous.level and previous.text.rstrip().endswith(":"):
            found[-1] = Paragraph(previous.first, last, "\n".join(lines[previous.first - 1 : last]))
        else:
            found.append(Paragraph(first, last, block, len(heading[1]) if heading else 0))
    return found


def _blocks(lines: Sequence[str], code: set[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last line of each block."""
    first = last = 0
    for number in range(_end_of_front_matter(lines) + 1, len(lines) + 1):
        is_blank = not lines[number - 1].strip() and number not in code
        if first and (_ends_item(lines, first, number) if is_blank else _begins_block(lines, first, number, code)):
            yield first, last
            first = 0
        if not is_blank:
            first, last = first or number, number
    if first:
        yield first, last


def _ends_item(lines: Sequence[str], first: int, blank: int) -> bool:
    """Whether a block ends at a blank line. A list item does not if the text after it is indented."""
    following = next((text for text in lines[blank:] if text.strip()), "")
    return not (_ITEM.match(lines[first - 1]) and following[:1] in (" ", "\t"))


def _begins_block(lines: Sequence[str], first: int, number: int, code: set[int]) -> bool:
    """Whether a line begins a block although there is no blank line before it: a heading, an item, or text after a heading."""
    if number not in code and (_HEADING.match(lines[number - 1]) or _ITEM.match(lines[number - 1])):
        return True
    return first not in code and bool(_HEADING.match(lines[first - 1]))


def _end_of_front_matter(lines: Sequence[str]) -> int:
    """Return the line of the closing `---`, or 0 if there is no front matter."""
    if lines[0].lstrip("\ufeff").rstrip() != _FRONT_MATTER:
        return 0
    return next((number for number, line in enumerate(lines[1:], 2) if line.rstrip() == _FRONT_MATTER), 0)


def _fenced_lines(text: str) -> set[int]:
    found: set[int] = set()
    for start, end in fences(text):
        first = text.count("\n", 0, start) + 1
        found.update(range(first, first + text[start:end].rstrip("\n").count("\n") + 1))
    return found


# Sections


def sections_of(text: str) -> list[TextSection]:
    """Return every section of a text, outer ones before those inside them."""
    paragraphs = paragraphs_of(text)
    found = []
    for index, heading in enumerate(paragraphs):
        if heading.level:
            below = paragraphs[index + 1 :]
            end = next((place for place, other in enumerate(below) if 0 < other.level <= heading.level), len(below))
            last = below[end - 1].last if end else heading.last
            found.append(TextSection(heading.title, heading.first, last))
    return found


def parts_of(text: str) -> list[TextSection]:
    """Split a text into sections that do not overlap, at the highest level with two headings or more.

    What comes before the first of them is a part without a title. A text without such headings is one part.
    """
    paragraphs = paragraphs_of(text)
    levels = [paragraph.level for paragraph in paragraphs]
    level = next((level for level in range(1, 7) if levels.count(level) > 1), -1)
    starts = [index for index, other in enumerate(levels) if other == level]
    bounds = [*([0] if not starts or starts[0] else []), *starts, len(paragraphs)]
    groups = [(begin in starts, paragraphs[begin:end]) for begin, end in pairwise(bounds)]
    return [
        TextSection(group[0].title if has_title else "", group[0].first, group[-1].last)
        for has_title, group in groups
        if not all(paragraph.level for paragraph in group)
    ]
