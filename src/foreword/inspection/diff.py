"""How two prompts differ: section by section, then word by word, and what caused each change.

A section came, went, moved or changed. The cause of a change is the origin of the words that are new or gone; where those are the
layout's own, it is whatever made the layout speak otherwise: another layout, other tools, another agent.
"""

from __future__ import annotations

from ..vocabulary import printable, value
from .subject import Places
from .words import changed_spans, longest_rise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ..vocabulary import Passage, Prompt
    from .subject import Place, Subject

    Keyed = dict[tuple[str, int], Passage]

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
WHOLE, BETWEEN = "(whole prompt)", "(between sections)"


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
    """A section that is not as it was. `old` and `new` are its spans, None where it is not there; the places count from 1."""

    section: str
    changes: Sequence[str]
    old: tuple[int, int] | None
    new: tuple[int, int] | None
    old_place: int = 0
    new_place: int = 0
    edits: Sequence[Edit] = ()
    causes: Sequence[Cause] = ()


@value
class ToolsDiff:
    """Tools that came, went or read otherwise, and whether those that stayed stand in another order."""

    came: Sequence[str] = ()
    went: Sequence[str] = ()
    changed: Sequence[str] = ()
    is_reordered: bool = False

    @property
    def has_any(self) -> bool:
        return bool(self.came or self.went or self.changed or self.is_reordered)


@value
class Difference:
    """All that differs. `circumstances` are what the prompts were made for and with: name, old, new."""

    sections: Sequence[SectionDiff]
    tools: ToolsDiff
    circumstances: Sequence[tuple[str, str, str]]

    @property
    def has_any(self) -> bool:
        return bool(self.sections or self.tools.has_any)


def compare(old: Subject, new: Subject) -> Difference:
    """How the new prompt differs from the old one."""
    tools = ToolsDiff() if old.tools is None or new.tools is None else _tools(old.tools, new.tools)
    circumstances = list(_circumstances(old, new))
    why = _Why(old.prompt, new.prompt, tools, circumstances)
    if old.is_plain or new.is_plain:
        sections = _whole(old.prompt.text, new.prompt.text, WHOLE, why)
    else:
        sections = list(_sections(old.prompt, new.prompt, why))
        if not sections:
            sections = _whole(old.prompt.text, new.prompt.text, BETWEEN, why)
    return Difference(sections, tools, circumstances)


# Section by section


def _sections(old: Prompt, new: Prompt, why: _Why) -> Iterator[SectionDiff]:
    """In the order of the new prompt; what went is told where it stood."""
    before, after = _keyed(old.passages), _keyed(new.passages)
    old_places = {key: place for place, key in enumerate(before, 1)}
    moved = _moved([key for key in after if key in before], old_places)
    gone = [key for key in before if key not in after]
    for place, (key, passage) in enumerate(after.items(), 1):
        while gone and old_places[gone[0]] <= old_places.get(key, 0):
            yield _went(before[gone[0]], old_places[gone.pop(0)], why)
        if key not in before:
            span = (passage.start, passage.end)
            yield SectionDiff(passage.section, ("came",), None, span, 0, place, (), why.came(*span))
            continue
        changes = [*(["moved"] if key in moved else []), *(["changed"] if before[key].text != passage.text else [])]
        if changes:
            yield _changed(changes, before[key], passage, (old_places[key], place), why)
    for key in gone:
        yield _went(before[key], old_places[key], why)


def _went(passage: Passage, place: int, why: _Why) -> SectionDiff:
    span = (passage.start, passage.end)
    return SectionDiff(passage.section, ("went",), span, None, place, 0, (), why.went(*span))


def _changed(
    changes: Sequence[str], before: Passage, after: Passage, places: tuple[int, int], why: _Why
) -> SectionDiff:
    edits = [
        why.edit((before.start + a, before.start + b), (after.start + c, after.start + d))
        for a, b, c, d in changed_spans(before.text, after.text)
    ]
    causes = _each_once(cause for edit in edits for cause in edit.causes)
    if "moved" in changes:
        causes = _each_once([*causes, why.order()])
    spans = (before.start, before.end), (after.start, after.end)
    return SectionDiff(after.section, changes, *spans, *places, edits, causes)


def _keyed(passages: Sequence[Passage]) -> Keyed:
    """The passages by name; of one name that stands twice, by which time it is."""
    keyed: Keyed = {}
    seen: dict[str, int] = {}
    for passage in passages:
        seen[passage.section] = seen.get(passage.section, 0) + 1
        keyed[passage.section, seen[passage.section]] = passage
    return keyed


def _moved(keys: Sequence[tuple[str, int]], old_places: Mapping[tuple[str, int], int]) -> set[tuple[str, int]]:
    """The fewest sections whose move explains the new order."""
    stayed = set(longest_rise([old_places[key] for key in keys]))
    return {key for number, key in enumerate(keys) if number not in stayed}


def _whole(old: str, new: str, name: str, why: _Why) -> list[SectionDiff]:
    """Two texts as one section: where no sections are known, or only what stands between them differs."""
    edits = [why.edit((a, b), (c, d)) for a, b, c, d in changed_spans(old, new)]
    causes = _each_once(cause for edit in edits for cause in edit.causes)
    return [SectionDiff(name, ("changed",), (0, len(old)), (0, len(new)), 1, 1, edits, causes)] if edits else []


# What caused it


class _Why:
    """Finds the causes of changes between two prompts."""

    def __init__(
        self, old: Prompt, new: Prompt, tools: ToolsDiff, circumstances: Sequence[tuple[str, str, str]]
    ) -> None:
        self.old, self.new = Places(old), Places(new)
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

    def came(self, start: int, end: int) -> list[Cause]:
        return self._telling(self._causes(self.new.of(start, end), self._old_fates, "was"))

    def went(self, start: int, end: int) -> list[Cause]:
        return self._telling(self._causes(self.old.of(start, end), self._new_fates, "now"))

    def order(self) -> Cause:
        """Order is the layout's."""
        return next((self._circumstance(row) for row in self._circumstances if row[0] == "layout"), Cause("layout"))

    def _causes(self, places: Iterable[Place], fates: Mapping[str, str], when: str) -> Iterator[Cause]:
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
        named = (("came", self._tools.came), ("went", self._tools.went))
        for how, names in named:
            yield from (Cause("tool", name, None, how) for name in names)

    @staticmethod
    def _circumstance(row: tuple[str, str, str]) -> Cause:
        name, before, after = row
        change = f"{before or 'none'} → {after or 'none'}"
        return Cause("layout", "", None, change) if name == "layout" else Cause("agent", name, None, change)


def cause_of(place: Place, note: str = "") -> Cause:
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


def _tools(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> ToolsDiff:
    before, after = ({str(tool.get("name", "")): tool for tool in tools} for tools in (old, new))
    stayed = [name for name in before if name in after]
    return ToolsDiff(
        [name for name in after if name not in before],
        [name for name in before if name not in after],
        [name for name in stayed if before[name] != after[name]],
        stayed != [name for name in after if name in before],
    )


def told(cause: Cause) -> str:
    """A cause as a person reads it."""
    place = printable(cause.path)
    if cause.lines:
        first, last = cause.lines
        place += f":{first}" if first == last else f":{first}-{last}"
    kind = "" if cause.kind in ("file", "skill", "resident", "template") and place else cause.kind
    return " ".join(filter(None, (kind, place))) + (f" ({cause.note})" if cause.note else "")
