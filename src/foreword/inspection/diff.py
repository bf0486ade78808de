"""Finds how two prompts differ: by section, then by word, with the cause of each change.

`changes.py` decides which sections and tools differ. The cause of a change is the origin of the words that were added or removed. If
those words belong to the layout, the cause is whatever made the layout use them: a different layout, tools or agent.
"""

from __future__ import annotations

from ..text.lines import printable
from ..text.words import changed_spans
from ..vocabulary import value
from .changes import BETWEEN_SECTIONS, WHOLE_PROMPT, ChangedParts, Names, find_changes, prompt_side
from .subject import OriginIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..vocabulary import Passage, Prompt
    from .changes import Changes, Kind, SectionChange
    from .subject import OriginSpan, Subject

# The name of each kind of origin as a cause, most specific first, because a wrapper changes only if its content does.
CAUSE_NAMES = {
    "file": "file",
    "skill": "skill",
    "resident": "resident",
    "caller": "caller",
    "tool": "tool",
    "scope": "scope",
    "extension": "extension",
    "variable": "variable",
    "template": "template",
    "environment": "environment",
    "layout": "layout",
    "setting": "setting",
    "builtin": "base text",
    "mark": "mark",
}
_LAYOUT_ORIGINS = ("layout", "builtin", "mark")
_CLOCK_NAMES = ("now", "date", "time", "datetime", "system:time", "system:date")


@value
class Cause:
    """The cause of a change: the kind of origin, its path or name, its lines, and a note on what happened to it."""

    kind: str
    path: str = ""
    lines: tuple[int, int] | None = None
    note: str = ""


@value
class Edit:
    """Changed words: their spans in the old and the new text, and the causes."""

    old: tuple[int, int]
    new: tuple[int, int]
    causes: Sequence[Cause] = ()


@value
class SectionDiff:
    """A section that differs. `old` and `new` are its spans, or None if it is missing; its positions in the prompts count from 1."""

    section: str
    kinds: Sequence[Kind]
    old: tuple[int, int] | None
    new: tuple[int, int] | None
    old_place: int = 0
    new_place: int = 0
    edits: Sequence[Edit] = ()
    causes: Sequence[Cause] = ()
    sources: Sequence[str] = ()


@value
class Difference(ChangedParts):
    """Everything that differs. `circumstances` contains the differences in what the prompts were built for, as (name, old, new)."""

    sections: Sequence[SectionDiff]
    tools: Names
    circumstances: Sequence[tuple[str, str, str]]


def compare(old: Subject, new: Subject) -> Difference:
    """Compare two prompts, and find the cause of each difference."""
    return difference_of(find_changes(prompt_side(old.prompt, old.tools), prompt_side(new.prompt, new.tools)), old, new)


def difference_of(changes: Changes, old: Subject, new: Subject) -> Difference:
    """Return the differences between two prompts of which the changes are known, with the cause of each."""
    circumstances = list(_circumstances(old, new))
    finder = _CauseFinder(old.prompt, new.prompt, changes.tools, circumstances)
    sections = [_diff_section(section, changes, old.prompt, new.prompt, finder) for section in changes.sections]
    return Difference(sections, changes.tools, circumstances)


# Sections


def _diff_section(
    change: SectionChange, changes: Changes, old: Prompt, new: Prompt, finder: _CauseFinder
) -> SectionDiff:
    """Compare the words of a changed section."""
    if change.old is not None or change.new is not None:
        return _named_section(change, old, new, finder)
    if change.section == WHOLE_PROMPT:
        edits = [finder.edit((a, b), (c, d)) for a, b, c, d in changed_spans(old.text, new.text)]
        return _diff_whole(WHOLE_PROMPT, old, new, edits, [cause for edit in edits for cause in edit.causes])
    edits = [Edit(old_span, new_span, [finder.cause_of_order()]) for old_span, new_span in changes.gaps]
    return _diff_whole(BETWEEN_SECTIONS, old, new, edits, [finder.cause_of_order()])


def _named_section(change: SectionChange, old: Prompt, new: Prompt, finder: _CauseFinder) -> SectionDiff:
    before, old_span, old_place = _passage_at(old, change.old)
    after, new_span, new_place = _passage_at(new, change.new)
    edits: list[Edit] = []
    if before is None and after is not None:
        causes = finder.causes_of_added(after.start, after.end)
    elif after is None and before is not None:
        causes = finder.causes_of_removed(before.start, before.end)
    else:
        edits = _edits(before, after, finder) if before and after and "changed" in change.kinds else []
        causes = [cause for edit in edits for cause in edit.causes]
        if "moved" in change.kinds:
            causes.append(finder.cause_of_order())
    return SectionDiff(
        change.section,
        change.kinds,
        old_span,
        new_span,
        old_place,
        new_place,
        edits,
        merge_causes(causes),
        change.sources,
    )


def _passage_at(prompt: Prompt, number: int | None) -> tuple[Passage | None, tuple[int, int] | None, int]:
    """Return a passage by its number, with its span and its position counted from 1, or (None, None, 0) if the number is None."""
    if number is None:
        return None, None, 0
    passage = prompt.passages[number]
    return passage, (passage.start, passage.end), number + 1


def _diff_whole(name: str, old: Prompt, new: Prompt, edits: Sequence[Edit], causes: Sequence[Cause]) -> SectionDiff:
    """Compare two whole texts as one section, for texts without sections and for the text between sections."""
    return SectionDiff(name, ("changed",), (0, len(old.text)), (0, len(new.text)), 1, 1, edits, merge_causes(causes))


