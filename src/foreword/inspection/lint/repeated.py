"""The same paragraph in two files: it is paid for twice, and one day only one of them gets updated."""

from __future__ import annotations

import re

from ...vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .source_text import SourceText

_PARAGRAPH = re.compile(r"[^\n]+(?:\n[ \t]*[^\s][^\n]*)*")
# Shorter ones are headings, links and common phrases.
_SHORTEST = 120
_FEWEST_WORDS = 18


@value
class Repetition:
    """Paragraphs of one file that are in an earlier one too: the lines of the first pair, their number, and their text."""

    path: str
    line: int
    other: str
    other_line: int
    count: int
    text: str


def repetitions(sources: Sequence[SourceText]) -> Iterator[Repetition]:
    """Repeated paragraphs, once for each pair of files, at the first paragraph."""
    earlier: dict[str, tuple[str, int]] = {}
    for source in sources:
        repeated: dict[str, list[tuple[int, int, str]]] = {}
        for offset, paragraph in _paragraphs(source):
            words = " ".join(paragraph.split())
            path, line = earlier.setdefault(words, (source.path, source.line(offset)))
            if path != source.path:
                repeated.setdefault(path, []).append((source.line(offset), line, paragraph))
        for path, places in repeated.items():
            here, there, _ = places[0]
            text = "\n\n".join(each for _, _, each in places)
            yield Repetition(source.path, here, path, there, len(places), text)


def _paragraphs(source: SourceText) -> Iterator[tuple[int, str]]:
    """Paragraphs of prose with their offsets, without code, tables, headings and comments."""
    if not source.is_file:
        return
    for match in _PARAGRAPH.finditer(source.text):
        start, text = match.start(), match[0]
        while text.startswith("#") and "\n" in text:
            heading, _, text = text.partition("\n")
            start += len(heading) + 1
        if len(text) < _SHORTEST or text.lstrip()[:1] in ("|", "#", "<") or source.is_fenced(start):
            continue
        if len(text.split(None, _FEWEST_WORDS)) >= _FEWEST_WORDS:
            yield start, text
