"""Compares two prompts: which sections and tools were added, removed, changed or moved, and why.

Drift, `diff`, `watch`, `cache` and the web page all use this comparison, so they never disagree. Prompts differ if and only if the
text or the tool definitions sent to the model differ. Equal texts in the same messages never differ, even if they are split into
different sections.
"""

from __future__ import annotations

import json
from bisect import bisect_left

from ..text.words import longest_increasing
from ..vocabulary import value
from .sending import message_spans, sent_passages, stored_passages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, Literal

    from ..vocabulary import Prompt

    Kind = Literal["added", "removed", "changed", "moved"]
    Span = tuple[int, int]
    Item = tuple[str, str]  # name and content

KINDS: Sequence[Kind] = ("added", "removed", "changed", "moved")
# Used instead of a section's name: for text whose sections are unknown, and for the text before, between and after sections.
WHOLE_PROMPT, BETWEEN_SECTIONS = "(whole prompt)", "(between sections)"
_NON_SOURCE_KINDS = ("builtin", "mark")


# The two sides


@value
class Part:
    """One section of a prompt, and its sources, each with the texts that it contributed or their hashes."""

    section: str
    start: int
    end: int
    sources: Mapping[str, Sequence[str]] = {}
    role: str = "system"


@value
class Side:
    """One side of a comparison, as it is sent to the model: the text, its sections in order, and the tool definitions.

    `tools` is None if the definitions are unknown. `messages` contains the role, start and end of each message after the system prompt.
    """

    text: str
    parts: Sequence[Part] = ()
    tools: Sequence[Mapping[str, Any]] | None = None
    messages: Sequence[tuple[str, int, int]] = ()

    @property
    def is_plain(self) -> bool:
        """Whether this is text whose sections are unknown."""
        return not self.parts and bool(self.text)

    def text_of(self, number: int) -> str:
        return self.text[self.parts[number].start : self.parts[number].end]


def prompt_side(prompt: Prompt, tools: Sequence[Mapping[str, Any]] | None = None) -> Side:
    """Return a prompt and its tools as one side of a comparison."""
    parts = []
    for passage in prompt.passages:
        origins = ((piece.origin.kind, piece.origin.path, piece.text) for piece in passage.pieces)
        parts.append(Part(passage.section, passage.start, passage.end, _sources(origins), passage.role))
    return Side(prompt.text, parts, tools, message_spans(sent_passages(prompt.passages)))


def edition_side(system: str, account: Mapping[str, Any], tools: Sequence[Mapping[str, Any]]) -> Side:
    """Return an edition as one side of a comparison. `account` is its stored prompt."""
    parts = []
    for passage in account.get("passages", ()):
        origins = ((origin["kind"], origin["path"], origin["hash"]) for origin in passage["origins"])
        parts.append(
            Part(passage["section"], passage["start"], passage["end"], _sources(origins), passage.get("role", "system"))
        )
    return Side(system, parts, tools, message_spans(stored_passages(account)))


def _sources(origins: Iterable[tuple[str, str, str]]) -> dict[str, Sequence[str]]:
    """Return the texts from each path, or their hashes. Foreword's own text is left out."""
    hashes_by_path: dict[str, dict[str, None]] = {}
    for kind, path, hash in origins:
        if path and kind not in _NON_SOURCE_KINDS:
            hashes_by_path.setdefault(path, {})[hash] = None
    return {path: tuple(hashes) for path, hashes in hashes_by_path.items()}


# The changes


@value
class SectionChange:
    """A section that differs, with the kinds of change and the sources that caused them.

    Fields:
        section: The name of the section.
        kinds: Added, removed, changed, moved, or both changed and moved.
        sources: The files and other sources that explain the difference.
        old: Its index in the old list of sections. None if it was added.
        new: Its index in the new list of sections. None if it was removed.
    """

    section: str
    kinds: Sequence[Kind]
    sources: Sequence[str] = ()
    old: int | None = None
    new: int | None = None


@value
class Names:
    """The names of added, removed, changed and moved items, without duplicates.

    Fields:
        added: The names that are only in the new list.
        removed: The names that are only in the old list.
        changed: The names whose content differs.
        moved: The names whose position differs.
        has_any: Whether any of the lists is not empty.
    """

    added: Sequence[str] = ()
    removed: Sequence[str] = ()
    changed: Sequence[str] = ()
    moved: Sequence[str] = ()

    @property
    def has_any(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.moved)

    def by_kind(self) -> Iterator[tuple[Kind, Sequence[str]]]:
        """Yield the lists that are not empty, each with its kind."""
        for kind in KINDS:
            if names := getattr(self, kind):
                yield kind, names


