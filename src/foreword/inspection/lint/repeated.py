"""Finds paragraphs that are in two files, and lines that are in several: they are paid for more than once, and one day only one of them
will be updated."""

from __future__ import annotations

import re

from ...vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .source_text import SourceText

_PARAGRAPH = re.compile(r"[^\n]+(?:\n[ \t]*[^\s][^\n]*)*")
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
    """Return hashes of the paragraphs and lines that are compared. Texts without a common hash have nothing to report in common."""
    paragraphs = (" ".join(paragraph.split()) for _, paragraph in _paragraphs(source))
    lines = (words for line in source.text.split("\n") if len(words := _line_words(line)) >= _MIN_LINE_WORDS)
    return frozenset((*map(hash, paragraphs), *(hash(tuple(words)) for words in lines)))


# Lines

_MIN_COPIES = 3
_MIN_LINE_WORDS = 3


@value
class RepeatedLines:
    """Lines that are in several files: the path and line of the first one in each, in order of the files, their number and their length."""

    places: Sequence[tuple[str, int]]
    count: int
    length: int


def find_repeated_lines(sources: Sequence[SourceText]) -> Iterator[RepeatedLines]:
    """Yield the lines that are in three files or more, as one result for each set of files."""
    places_by_line: dict[str, dict[str, int]] = {}
    for source in sources:
        for number, line in enumerate(_prose_lines(source), 1):
            words = _line_words(line)
            if len(words) >= _MIN_LINE_WORDS:
                places_by_line.setdefault(" ".join(words), {}).setdefault(source.path, number)
    groups: dict[tuple[str, ...], list[tuple[str, dict[str, int]]]] = {}
    for words_of_line, places in places_by_line.items():
        if len(places) >= _MIN_COPIES:
            groups.setdefault(tuple(places), []).append((words_of_line, places))
    for group in groups.values():
        yield RepeatedLines(tuple(group[0][1].items()), len(group), sum(len(line) for line, _ in group))


def _prose_lines(source: SourceText) -> Iterator[str]:
    """Yield the lines of a text. Those in fences are blank, and comments, such as a licence, are left out."""
    text = re.sub(r"<!--.*?-->", lambda comment: "\n" * comment[0].count("\n"), source.text, flags=re.DOTALL)
    fenced = {
        number
        for start, end in source.fences
        for number in range(source.line(start), source.line(max(end - 1, start)) + 1)
    }
    yield from ("" if number in fenced else line for number, line in enumerate(text.split("\n"), 1))


def _line_words(line: str) -> list[str]:
    """Return the words of a line in lower case, without Markdown's marks and links. A heading, or a row of a table, has none."""
    if line.lstrip()[:1] in ("#", "|", "<"):
        return []
    return re.findall(r"\w+", re.sub(r"\[[^\]\n]{0,200}\]\([^()\n]{0,300}\)|https?://\S+", "", line).lower())
