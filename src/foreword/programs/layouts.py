"""List and describe layouts, for `foreword layouts`."""

from __future__ import annotations

from ..errors import ForewordError
from ..layout.model import with_inner_sections
from ..layout.touch import condition_facts
from ..packs.packs import custom_layouts, find_layout, layout_names, mirror_names, shipped_layout
from ..sources.environment import resolve_workspace
from ..sources.reader import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..layout.model import Layout, Lookup, Section
    from ..wire.forms import LayoutForm, LayoutRowForm, LayoutSectionForm
    from .question import Question


def layout_rows(question: Question) -> list[LayoutRowForm]:
    """Return the shipped layouts, those in the user's, the workspace's and the caller's packs, and those that mirror released programs."""
    default = question.assembler.layout()
    addresses = custom_layouts(resolve_workspace(question.workspace, Reader()), question.fields.get("packs"))
    rows = [_shipped_row(name) for name in layout_names()]
    rows += [_custom_row(address, question) for address in addresses]
    rows += [_shipped_row(name) for name in mirror_names()]
    for row in rows:
        row["default"] = row["name"] in (default.address, default.name)
    return rows


def _shipped_row(name: str) -> LayoutRowForm:
    mapping = shipped_layout(name)
    return {"name": name, "about": str(mapping["about"]), "mirrors": str(mapping.get("mirrors", "")), "default": False}


def _custom_row(address: str, question: Question) -> LayoutRowForm:
    try:
        layout = question.with_fields(layout=address).assembler.layout()
    except ForewordError as error:
        return {"name": address, "about": f"cannot be loaded: {error}", "mirrors": "", "default": False}
    return {"name": address, "about": layout.about, "mirrors": layout.mirrors, "default": False}


def describe_layout(question: Question) -> LayoutForm:
    """Describe the question's layout: its sections, where it looks for files, and what happens on each event."""
    layout = question.assembler.layout()
    touch = layout.touch
    lookups = {lookup.name: lookup for lookup in (*layout.lookups, *(touch.lookups if touch else ()))}
    return {
        "name": layout.name,
        "address": layout.address,
        "about": layout.about,
        "sections": _section_forms(layout.sections, lookups),
        "touch": _section_forms(touch.sections if touch else (), lookups),
        "lookups": {name: _pattern_texts(lookup) for name, lookup in lookups.items()},
        "unused": _unused(layout, question),
        "on": dict(layout.on),
        "mirrors": layout.mirrors,
        "differs": list(layout.differs),
        "detected_by": list(layout.detected_by),
    }


def _section_forms(sections: Sequence[Section], lookups: Mapping[str, Lookup]) -> list[LayoutSectionForm]:
    return [
        {
            "name": section.name,
            "depth": depth,
            "lifetime": section.lifetime,
            "role": role,
            "content": _describe_content(section, lookups),
        }
        for depth, role, section in _flatten_sections(sections)
    ]


def _pattern_texts(lookup: Lookup) -> list[list[str]]:
    """Return the patterns of a lookup rule, as a layout writes them."""
    return [
        [f"{pattern.place}:{pattern.variable and pattern.variable + '/'}{pattern.path}" for pattern in group]
        for group in lookup.groups
    ]


def _unused(layout: Layout, question: Question) -> list[str]:
    """Return the sections and lookup rules in the layout's file, or in one that it extends, that nothing refers to."""
    workspace, packs = resolve_workspace(question.workspace, Reader()), question.fields.get("packs")
    mapping = find_layout(question.fields["layout"], workspace, Reader(), packs).mapping
    sections = [*layout.all_sections, *with_inner_sections(layout.touch.sections if layout.touch else ())]
    section_names = {section.name for section in sections}
    used = {name for section in sections for name in (section.list_name, *section.instead)}
    used |= {fact.removeprefix("found:") for fact in condition_facts((*layout.lookups, *sections, *layout.guidelines))}
    used |= {lookup.name for lookup in (layout.touch.lookups if layout.touch else ())}
    used |= {lookup.name for lookup in layout.lookups if lookup.kind == "skill"}  # a skill can be used by name
    return [
        *(f"section.{name}" for name in mapping.get("section", ()) if name not in section_names),
        *(f"find.{name}" for name in mapping.get("find", ()) if name not in used),
    ]


def _flatten_sections(sections: Sequence[Section], depth: int = 0, role: str = "") -> list[tuple[int, str, Section]]:
    """Return the sections and those nested in them, each with its depth and its role."""
    rows: list[tuple[int, str, Section]] = []
    for section in sections:
        section_role = role or section.role
        rows.append((depth, section_role, section))
        rows.extend(_flatten_sections(section.sections, depth + 1, section_role))
    return rows


_LISTED_WORDS = {
    "active_skill": "the active skill",
    "plan": "the active plan",
    "servers": "instructions of MCP servers",
    "readable": "readable paths",
    "writable": "writable paths",
    "denied": "denied paths",
}
_FOUND_WORDS = {
    "text": "files",
    "skill": "skills",
    "resident": "resident files",
    "agent": "sub-agents",
    "command": "commands",
}


def _describe_content(section: Section, lookups: Mapping[str, Lookup]) -> str:
    """Describe a section's content in a few words."""
    lookup = lookups.get(section.list_name or "")
    if lookup:
        what = f"{_FOUND_WORDS[lookup.kind]} found by `{lookup.name}`"
    elif section.list_name:
        what = _LISTED_WORDS.get(section.list_name, section.list_name)
    elif section.sections:
        what = "inner sections"
    else:
        what = f"text in {section.language}" if section.language else "text"
    return what + (f", or {' or '.join(section.instead)}" if section.instead else "")