class ChangedParts:
    """Properties that all comparisons have: whether anything changed, and the names of the changed sections."""

    sections: Sequence[Any]
    tools: Names

    @property
    def is_changed(self) -> bool:
        """Whether the texts or the tool definitions differ."""
        return bool(self.sections) or self.tools.has_any

    @property
    def section_names(self) -> Names:
        return section_names(self.sections)


@value
class Changes(ChangedParts):
    """Everything that differs between two prompts and their tools.

    `gaps` are pairs of spans between sections, in the old and the new text, whose content differs.
    """

    sections: Sequence[SectionChange] = ()
    tools: Names = Names()
    gaps: Sequence[tuple[Span, Span]] = ()


def section_names(sections: Iterable[Any]) -> Names:
    """Return the names of changed sections by kind. Each item in `sections` has a `section` and its `kinds`."""
    by_kind: dict[str, dict[str, None]] = {kind: {} for kind in KINDS}
    for section in sections:
        for kind in section.kinds:
            by_kind[kind][section.section] = None
    return Names(*(tuple(by_kind[kind]) for kind in KINDS))


def find_changes(old: Side, new: Side) -> Changes:
    """Find what was added, removed, changed and moved. Tools are compared only if both sides' tools are known."""
    tools = Names() if old.tools is None or new.tools is None else _compare_tools(old.tools, new.tools)
    if old.text == new.text and (old.messages == new.messages or old.is_plain or new.is_plain):
        return Changes((), tools)
    if old.is_plain or new.is_plain:
        return Changes([SectionChange(WHOLE_PROMPT, ("changed",))], tools)
    matches = _match_items(
        *([(part.section, side.text_of(index)) for index, part in enumerate(side.parts)] for side in (old, new))
    )
    sections = list(_changed_sections(old, new, matches))
    gaps = list(_changed_gaps(old, new, matches))
    if gaps:
        sections.append(SectionChange(BETWEEN_SECTIONS, ("changed",)))
    return Changes(sections or [SectionChange(WHOLE_PROMPT, ("changed",))], tools, gaps)


def _changed_sections(old: Side, new: Side, matches: Sequence[int | None]) -> Iterator[SectionChange]:
    """Yield the changed sections in the order of the new text. A removed section is listed where it used to be."""
    moved, matched = _find_moved(matches), set(matches)
    removed = [index for index in range(len(old.parts)) if index not in matched]
    index = 0
    for number, (part, match) in enumerate(zip(new.parts, matches, strict=True)):
        while match is not None and index < len(removed) and removed[index] < match:
            yield _removed_section(old, removed[index])
            index += 1
        if match is None:
            yield SectionChange(part.section, ("added",), sorted(part.sources), None, number)
            continue
        is_changed = old.text_of(match) != new.text_of(number) or old.parts[match].role != part.role
        conditions: tuple[tuple[Kind, bool], ...] = (("moved", number in moved), ("changed", is_changed))
        if kinds := [kind for kind, is_true in conditions if is_true]:
            sources = _changed_sources(old.parts[match], part) if is_changed else ()
            yield SectionChange(part.section, kinds, sources, match, number)
    yield from (_removed_section(old, number) for number in removed[index:])


def _removed_section(old: Side, number: int) -> SectionChange:
    part = old.parts[number]
    return SectionChange(part.section, ("removed",), sorted(part.sources), number, None)


def _changed_sources(old: Part, new: Part) -> list[str]:
    paths = {*old.sources, *new.sources}
    return sorted(path for path in paths if old.sources.get(path) != new.sources.get(path))


def _changed_gaps(old: Side, new: Side, matches: Sequence[int | None]) -> Iterator[tuple[Span, Span]]:
    """Yield where the text differs between sections that are adjacent on both sides, before the first section, or after the last one."""
    last = len(old.parts)
    ends: Sequence[int | None] = (-1, *matches, last)
    old_gaps, new_gaps = _spans_between(old), _spans_between(new)
    for index, (a, b) in enumerate(new_gaps):
        before, after = ends[index], ends[index + 1]
        if before is not None and after is not None and after == before + 1:
            c, d = old_gaps[after]
            if old.text[c:d] != new.text[a:b]:
                yield (c, d), (a, b)


def _spans_between(side: Side) -> list[Span]:
    """Return the spans before, between and after the sections: one more than the number of sections."""
    starts = [0, *(part.end for part in side.parts)]
    ends = [*(part.start for part in side.parts), len(side.text)]
    return list(zip(starts, ends, strict=True))


# Tools


