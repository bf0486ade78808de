"""Recognizes texts whose paths need not exist: records of changes, templates that nobody has filled in, and what a tool writes."""

from __future__ import annotations

import re

from .patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .source_text import SourceText

_CHANGES = r"change[ _-]?logs?\b|変更履歴|更新履歴|更新日志|变更日志|变更记录|更新记录|변경 이력"
_RECORD_NAME = lazy_pattern(
    r"(?:.*[_.-])?change[_-]?log(?:[_.-].*)?|(?:project|session)?[_-]?(?:history|archive)", re.IGNORECASE
)
_RECORD_TITLE = lazy_pattern(
    rf"{_CHANGES}|^\W*(?:history|archive)\b|\b(?:change|version|revision|release|session|project|development)[ -]history\b",
    re.IGNORECASE,
)
# Of a section: "## Changelog", "## Session 2026-02-01"
_RECORD_HEADING = lazy_pattern(
    rf"{_CHANGES}|(?<![\d-])20\d\d([-/.])\d{{1,2}}\1\d{{1,2}}(?!\d)|20\d\d年\d{{1,2}}月\d", re.IGNORECASE
)
_UNFILLED = lazy_pattern(r"(?<![`{$])\{\{[ \t]*[A-Za-z][\w -]{0,60}\}\}(?![`}])")
# "GENERATED FILE", "do not edit this copy", but not "do not edit files in dist".
_GENERATED = lazy_pattern(
    r"(?:^|<!--)[ \t>#*_]*(?:this is an? )?generated file\b|\b(?:auto-?generated|generated (?:by|from)|(?:do not|don['’]t) (?:edit|modify)"
    r"(?:[ \t]+(?:this|it|by hand|here|directly|manually)\b|[ \t]*(?:[.!;,:)*]|-->|[-—–]|$)))",
    re.IGNORECASE | re.MULTILINE,
)
# A file says in its first lines that it is generated.
_MAX_NOTICE = 600
_COMMENT = lazy_pattern(r"<!--([^<>\n]{1,80})-->")
# Comments of people that turn a tool off come in pairs too.
_MARK = lazy_pattern(r"(?<![a-z])(?:(start|begin)|end)(?![a-z])", re.IGNORECASE)
_IS_SWITCH = lazy_pattern(r"ignore|disable|enable", re.IGNORECASE)


# In the front matter: "status: deprecated".
_OUTDATED = lazy_pattern(
    r"---[ \t]*\n(?:(?!---)[^\n]{0,500}\n){0,30}?(?:status:[ \t]*[\"']?(?:deprecated|archived|superseded|obsolete)\b|deprecated:[ \t]*true\b)",
    re.IGNORECASE,
)


def is_record(source: SourceText, offset: int) -> bool:
    """Whether this part of a text records changes, or the text says that it is outdated. Its paths may be gone now."""
    if _RECORD_HEADING.search(source.headings_above(offset)):
        return True
    return source.cached("is record", _is_record)


def _is_record(source: SourceText) -> bool:
    if _OUTDATED.match(source.text):
        return True
    stem = source.name.rpartition(".")[0]
    return _RECORD_NAME.fullmatch(stem) is not None or _RECORD_TITLE.search(source.title) is not None


def is_unfilled(source: SourceText) -> bool:
    """Whether a file is a template in whose headings nobody has filled in the names."""
    return source.cached("is unfilled", lambda text: any(map(_UNFILLED.search, text.headings)))


def is_generated(source: SourceText) -> bool:
    """Whether a file says that a tool writes it."""
    return _GENERATED.search(source.text, 0, _MAX_NOTICE) is not None


def has_text_of_tool(source: SourceText) -> bool:
    """Whether a tool writes a file or a part of it."""
    return is_generated(source) or bool(_parts(source))


def is_written_by_tool(source: SourceText, offset: int) -> bool:
    """Whether a tool writes this part of a file: it is between comments such as `<!-- X:START -->` and `<!-- X:END -->`."""
    return any(start <= offset < end for start, end in _parts(source))


def _parts(source: SourceText) -> list[tuple[int, int]]:
    return source.cached("parts of tools", lambda text: list(_find_parts(text)))


def _find_parts(source: SourceText) -> Iterator[tuple[int, int]]:
    """Yield the span of each part between such comments."""
    opened: dict[str, int] = {}
    for comment in _COMMENT.finditer(source.text):
        mark = _MARK.search(comment[1])
        if mark is None or _IS_SWITCH.search(comment[1]):
            continue
        name = _MARK.sub("", comment[1]).strip(" \t:_-").lower()
        if mark[1]:
            opened.setdefault(name, comment.start())
        elif name in opened:
            yield opened.pop(name), comment.end()