def _edits(before: Passage, after: Passage, finder: _CauseFinder) -> list[Edit]:
    return [
        finder.edit((before.start + a, before.start + b), (after.start + c, after.start + d))
        for a, b, c, d in changed_spans(before.text, after.text)
    ]


# Causes


class _CauseFinder:
    """Finds the causes of changes between two prompts."""

    def __init__(self, old: Prompt, new: Prompt, tools: Names, circumstances: Sequence[tuple[str, str, str]]) -> None:
        self.old, self.new = OriginIndex(old), OriginIndex(new)
        self._old_fates = {candidate.path: candidate.fate for candidate in old.candidates}
        self._new_fates = {candidate.path: candidate.fate for candidate in new.candidates}
        self._tools, self._circumstances = tools, circumstances

    def edit(self, old: tuple[int, int], new: tuple[int, int]) -> Edit:
        removed = self.old.find(*old) if old[0] < old[1] else []
        added = self.new.find(*new) if new[0] < new[1] else []
        by_section: dict[str, list[Cause]] = {}
        for spans, fates, when in ((removed, self._new_fates, "now"), (added, self._old_fates, "was")):
            for span in spans:
                by_section.setdefault(span.section, []).extend(self._causes([span], fates, when))
        return Edit(
            old, new, merge_causes(cause for causes in by_section.values() for cause in self._most_specific(causes))
        )

    def causes_of_added(self, start: int, end: int) -> list[Cause]:
        return self._most_specific(self._causes(self.new.find(start, end), self._old_fates, "was"))

    def causes_of_removed(self, start: int, end: int) -> list[Cause]:
        return self._most_specific(self._causes(self.old.find(start, end), self._new_fates, "now"))

    def cause_of_order(self) -> Cause:
        """Return the cause of a change in order, which is always the layout."""
        return next((self._circumstance(row) for row in self._circumstances if row[0] == "layout"), Cause("layout"))

    def _causes(self, spans: Iterable[OriginSpan], fates: Mapping[str, str], when: str) -> Iterator[Cause]:
        for span in spans:
            origin = span.origin
            if not origin.kind:
                continue
            fate = fates.get(origin.path, "used") if origin.kind in ("file", "skill", "resident") else "used"
            yield cause_of(span, "" if fate in ("used", "cut") else f"{when} {fate}")

    def _most_specific(self, causes: Iterable[Cause]) -> list[Cause]:
        """Return the most specific causes. If only the layout's words changed, these include what made the layout use them."""
        merged = merge_causes(causes)
        layout_causes = {CAUSE_NAMES[kind] for kind in _LAYOUT_ORIGINS}
        others = [cause for cause in merged if cause.kind not in layout_causes]
        specific = [cause for cause in others if cause.kind != "environment"]
        if others or not merged:
            return specific or others
        return merge_causes([*self._agent_causes(), *merged])

    def _agent_causes(self) -> Iterator[Cause]:
        for row in self._circumstances:
            yield self._circumstance(row)
        for change, names in (("added", self._tools.added), ("removed", self._tools.removed)):
            yield from (Cause("tool", name, None, change) for name in names)

    @staticmethod
    def _circumstance(row: tuple[str, str, str]) -> Cause:
        name, before, after = row
        change = f"{before or 'none'} → {after or 'none'}"
        return Cause("layout", "", None, change) if name == "layout" else Cause("agent", name, None, change)


def cause_of(span: OriginSpan, note: str = "") -> Cause:
    """Return the origin of a span as the cause of a change."""
    origin = span.origin
    is_clock = origin.kind in ("environment", "variable") and origin.path.partition(".")[0] in _CLOCK_NAMES
    return Cause("clock" if is_clock else CAUSE_NAMES.get(origin.kind, origin.kind), origin.path, span.lines, note)


def merge_causes(causes: Iterable[Cause]) -> list[Cause]:
    """Merge the causes with the same origin into one, with the range of all their lines."""
    merged: dict[tuple[str, str], Cause] = {}
    for cause in causes:
        earlier = merged.get((cause.kind, cause.path))
        if earlier is None:
            merged[cause.kind, cause.path] = cause
        else:
            lines = (
                (min(earlier.lines[0], cause.lines[0]), max(earlier.lines[1], cause.lines[1]))
                if earlier.lines and cause.lines
                else earlier.lines or cause.lines
            )
            merged[cause.kind, cause.path] = Cause(cause.kind, cause.path, lines, earlier.note or cause.note)
    return list(merged.values())


def _circumstances(old: Subject, new: Subject) -> Iterator[tuple[str, str, str]]:
    rows = [("layout", old.prompt.layout, new.prompt.layout)] if old.prompt.layout and new.prompt.layout else []
    rows += [(name, old.built_for[name], new.built_for[name]) for name in old.built_for if name in new.built_for]
    yield from (row for row in rows if row[1] != row[2])


def describe_cause(cause: Cause) -> str:
    """Describe a cause, for example as `AGENTS.md:3-5 (now absent)`."""
    place = printable(cause.path)
    if cause.lines:
        first, last = cause.lines
        place += f":{first}" if first == last else f":{first}-{last}"
    kind = "" if cause.kind in ("file", "skill", "resident", "template") and place else cause.kind
    return " ".join(filter(None, (kind, place))) + (f" ({cause.note})" if cause.note else "")
