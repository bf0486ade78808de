"""Parse `[touch]`: the sections and lookup rules for what is sent when the agent touches a file."""

from __future__ import annotations

from ..errors import LayoutError, suggestion
from ..shapes import check_table
from ..vocabulary import replace
from .keys import KEY_SHAPES
from .model import Touch, with_inner_sections
from .touch_keys import EVENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from .model import Guideline, Lookup, Section


def parse_touch(table: Mapping[str, Any], sections: Sequence[Section], lookups: Sequence[Lookup]) -> Touch | None:
    """Parse the table. `sections` are those that it lists, and `lookups` the layout's. Returns None if there are no sections."""
    if not sections:
        for key in table:
            if key != "sections":
                raise LayoutError(f"touch.{key} has no effect without touch.sections").at(f"touch.{key}")
        return None
    on = tuple(table.get("on", EVENTS))
    for event in on:
        if event not in EVENTS:
            raise LayoutError(f"touch.on: unknown kind of touch {event!r}" + suggestion(event, EVENTS)).at("touch.on")
    for section in with_inner_sections(sections):
        _check_section(section, lookups)
    return Touch(
        tuple(sections), tuple(_needed_lookups(sections, lookups)), on, table.get("budget"), table.get("changed", "")
    )


def touch_section_names(table: Mapping[str, Any]) -> Sequence[str]:
    """Check the table and return the names of the sections that it lists."""
    check_table(table, KEY_SHAPES["touch"], "touch", LayoutError)
    return tuple(table.get("sections", ()))


def _check_section(section: Section, lookups: Iterable[Lookup]) -> None:
    if section.text is not None or section.instead:
        raise LayoutError(f"section.{section.name}: a section of [touch] has list or sections, not text or instead").at(
            f"section.{section.name}"
        )
    if section.list_name is not None and section.list_name not in {lookup.name for lookup in lookups}:
        raise LayoutError(
            f"section.{section.name}.list: a section of [touch] lists a lookup rule, not {section.list_name!r}"
        ).at(f"section.{section.name}.list")


def _needed_lookups(sections: Iterable[Section], lookups: Iterable[Lookup]) -> Iterator[Lookup]:
    """Yield the lookup rules that these sections list, and those that only their conditions refer to."""
    listed_names = {section.list_name for section in with_inner_sections(sections)}
    facts = condition_facts(lookup for lookup in lookups if lookup.name in listed_names)
    for lookup in lookups:
        if lookup.name in listed_names:
            yield lookup
        elif f"found:{lookup.name}" in facts:
            yield replace(lookup, is_probe=True)


def condition_facts(rows: Iterable[Lookup | Section | Guideline]) -> set[str]:
    """Return the facts in the conditions of these rows."""
    return {fact for row in rows for term in row.when for fact in term.facts}


def prompt_lookups(
    lookups: Sequence[Lookup], touch: Touch | None, sections: Sequence[Section], guidelines: Iterable[Guideline]
) -> Iterator[Lookup]:
    """Yield the prompt's lookup rules: all except those that only `[touch]` lists.

    Raises a LayoutError if the prompt uses a lookup rule that works only for touched files.
    """
    all_sections = tuple(with_inner_sections(sections))
    touch_only = {section.list_name for section in with_inner_sections(touch.sections)} if touch else set()
    touch_only -= {name for section in all_sections for name in (section.list_name, *section.instead)}
    facts = condition_facts(
        (*all_sections, *guidelines, *(lookup for lookup in lookups if lookup.name not in touch_only))
    )
    for lookup in lookups:
        if lookup.name in touch_only and f"found:{lookup.name}" not in facts:
            continue
        if lookup.needs_touch:
            key = f"find.{lookup.name}.{'match' if lookup.match else 'files'}"
            subject = key if lookup.match else f"{key}: the place 'down'"
            raise LayoutError(f"{subject} is only for lookup rules that are listed only in [touch]").at(key)
        yield lookup