def _compare_tools(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> Names:
    before, after = ([(str(tool.get("name", "")), _definition_text(tool)) for tool in tools] for tools in (old, new))
    matches = _match_items(before, after)
    matched, moved = set(matches), _find_moved(matches)
    pairs = [(name, match, index) for index, ((name, _), match) in enumerate(zip(after, matches, strict=True))]
    return Names(
        _without_duplicates(name for name, match, _ in pairs if match is None),
        _without_duplicates(name for index, (name, _) in enumerate(before) if index not in matched),
        _without_duplicates(
            name for name, match, number in pairs if match is not None and before[match] != after[number]
        ),
        _without_duplicates(name for name, _, number in pairs if number in moved),
    )


def _definition_text(tool: Mapping[str, Any]) -> str:
    """Return a tool definition as text. A schema's key order matters, because it is sent; an empty description or schema is not sent."""
    sent = [key for key in tool if key != "server" and (tool[key] or key not in ("description", "schema"))]
    fields = {key: tool[key] for key in sorted(sent, key=str)}
    return json.dumps(fields)


def _without_duplicates(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


# Matching new items with old ones


def _match_items(old: Sequence[Item], new: Sequence[Item]) -> list[int | None]:
    """Return, for each new item, the index of the old item with the same name, or None if there is none.

    Among items with the same name, those with equal content are matched first; the rest are then matched in order between them.
    """
    matches: list[int | None] = [None] * len(new)
    by_name: dict[str, tuple[list[int], list[int]]] = {}
    for side, items in enumerate((old, new)):
        for index, (name, _) in enumerate(items):
            by_name.setdefault(name, ([], []))[side].append(index)
    for old_indices, new_indices in by_name.values():
        if len(old_indices) == len(new_indices) == 1:
            matches[new_indices[0]] = old_indices[0]
        else:
            _SameNameMatcher(old, new, matches).match(old_indices, new_indices)
    return matches


class _SameNameMatcher:
    """Matches items with the same name, and records in `matches` the index of the old item for each new one."""

    def __init__(self, old: Sequence[Item], new: Sequence[Item], matches: list[int | None]) -> None:
        self.old, self.new, self.matches = old, new, matches

    def match(self, old_indices: Sequence[int], new_indices: Sequence[int]) -> None:
        """Match the old items at these indices with the new ones."""
        old_indices, new_indices = self._match_ends(old_indices, new_indices)
        self._match_equal(old_indices, new_indices)
        self._match_rest(old_indices, new_indices)

    def _match_ends(
        self, old_indices: Sequence[int], new_indices: Sequence[int]
    ) -> tuple[Sequence[int], Sequence[int]]:
        """Match equal items at the start and the end, and return the remaining indices."""
        start, shorter = 0, min(len(old_indices), len(new_indices))
        while start < shorter and self.old[old_indices[start]] == self.new[new_indices[start]]:
            start += 1
        end = 0
        while end < shorter - start and self.old[old_indices[-1 - end]] == self.new[new_indices[-1 - end]]:
            end += 1
        for index in (*range(start), *range(-end, 0)):
            self.matches[new_indices[index]] = old_indices[index]
        return old_indices[start : len(old_indices) - end], new_indices[start : len(new_indices) - end]

    def _match_equal(self, old_indices: Sequence[int], new_indices: Sequence[int]) -> None:
        by_text: dict[str, list[int]] = {}
        for number in reversed(old_indices):
            by_text.setdefault(self.old[number][1], []).append(number)
        for number in new_indices:
            if equal_items := by_text.get(self.new[number][1]):
                self.matches[number] = equal_items.pop()

    def _match_rest(self, old_indices: Sequence[int], new_indices: Sequence[int]) -> None:
        """Match the remaining items in order, between the equal items whose order did not change."""
        equal = [(number, match) for number in new_indices if (match := self.matches[number]) is not None]
        in_order = [equal[position] for position in longest_increasing([match for _, match in equal])]
        new_anchors, old_anchors = [number for number, _ in in_order], [match for _, match in in_order]
        matched = {match for _, match in equal}
        unmatched: dict[int, list[int]] = {}
        for number in reversed([index for index in old_indices if index not in matched]):
            unmatched.setdefault(bisect_left(old_anchors, number), []).append(number)
        for number in new_indices:
            if self.matches[number] is None and (candidates := unmatched.get(bisect_left(new_anchors, number))):
                self.matches[number] = candidates.pop()


def _find_moved(matches: Sequence[int | None]) -> set[int]:
    """Return the smallest set of new items whose moves explain the new order."""
    matched_pairs = [(index, match) for index, match in enumerate(matches) if match is not None]
    unmoved = {matched_pairs[index][0] for index in longest_increasing([match for _, match in matched_pairs])}
    return {number for number, _ in matched_pairs if number not in unmoved}
