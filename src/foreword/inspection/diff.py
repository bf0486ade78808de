"""How two prompts differ: section by section, then word by word, and what caused each change.

Which sections and tools differ is the answer of `changes.py`. The cause of a change is the origin of the words that were added or removed; where those are the
layout's own, it is whatever made the layout speak otherwise: another layout, other tools, another agent.
"""

from __future__ import annotations

from ..text.lines import printable
from ..text.words import changed_spans
from ..vocabulary import value
from .changes import BETWEEN, WHOLE, Names, changes, section_names, sent
from .subject import OriginIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..vocabulary import Passage, Prompt
    from .changes import Changes, Kind, SectionChange
    from .subject import OriginSpan, Subject

# What each kind of origin is called as a cause, the most telling first: the words of a wrapper change because of what they wrap.
CAUSES = {
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
_OWN = ("layout", "builtin", "mark")  # what a layout says itself
_CLOCKS = ("now", "date", "time", "datetime", "system:time", "system:date")


@value
class Cause:
    """What made a change: a kind of origin, its path or name, the lines there, and what became of it."""

    kind: str
    path: str = ""
    lines: tuple[int, int] | None = None
    note: str = ""


@value
class Edit:
    """Words that changed: where they stood in the old text, where the new ones stand, and why."""

    old: tuple[int, int]
    new: tuple[int, int]
    causes: Sequence[Cause] = ()


@value
class SectionDiff:
    """A section that is different. `old` and `new` are its spans, None where it is missing; the places count from 1."""

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
class Difference:
    """All that differs. `circumstances` are what the prompts were made for and with: name, old, new."""

    sections: Sequence[SectionDiff]
    tools: Names
    circumstances: Sequence[tuple[str, str, str]]

    @property
    def is_changed(self) -> bool:
        """True if and only if the texts or the tool definitions differ."""
        return bool(self.sections) or self.tools.has_any

    @property
    def section_names(self) -> Names:
        return section_names(self.sections)


def compare(old: Subject, new: Subject) -> Difference:
    """How the new prompt differs from the old one."""
    found = changes(sent(old.prompt, old.tools), sent(new.prompt, new.tools))
    circumstances = list(_circumstances(old, new))
    why = _Why(old.prompt, new.prompt, found.tools, circumstances)
    sections = [_section(each, found, old.prompt, new.prompt, why) for each in found.sections]
    return Difference(sections, found.tools, circumstances)


# Section by section


def _section(change: SectionChange, found: Changes, old: Prompt, new: Prompt, why: _Why) -> SectionDiff:
    """A changed section with the words that changed in it."""
    if change.section == WHOLE and change.old is None and change.new is None:
        edits = [why.edit((a, b), (c, d)) for a, b, c, d in changed_spans(old.text, new.text)]
        return _whole(WHOLE, old, new, edits, [cause for edit in edits for cause in edit.causes])
    if change.section == BETWEEN and change.old is None and change.new is None:
        edits = [Edit(one, other, [why.order()]) for one, other in found.gaps]
        return _whole(BETWEEN, old, new, edits, [why.order()])
    before = old.passages[change.old] if change.old is not None else None
    after = new.passages[change.new] if change.new is not None else None
    places = (0 if change.old is None else change.old + 1, 0 if change.new is None else change.new + 1)
    edits = _edits(before, after, why) if "changed" in change.kinds and before and after else []
    causes = [cause for edit in edits for cause in edit.causes]
    if "added" in change.kinds and after:
        causes = why.added(after.start, after.end)
    elif "removed" in change.kinds and before:
        causes = why.removed(before.start, before.end)
    elif "moved" in change.kinds:
        causes.append(why.order())
    spans = [(each.start, each.end) if each else None for each in (before, after)]
    return SectionDiff(
        change.section, change.kinds, spans[0], spans[1], *places, edits, _each_once(causes), change.sources
    )


def _whole(name: str, old: Prompt, new: Prompt, edits: Sequence[Edit], causes: Sequence[Cause]) -> SectionDiff:
    """Two texts as one section: where no sections are known, or for the text between them."""
    return SectionDiff(name, ("changed",), (0, len(old.text)), (0, len(new.text)), 1, 1, edits, _each_once(causes))


def _edits(before: Passage, after: Passage, why: _Why) -> list[Edit]:
    return [
        why.edit((before.start + a, before.start + b), (after.start + c, after.start + d))
        for a, b, c, d in changed_spans(before.text, after.text)
    ]


# What caused it


class _Why:
    """Finds the causes of changes between two prompts."""

    def __init__(self, old: Prompt, new: Prompt, tools: Names, circumstances: Sequence[tuple[str, str, str]]) -> None:
        self.old, self.new = OriginIndex(old), OriginIndex(new)
        self._old_fates = {each.path: each.fate for each in old.candidates}
        self._new_fates = {each.path: each.fate for each in new.candidates}
        self._tools, self._circumstances = tools, circumstances

    def edit(self, old: tuple[int, int], new: tuple[int, int]) -> Edit:
        gone = self.old.of(*old) if old[0] < old[1] else []
        came = self.new.of(*new) if new[0] < new[1] else []
        by_section: dict[str, list[Cause]] = {}
        for places, fates, when in ((gone, self._new_fates, "now"), (came, self._old_fates, "was")):
            for place in places:
                by_section.setdefault(place.section, []).extend(self._causes([place], fates, when))
        return Edit(old, new, _each_once(each for causes in by_section.values() for each in self._telling(causes)))

    def added(self, start: int, end: int) -> list[Cause]:
        return self._telling(self._causes(self.new.of(start, end), self._old_fates, "was"))

    def removed(self, start: int, end: int) -> list[Cause]:
        return self._telling(self._causes(self.old.of(start, end), self._new_fates, "now"))

    def order(self) -> Cause:
        """Order is the layout's."""
        return next((self._circumstance(row) for row in self._circumstances if row[0] == "layout"), Cause("layout"))

    def _causes(self, places: Iterable[OriginSpan], fates: Mapping[str, str], when: str) -> Iterator[Cause]:
        for place in places:
            origin = place.origin
            if not origin.kind:
                continue
            fate = fates.get(origin.path, "used") if origin.kind in ("file", "skill", "resident") else "used"
            yield cause_of(place, "" if fate in ("used", "cut") else f"{when} {fate}")

    def _telling(self, causes: Iterable[Cause]) -> list[Cause]:
        """Without the wrapper's own words where something else changed them; the layout's own words, with what made it say them."""
        found = _each_once(causes)
        own = {CAUSES[kind] for kind in _OWN}
        others = [each for each in found if each.kind not in own]
        strong = [each for each in others if each.kind != "environment"]
        if others or not found:
            return strong or others
        return _each_once([*self._of_the_agent(), *found])

    def _of_the_agent(self) -> Iterator[Cause]:
        for row in self._circumstances:
            yield self._circumstance(row)
        for how, names in (("added", self._tools.added), ("removed", self._tools.removed)):
            yield from (Cause("tool", name, None, how) for name in names)

    @staticmethod
    def _circumstance(row: tuple[str, str, str]) -> Cause:
        name, before, after = row
        change = f"{before or 'none'} → {after or 'none'}"
        return Cause("layout", "", None, change) if name == "layout" else Cause("agent", name, None, change)


def cause_of(place: OriginSpan, note: str = "") -> Cause:
    """A place as the cause of a change."""
    origin = place.origin
    is_clock = origin.kind in ("environment", "variable") and origin.path.partition(".")[0] in _CLOCKS
    return Cause("clock" if is_clock else CAUSES.get(origin.kind, origin.kind), origin.path, place.lines, note)


def _each_once(causes: Iterable[Cause]) -> list[Cause]:
    """Each place once, with all of its lines."""
    found: dict[tuple[str, str], Cause] = {}
    for each in causes:
        known = found.get((each.kind, each.path))
        if known is None:
            found[each.kind, each.path] = each
        else:
            lines = (
                (min(known.lines[0], each.lines[0]), max(known.lines[1], each.lines[1]))
                if known.lines and each.lines
                else known.lines or each.lines
            )
            found[each.kind, each.path] = Cause(each.kind, each.path, lines, known.note or each.note)
    return list(found.values())


def _circumstances(old: Subject, new: Subject) -> Iterator[tuple[str, str, str]]:
    rows = [("layout", old.prompt.layout, new.prompt.layout)] if old.prompt.layout and new.prompt.layout else []
    rows += [(name, old.made_for[name], new.made_for[name]) for name in old.made_for if name in new.made_for]
    yield from (row for row in rows if row[1] != row[2])


def describe_cause(cause: Cause) -> str:
    """A cause as a person reads it."""
    place = printable(cause.path)
    if cause.lines:
        first, last = cause.lines
        place += f":{first}" if first == last else f":{first}-{last}"
    kind = "" if cause.kind in ("file", "skill", "resident", "template") and place else cause.kind
    return " ".join(filter(None, (kind, place))) + (f" ({cause.note})" if cause.note else "")
