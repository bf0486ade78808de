"""Finds paragraphs that are in two files: they are paid for more than once, and one day only one of them will be updated."""

from __future__ import annotations

from ...vocabulary import value
from .patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .source_text import SourceText

_PARAGRAPH = lazy_pattern(r"[^\n]+(?:\n[ \t]*[^\s][^\n]*)*")
# Shorter paragraphs are headings, links and common phrases.
_MIN_CHARACTERS = 120
_MIN_WORDS = 18
# Shorter repetitions are not worth a finding.
MIN_REPEATED_LENGTH = 1_000


@value
class Repetition:
    """Paragraphs of one file that are also in an earlier one: the lines of the first pair, the number of paragraphs, and their text."""

    path: str
    line: int
    other: str
    other_line: int
    count: int
    text: str


def find_repetitions(sources: Sequence[SourceText]) -> Iterator[Repetition]:
    """Yield the repeated paragraphs, as one result for each pair of files, located at the first paragraph."""
    earlier: dict[str, tuple[str, int]] = {}
    for source in sources:
        matches_by_path: dict[str, list[tuple[int, int, str]]] = {}
        for offset, paragraph in _paragraphs(source):
            words = " ".join(paragraph.split())
            path, line = earlier.setdefault(words, (source.path, source.line(offset)))
            if path != source.path:
                matches_by_path.setdefault(path, []).append((source.line(offset), line, paragraph))
        for path, matches in matches_by_path.items():
            line, other_line, _ = matches[0]
            text = "\n\n".join(match for _, _, match in matches)
            yield Repetition(source.path, line, path, other_line, len(matches), text)


def _paragraphs(source: SourceText) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs of prose with their offsets. Code, tables, headings and comments are skipped."""
    if not source.is_file:
        return
    for match in _PARAGRAPH.finditer(source.text):
        start, text = match.start(), match[0]
        while text.startswith("#") and "\n" in text:
            heading, _, text = text.partition("\n")
            start += len(heading) + 1
        if len(text) < _MIN_CHARACTERS or text.lstrip()[:1] in ("|", "#", "<") or source.is_fenced(start):
            continue
        if len(text.split(None, _MIN_WORDS)) >= _MIN_WORDS:
            yield start, text


def units_of(source: SourceText) -> frozenset[int]:
    """Return hashes of the paragraphs that are compared. Texts without a common hash have nothing to report in common."""
    return frozenset(hash(" ".join(paragraph.split())) for _, paragraph in _paragraphs(source))
