"""The texts that lint checks: a prompt's text by file, with every character on its original line."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import islice

from ...text.markdown import fences
from ...vocabulary import value
from .patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, TypeVar

    from ...vocabulary import Document, Finding, Lifetime, Prompt

    N = TypeVar("N")
    SourceCache = dict[tuple[str, str, str, Lifetime, str], "SourceText"]

# Origins whose text was written by people, not by Foreword or other programs.
_WRITTEN_BY_PEOPLE = frozenset(("file", "template", "layout", "setting", "caller", "extension", "tool", "variable"))
_COMMENT = lazy_pattern(r"<!--[ \t]*foreword:[ \t]*(ignore(?:-file)?)\b([^\n>]{0,300}?)-->")
_ALL_LINES = (1, 1 << 60)
# How many characters on each side count as near an offset. A file may be a single line of a megabyte.
_MAX_DISTANCE = 1_000
# How many characters of a section above an offset are searched.
_MAX_SECTION = 2_000
# How many rows of a table are searched for its first one. A file may be a table of a megabyte.
_MAX_ROWS = 60
# An item of a list, or a line that continues one.
_IN_LIST = lazy_pattern(r"[ \t]*(?:[-+*•][ \t]|\d{1,9}[.)][ \t])|[ \t]{2,}\S")
# A line that does not continue the paragraph above it: an item, a heading, a quote, a row of a table, a fence or a tag.
_BEGINS_BLOCK = lazy_pattern(r"[ \t]*(?:[-+*•][ \t]|\d{1,9}[.)][ \t]|[#>|<]|```|~~~)")
_ANY_COMMENT = lazy_pattern(r"`?<!--[^<>]{0,1000}-->`?")
_CELL_END = lazy_pattern(r"(?<!\\)\|")
# A line that the next one does not continue.
_BREAKS = lazy_pattern(r"[ \t]*(?:[#|<]|```|~~~)")
ENDS_SENTENCE = lazy_pattern(r"[.!?:;](?:[ \t]|$)")
_HEADING = lazy_pattern(r"^ {0,3}(#{1,6})[ \t]+([^\n]{0,300})", re.MULTILINE)
# The first line of a fence with a sample document, which may contain fences of its own.
_SAMPLE = lazy_pattern(
    r"[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})[ \t]*(?:markdown|md|mdx)\b", re.IGNORECASE
)
_FENCE_LINE = lazy_pattern(r"^[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})[ \t]*([^\s`]?)", re.MULTILINE)
# How many sample documents are looked for. A file may be a megabyte of fences.
_MAX_SAMPLES = 50
# At the end of the line above a fence: "Wrong:", "Do not run this:".
_COUNTEREXAMPLE = lazy_pattern(
    r"❌|✗|🚫|⛔|\b(?:wrong|bad|incorrect|don['’]t|do not|never|avoid|not allowed|forbidden|prohibited|anti-?patterns?|instead of|rather than|legacy"
    r"|deprecated|no longer)\b",
    re.IGNORECASE,
)


def _no_files(path: str, names: Sequence[str], folder: str) -> Iterable[tuple[str, str | None]]:
    return ()


def _no_files_anywhere(names: Sequence[str]) -> Iterable[tuple[str, str | None]]:
    return ()


def _exists_nowhere(target: str) -> bool:
    return False


@value
class LintContext:
    """What lint needs to know about the workspace, because it does not read the disk.

    `exists(path, name)` returns whether a file of this name exists next to the file at `path` or in a folder above it; if a third
    argument is true, only next to it. `count_tokens` counts the tokens in a string. `tools` are the names of the agent's tools, None if
    unknown. `follows_directives` is whether the layout expands `<!-- include: … -->`. `files_above(path, names, folder)` returns the
    files with these names that apply to the file at `path`, nearest first, with their content (None if unreadable); if `folder` is set,
    only those in that folder. `files_anywhere(names)` returns those in the whole workspace, or None if there are too many to look at.
    `exists_anywhere(target)` returns whether the path of any file in the workspace ends with `target`; True if there are too many files.
    """

    exists: Callable[..., bool]
    count_tokens: Callable[[str], int]
    tools: frozenset[str] | None = None
    follows_directives: bool = False
    files_above: Callable[[str, Sequence[str], str], Iterable[tuple[str, str | None]]] = _no_files
    files_anywhere: Callable[[Sequence[str]], Iterable[tuple[str, str | None]] | None] = _no_files_anywhere
    exists_anywhere: Callable[[str], bool] = _exists_nowhere


def _find_fences(text: str) -> list[tuple[int, int]]:
    """Return the span of each fence, where a sample document ends as its author meant, even if its inner fences have the same length."""
    found: list[tuple[int, int]] = []
    position = 0
    for _ in range(_MAX_SAMPLES):
        for start, end in fences(text[position:]):
            sample_end = _end_of_sample(text, position + start, position + end)
            found.append((position + start, sample_end or position + end))
            if sample_end:
                position = sample_end
                break
        else:
            return found
    return [*found, *((position + start, position + end) for start, end in fences(text[position:]))]


def _end_of_sample(text: str, start: int, end: int) -> int | None:
    """Return the end of a sample document in which another fence of the same kind is opened, or None if none is."""
    opening = _SAMPLE.match(text, start)
    if opening is None:
        return None
    depth, has_inner = 0, False
    for line in _FENCE_LINE.finditer(text, start):
        if line[1][0] != opening[1][0] or len(line[1]) < len(opening[1]):
            continue
        if not has_inner and line.start() >= end:
            return None
        is_opening = bool(line[2]) or _follows_colon(text, opening.end(), line.start(), depth)
        has_inner = has_inner or bool(depth and is_opening)
        depth += 1 if is_opening else -1
        if depth <= 0:
            return (text.find("\n", line.end()) + 1 or len(text)) if has_inner else None
    return len(text) if has_inner else None


def _follows_colon(text: str, start: int, end: int, depth: int) -> bool:
    """Whether a fence without a language in a whole document, which has front matter, is introduced: "Expected output:"."""
    above = text[max(end - _MAX_DISTANCE, start) : end].rstrip()
    return depth == 1 and above.endswith(":") and text.startswith("\n---", text.find("\n", start))


def _find_headings(source: SourceText) -> Iterator[tuple[int, str, str]]:
    """Yield the offset and the text of each heading, and of it with the headings above it, of which it is a part."""
    parents: list[tuple[int, str]] = []
    for match in _HEADING.finditer(source.text):
        if not source.is_fenced(match.start()):
            level = len(match[1])
            parents = [parent for parent in parents if parent[0] < level]
            parents.append((level, match[2]))
            # The first heading is the file's title, which is about everything in it.
            yield match.start(), match[2], "\n".join(text for depth, text in parents if depth > 1 or depth == level)


class SourceText:
    """The text that one file, or another origin, contributed to a prompt."""

    def __init__(
        self, path: str, text: str, section: str = "", lifetime: Lifetime = "conversation", kind: str = "file"
    ) -> None:
        self.path, self.text, self.section, self.lifetime, self.kind = path, text, section, lifetime, kind
        self._ends: list[int] | None = None
        self._fences: list[tuple[int, int]] | None = None
        self._ignore_comments: list[IgnoreComment] | None = None
        self._cached: dict[str, Any] = {}

    def cached(self, name: str, compute: Callable[[SourceText], N]) -> N:
        """Return the result of a function of this text, computed only once even if several prompts share the text."""
        if name not in self._cached:
            self._cached[name] = compute(self)
        result: N = self._cached[name]
        return result

    @property
    def is_file(self) -> bool:
        return self.kind in ("file", "skill")

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def reported_path(self) -> str:
        """The path to report in findings, or empty if the text is not in a file that a person can open."""
        return self.path if self.is_file or self.kind in ("template", "setting") else ""

    def line(self, offset: int) -> int:
        """Return the number of the line that contains a character."""
        if self._ends is None:
            self._ends = [match.start() for match in re.finditer("\n", self.text)]
        return bisect_right(self._ends, offset - 1) + 1

    def line_around(self, offset: int) -> str:
        """Return the line that contains a character, or only the part near it if the line is very long."""
        end = self.text.find("\n", offset, offset + _MAX_DISTANCE)
        return self.before(offset) + self.text[offset : end if end >= 0 else offset + _MAX_DISTANCE]

    def before(self, offset: int) -> str:
        """Return the part of the line before a character, or only the end of that part if the line is very long."""
        start = max(offset - _MAX_DISTANCE, 0)
        return self.text[max(self.text.rfind("\n", start, offset) + 1, start) : offset]

    def rest_of_sentence(self, offset: int) -> str:
        """Return the part of the sentence with a character that is in the next line, if it goes on there."""
        end = self.text.find("\n", offset, offset + _MAX_DISTANCE)
        following = self.line_around(end + 1) if end >= 0 else ""
        if ENDS_SENTENCE.search(self.text[offset:end]) or not following.strip() or _BEGINS_BLOCK.match(following):
            return ""
        return ENDS_SENTENCE.split(following)[0]

    def sentence_above(self, offset: int) -> str:
        """Return the part of the sentence with a character that is in the line above, if it begins there."""
        before = self.before(offset)
        start = offset - len(before)
        above = _ANY_COMMENT.sub("", self.before(start - 1)) if start else ""
        if ENDS_SENTENCE.search(before) or _BEGINS_BLOCK.match(before) or not above.strip() or _BREAKS.match(above):
            return ""
        return ENDS_SENTENCE.split(above)[-1]

    @property
    def fences(self) -> list[tuple[int, int]]:
        """The span of each fence, including its opening and closing lines. What a sample document contains belongs to it."""
        if self._fences is None:
            self._fences = _find_fences(self.text)
        return self._fences

    def is_fenced(self, offset: int) -> bool:
        index = bisect_right(self.fences, (offset, len(self.text) + 1)) - 1
        return index >= 0 and offset < self.fences[index][1]

    def fence_before(self, offset: int) -> str:
        """Return the part of a fence before a character in it, or empty if the character is not in a fence."""
        index = bisect_right(self.fences, (offset, len(self.text) + 1)) - 1
        return self.text[self.fences[index][0] : offset] if self.is_fenced(offset) else ""

    def is_counterexample(self, offset: int) -> bool:
        """Whether the line above the fence that contains a character says not to do what is in it."""
        if not self.is_fenced(offset):
            return False
        start = offset - len(self.fence_before(offset))
        above = self.text[max(start - _MAX_DISTANCE, 0) : start].rstrip().rpartition("\n")[2]
        return _COUNTEREXAMPLE.search(above) is not None

    @property
    def headings(self) -> list[str]:
        """The text of each heading, in order."""
        return [text for _, text, _ in self._headings]

    @property
    def title(self) -> str:
        """The first heading, or empty if there is none."""
        return next(iter(self.headings), "")

    def heading_above(self, offset: int) -> str:
        """Return the nearest heading above a character, or empty if there is none."""
        return self._heading_at(offset)[1]

    def headings_above(self, offset: int) -> str:
        """Return the nearest heading above a character and those of which it is a part, each on its own line."""
        return self._heading_at(offset)[2]

    @property
    def _headings(self) -> list[tuple[int, str, str]]:
        return self.cached("headings", lambda source: list(_find_headings(source)))

    def _heading_at(self, offset: int) -> tuple[int, str, str]:
        index = bisect_right(self._headings, (offset, "", "")) - 1
        return self._headings[index] if index >= 0 else (0, "", "")

    def section_before(self, offset: int) -> str:
        """Return the text from the nearest heading above a character to the end of its line, or the end of that text if it is very long."""
        start = max(self._heading_at(offset)[0], offset - _MAX_SECTION)
        end = self.text.find("\n", offset, offset + _MAX_DISTANCE)
        return self.text[start : end if end >= 0 else offset + _MAX_DISTANCE]

    def list_above(self, offset: int) -> tuple[str, str]:
        """Return the line that introduces the list with a character, and the items above it; both empty if it is in no list."""
        start = offset - len(self.before(offset))
        if not _IN_LIST.match(self.line_around(start)):
            return "", ""
        end = start
        for _ in range(_MAX_ROWS):
            above = self.before(max(start - 1, 0))
            if start == 0 or (above.strip() and not _IN_LIST.match(above)):
                return above.strip() if start else "", self.text[start:end]
            start -= len(above) + 1
        return "", self.text[start:end]

    def introduces_fence(self, offset: int) -> bool:
        """Whether a fence follows the line that contains a character: what the line names is shown there."""
        end = self.text.find("\n", offset, offset + _MAX_DISTANCE)
        below = self.text[end : end + 200].lstrip() if end >= 0 else ""
        return below.startswith(("```", "~~~"))

    def table_head(self, offset: int) -> str:
        """Return the first row of the table that contains a character, or empty if it is not in a table or far above."""
        head = ""
        start = offset - len(self.before(offset))
        for _ in range(_MAX_ROWS):
            if not self.text[start : start + _MAX_DISTANCE].lstrip(" \t").startswith("|"):
                return head
            head = self.line_around(start)
            if start == 0:
                return head
            start = self.text.rfind("\n", 0, start - 1) + 1
        return ""

    def column_head(self, offset: int) -> str:
        """Return the first cell of the column that contains a character, or empty if it is not in a table."""
        cells = _CELL_END.split(self.table_head(offset).strip())
        column = len(_CELL_END.split(self.before(offset).lstrip())) - 1
        return cells[column] if column < len(cells) else ""

    def is_code(self, offset: int) -> bool:
        """Whether a character is in a fence or, judging by its line alone, in a code span."""
        return self.is_fenced(offset) or self.before(offset).count("`") % 2 == 1

    @property
    def ignore_comments(self) -> list[IgnoreComment]:
        """The comments in the text that tell lint to ignore checks."""
        if self._ignore_comments is None:
            self._ignore_comments = list(_find_ignore_comments(self)) if "foreword:" in self.text else []
        return self._ignore_comments

    def suppresses(self, finding: Finding) -> bool:
        """Whether a comment tells lint to ignore this finding."""
        return any(
            comment.covers(finding) for comment in self.cached("by check", _comments_by_check).get(finding.code, ())
        )


@value
class IgnoreComment:
    """A comment that tells lint to ignore checks on some lines."""

    line: int
    checks: Sequence[str]
    lines: tuple[int, int]

    def covers(self, finding: Finding) -> bool:
        first, last = self.lines
        return self.lines == _ALL_LINES or (finding.line is not None and first <= finding.line <= last)


def _comments_by_check(source: SourceText) -> dict[str, list[IgnoreComment]]:
    comments: dict[str, list[IgnoreComment]] = {}
    for comment in source.ignore_comments:
        for check in comment.checks:
            comments.setdefault(check, []).append(comment)
    return comments


_MAX_COMMENTS = 200


def _find_ignore_comments(source: SourceText) -> Iterator[IgnoreComment]:
    """Yield the ignore comments. Their number is limited, because otherwise an untrusted file could keep lint busy for hours.

    `ignore-file` applies to the file. Otherwise, a comment applies to its line or, if it is alone on that line, to the next paragraph.
    """
    text = source.text
    for match in islice(_COMMENT.finditer(text), _MAX_COMMENTS):
        if source.is_code(match.start()):
            continue
        line = source.line(match.start())
        names = tuple(re.findall(r"[\w-]+", match[2]))
        if match[1] == "ignore-file":
            yield IgnoreComment(line, names, _ALL_LINES)
        elif source.line_around(match.start()).strip() != match[0]:
            yield IgnoreComment(line, names, (line, line))
        else:
            begin = re.compile(r"\S").search(text, match.end())
            start = begin.start() if begin else len(text)
            end = text.find("\n\n", start)
            last = source.line(end if end >= 0 else len(text))
            yield IgnoreComment(line, names, (source.line(start), last))


def source_texts(prompt: Prompt, cache: SourceCache) -> list[SourceText]:
    """Return the texts of a prompt by origin, in order of appearance. Texts in `cache` are reused."""
    texts: dict[tuple[str, str], list[str]] = {}
    lines: dict[tuple[str, str], int] = {}
    sections: dict[tuple[str, str], tuple[str, Lifetime]] = {}
    for passage in prompt.passages:
        for piece in passage.pieces:
            key = (piece.origin.kind, piece.origin.path)
            if key[0] not in _WRITTEN_BY_PEOPLE:
                continue
            first = piece.origin.lines[0] if piece.origin.lines else lines.get(key, 1)
            # Blank lines replace omitted text, so that line numbers match the file.
            texts.setdefault(key, []).append("\n" * (first - lines.get(key, 1)))
            texts[key].append(piece.text)
            lines[key] = max(first, lines.get(key, 1)) + piece.text.count("\n")
            sections.setdefault(key, (passage.section, passage.lifetime))
    sources = []
    for kind, path in texts:
        source_key = (path, "".join(texts[kind, path]), *sections[kind, path], kind)
        sources.append(cache.setdefault(source_key, SourceText(*source_key)))
    return sources


def skill_texts(skills: Iterable[Document]) -> list[SourceText]:
    """Return the texts of complete SKILL.md files, which enter a conversation when the skill is used."""
    return [SourceText(skill.path, "\n" * (skill.line - 1) + skill.text, "skills", "turn", "skill") for skill in skills]
