"""Groups the changed words of a section into hunks of whole lines, for every way to print a difference. Hunks never overlap."""

from __future__ import annotations

from ..vocabulary import value
from .diff import merge_causes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .diff import Cause, Edit

    Span = tuple[int, int]


@value
class Hunk:
    """Neighbouring lines that differ: their spans in the old and the new text without the last newline, the edits in them, and the causes."""

    old: Span
    new: Span
    edits: Sequence[Edit]
    causes: Sequence[Cause]


def find_hunks(edits: Sequence[Edit], old: str, new: str) -> list[Hunk]:
    """Return the edits in hunks: each is extended to whole lines, and merged with the one before it if no line is between them."""
    hunks: list[Hunk] = []
    for edit in edits:
        span_old, span_new = _whole_lines(old, *edit.old), _whole_lines(new, *edit.new)
        last = hunks[-1] if hunks else None
        if last and (span_old[0] <= last.old[1] + 1 or span_new[0] <= last.new[1] + 1):
            hunks[-1] = Hunk(
                (last.old[0], max(span_old[1], last.old[1])),
                (last.new[0], max(span_new[1], last.new[1])),
                (*last.edits, edit),
                _join_causes(last.causes, edit.causes),
            )
        else:
            hunks.append(Hunk(span_old, span_new, (edit,), edit.causes))
    return hunks


def _join_causes(*groups: Sequence[Cause]) -> list[Cause]:
    """Return the causes of several edits. A path in a wrapper changes because the file does, so the file is enough."""
    causes = merge_causes(cause for group in groups for cause in group)
    return [cause for cause in causes if cause.kind != "environment"] or causes


def split_hunk(hunk: Hunk, old: str, new: str) -> list[Hunk]:
    """Return a hunk in parts that share no line, such as a line with changed words and the lines that were added below it.

    A part without lines in one of the texts has a span there that ends one character before it starts.
    """
    parts: list[Hunk] = []
    for edit in hunk.edits:
        span_old, span_new = _own_lines(edit, old, new)
        last = parts[-1] if parts else None
        if last and (span_old[0] <= last.old[1] or span_new[0] <= last.new[1]):
            parts[-1] = Hunk(
                (last.old[0], max(span_old[1], last.old[1])),
                (last.new[0], max(span_new[1], last.new[1])),
                (*last.edits, edit),
                hunk.causes,
            )
        else:
            parts.append(Hunk(span_old, span_new, (edit,), hunk.causes))
    return parts


def _own_lines(edit: Edit, old: str, new: str) -> tuple[Span, Span]:
    """Return the lines that an edit changes: if it only adds or removes whole lines, without the line next to them."""
    sides = ((old, *edit.old), (new, *edit.new))
    starts_after_line = all(text[start : start + 1] in ("", "\n") for text, start, _ in sides)
    ends_before_line = all(
        text[:start][-1:] in ("", "\n") and text[:end][-1:] in ("", "\n") for text, start, end in sides
    )
    spans = []
    for text, start, end in sides:
        first, last = _whole_lines(text, start, end)
        if starts_after_line and all(stop == begin or body[begin] == "\n" for body, begin, stop in sides):
            first = start + 1
            last = last if end > start else start
        elif ends_before_line:
            last = end - 1
        spans.append((first, last))
    return spans[0], spans[1]


def changed_lines(hunk: Hunk, old: str, new: str) -> tuple[list[str], list[str]]:
    """Return the removed and the added lines of a hunk, without those that both begin or end with."""
    removed, added = _lines(old, *hunk.old), _lines(new, *hunk.new)
    while removed and added and removed[0] == added[0]:
        del removed[0], added[0]
    while removed and added and removed[-1] == added[-1]:
        del removed[-1], added[-1]
    return removed, added


def _lines(text: str, start: int, end: int) -> list[str]:
    return text[start:end].split("\n") if start <= end else []


def _whole_lines(text: str, start: int, end: int) -> Span:
    stop = text.find("\n", end)
    return text.rfind("\n", 0, start) + 1, len(text) if stop < 0 else stop
