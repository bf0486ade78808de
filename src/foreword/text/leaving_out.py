"""Leaves instructions out of a set of files, wherever they are: the lines that were named, their copies, and imports of a file that is gone.

An agent that reads another file with the same words, or a file that imports the one that was named, would otherwise still receive the
instruction.
"""

from __future__ import annotations

import posixpath

from ..errors import CallError, show, suggestion
from ..vocabulary import value
from .imports import import_tokens
from .paragraphs import Paragraph, paragraphs_of, sections_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    # The new text of each file that changes, or None for a file that is gone.
    Edits = dict[str, str | None]


@value
class Selection:
    """Lines of a file, counted from 1. Without lines, the whole file."""

    path: str
    first: int = 0
    last: int = 0

    @property
    def is_file(self) -> bool:
        return not self.first


def select(name: str, texts: Mapping[str, str]) -> list[Selection]:
    """Return what a name refers to: `FILE`, `FILE#HEADING`, `FILE:LINE`, `FILE:FIRST-LAST`, `#HEADING` or `HEADING`.

    A heading without a file is looked for in all of them.
    """
    if name in texts:
        return [Selection(name)]
    path, mark, heading = name.partition("#")
    if not mark:
        lines = _parse_lines(name, texts)
        return [lines] if lines else _find_heading(name, texts, [*texts], "instruction file or heading")
    if path and path not in texts:
        raise CallError(f"there is no instruction file {show(path)} to leave out{suggestion(path, texts)}")
    among = {path: texts[path]} if path else texts
    return _find_heading(heading.strip("# "), among, [], "heading")


def _find_heading(title: str, texts: Mapping[str, str], known: Sequence[str], kind: str) -> list[Selection]:
    """Return the sections with this title. `known` are other names that could have been meant."""
    sections = [(file, section) for file, text in texts.items() for section in sections_of(text)]
    found = [Selection(file, each.first, each.last) for file, each in sections if each.title.lower() == title.lower()]
    if not found:
        titles = [*known, *(each.title for _, each in sections)]
        raise CallError(f"there is no {kind} {show(title)} to leave out{suggestion(title, titles)}")
    return found


def _parse_lines(name: str, texts: Mapping[str, str]) -> Selection | None:
    path, _, lines = name.rpartition(":")
    first, _, last = lines.partition("-")
    if path not in texts or not first.isdecimal() or not (last or first).isdecimal():
        return None
    selection = Selection(path, int(first), int(last or first))
    count = len(texts[path].splitlines())
    if not 1 <= selection.first <= selection.last <= count:
        raise CallError(f"{show(name)}: {path} has {count:,} lines")
    return selection


def leave_out(texts: Mapping[str, str], selections: Iterable[Selection]) -> Edits:
    """Return the edits that remove these selections, and every copy of their paragraphs, from the files.

    A heading disappears if nothing is left below it, and a file if nothing is left in it. A line that only imports such a file
    disappears too.
    """
    chosen = list(selections)
    files = [_File(path, text, chosen) for path, text in texts.items()]
    copied = {words for file in files for words in file.removed_words()}
    for file in files:
        file.remove_copies(copied)
    gone = {selection.path for selection in chosen if selection.is_file}
    before = -1
    while len(gone) != before:
        before = len(gone)
        gone |= {file.path for file in files if file.is_emptied(gone)}
    return {
        file.path: None if file.path in gone else _without(file.text, file.rows, file.removed)
        for file in files
        if file.removed or file.path in gone
    }


class _File:
    """A file from which paragraphs are removed. `removed` has the first lines of those that are."""

    def __init__(self, path: str, text: str, selections: Sequence[Selection]) -> None:
        self.path, self.text, self.rows = path, text, paragraphs_of(text)
        self.removed = _selected(path, self.rows, selections)

    def removed_words(self) -> list[str]:
        return [row.words for row in self.rows if row.first in self.removed and not row.level]

    def remove_copies(self, words: set[str]) -> None:
        self.removed |= {row.first for row in self.rows if not row.level and row.words in words}

    def is_emptied(self, gone: set[str]) -> bool:
        """Remove imports of files that are gone, and headings without text. Returns whether nothing is left."""
        self.removed |= {row.first for row in self.rows if not row.level and _is_import(row, self.path, gone)}
        self.removed |= set(_empty_headings(self.rows, self.removed))
        return bool(self.rows) and len(self.removed) == len(self.rows)


def removed_text(texts: Mapping[str, str], selections: Iterable[Selection]) -> str:
    """Return the text that was named, without its copies."""
    chosen = list(selections)
    rows = [(path, row) for path, text in texts.items() for row in paragraphs_of(text)]
    return "\n\n".join(row.text for path, row in rows if _selected(path, [row], chosen))


def _selected(path: str, rows: Sequence[Paragraph], selections: Sequence[Selection]) -> set[int]:
    """Return the first lines of the paragraphs that are selected, even in part."""
    own = [selection for selection in selections if selection.path == path]
    return {
        row.first
        for row in rows
        for selection in own
        if selection.is_file or (row.first <= selection.last and selection.first <= row.last)
    }


def _is_import(row: Paragraph, path: str, gone: set[str]) -> bool:
    """Whether a paragraph consists only of imports of files that are gone."""
    words = row.text.split()
    tokens = {f"@{token.name}": token.name for token in import_tokens(row.text, "markdown")}
    rest = [word for word in words if word not in tokens and word.strip("-+*")]
    folder = posixpath.dirname(path)
    targets = [posixpath.normpath(posixpath.join(folder, name)) for name in tokens.values()]
    return bool(targets) and not rest and gone.issuperset(targets)


def only_imports(path: str, texts: Mapping[str, str]) -> bool:
    """Whether a file has no text of its own, only imports of other files and headings."""
    rows = [row for row in paragraphs_of(texts[path]) if not row.level]
    return all(_is_import(row, path, set(texts)) for row in rows)


def _empty_headings(rows: Sequence[Paragraph], removed: set[int]) -> Iterator[int]:
    """Yield the headings below which something was removed and nothing is left."""
    for index, heading in enumerate(rows):
        if heading.level and heading.first not in removed:
            below = rows[index + 1 :]
            end = next((place for place, other in enumerate(below) if 0 < other.level <= heading.level), len(below))
            content = [row for row in below[:end] if not row.level]
            if content and all(row.first in removed for row in content):
                yield heading.first


def _without(text: str, rows: Sequence[Paragraph], removed: set[int]) -> str:
    """Return the text without some paragraphs and the blank lines after them. All other lines stay as they are."""
    lines = text.split("\n")
    dropped = {number for row in rows if row.first in removed for number in _lines_to_drop(row, lines)}
    starts = {row.first for row in rows if row.first not in removed}
    kept: list[str] = []
    is_gap = False
    for number, line in enumerate(lines, 1):
        if number in dropped:
            is_gap = is_gap or not line.strip()
            continue
        if is_gap and number in starts and kept and kept[-1].strip():
            kept.append("")  # a blank line stays between two paragraphs that are left
        is_gap = False
        kept.append(line)
    return "\n".join(kept).rstrip("\n") + ("\n" if text.endswith("\n") else "")


def _lines_to_drop(row: Paragraph, lines: Sequence[str]) -> range:
    """Return the numbers of a paragraph's lines, and of the blank lines after it."""
    end = row.last + 1
    while end < len(lines) and not lines[end - 1].strip():
        end += 1
    return range(row.first, end)
