"""Commands that list what there is: layouts, skills, and the message that activates one skill."""

from __future__ import annotations

import sys

from .options import assembler, parser, status, with_dir
from .terminal import report, write, write_json, write_line, write_table, write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ..layout.model import Section
    from .options import Parser


def parser_for(command: str) -> Parser:
    """The parser of one of these commands."""
    made = parser(command)
    if command == "layouts":
        made.add_argument("name", nargs="?", default="", metavar="NAME", help="a layout to show")
        return made
    if command == "skill":
        made.add_argument("name", metavar="NAME", help="the skill")
    return with_dir(made)


def layouts(given: argparse.Namespace) -> int:
    """`foreword layouts [NAME]`"""
    if given.name or given.layout:
        given.layout = given.name or given.layout
        return _one_layout(given)
    from ..packs.packs import layout_names, shipped_layout

    rows = [(name, str(shipped_layout(name)["about"])) for name in layout_names()]
    if given.json:
        write_json([{"name": name, "about": about} for name, about in rows])
    else:
        write_table(rows, ("layout", "about"), ("bold",))
    return 0


def _one_layout(given: argparse.Namespace) -> int:
    layout = assembler(given).layout()
    rows = _nested(layout.sections, 0)
    if given.json:
        sections = [
            {"name": each.name, "depth": depth, "lifetime": each.lifetime, "content": _content(each)}
            for depth, each in rows
        ]
        write_json(
            {
                "name": layout.name,
                "address": layout.address,
                "about": layout.about,
                "sections": sections,
                "on": dict(layout.on),
            }
        )
        return 0
    write_line(layout.about)
    write("\n")
    write_table(
        [("  " * depth + each.name, each.lifetime, _content(each)) for depth, each in rows],
        ("section", "lifetime", "content"),
        ("bold", "dim"),
    )
    steps = ", ".join(f"{event}: {step}" for event, step in layout.on.items()) or "nothing rebuilds it"
    write("\n")
    write_line(f"events  {steps}", indent=8)
    return 0


def _nested(sections: Sequence[Section], depth: int) -> list[tuple[int, Section]]:
    rows: list[tuple[int, Section]] = []
    for section in sections:
        rows.append((depth, section))
        rows.extend(_nested(section.sections, depth + 1))
    return rows


def _content(section: Section) -> str:
    what = (
        f"list of {section.of}"
        if section.of
        else "inner sections"
        if section.sections
        else f"text in {section.language}"
        if section.language
        else "text"
    )
    return what + (f", or {' or '.join(section.instead)}" if section.instead else "")


def skills(given: argparse.Namespace) -> int:
    """`foreword skills [DIR]`"""
    made = assembler(given)
    found, findings = made.skills(), made.snapshot().inputs.findings
    if given.json:
        from ..wire.answers import skill_form

        write_json([skill_form(each) for each in found])
    else:
        from .paths import paths_of

        paths = paths_of(given)
        rows = [
            (
                each.name,
                paths.short(each.path) + ("  (hidden)" if each.hidden else ""),
                " ".join(each.description.split()),
            )
            for each in found
        ]
        write_table(rows, ("skill", "file", "description"), ("bold", "dim"), paths=(1,))
        if not rows:
            print("no skills were found", file=sys.stderr)
        sys.stdout.flush()
        report([each for each in findings if each.code.startswith("skill-")], given)
    return status(findings, given)


def skill(given: argparse.Namespace) -> int:
    """`foreword skill NAME [DIR]`"""
    content = assembler(given).skill_message(given.name)
    if given.json:
        write_json({"role": "user", "content": content})
    else:
        write_text(content)
    return 0
