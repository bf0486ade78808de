"""Commands that list what there is: layouts, skills, and the message that activates one skill."""

from __future__ import annotations

import sys

from .options import assembler, new_parser, status, with_dir
from .terminal import report, write, write_json, write_line, write_table, write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ..layout.model import Section
    from .options import Parser


def parser_for(command: str) -> Parser:
    """The parser of one of these commands."""
    parser = new_parser(command)
    if command == "layouts":
        parser.add_argument("name", nargs="?", default="", metavar="NAME", help="a layout to show")
        return parser
    if command == "skill":
        parser.add_argument("name", metavar="NAME", help="the skill")
    return with_dir(parser)


def layouts(args: argparse.Namespace) -> int:
    """`foreword layouts [NAME]`"""
    if args.name or args.layout:
        args.layout = args.name or args.layout
        return _one_layout(args)
    from ..packs.packs import layout_names, shipped_layout

    rows = [(name, str(shipped_layout(name)["about"])) for name in layout_names()]
    if args.json:
        write_json([{"name": name, "about": about} for name, about in rows])
    else:
        write_table(rows, ("layout", "about"), ("bold",))
    return 0


def _one_layout(args: argparse.Namespace) -> int:
    layout = assembler(args).layout()
    rows = _nested(layout.sections, 0)
    if args.json:
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


def skills(args: argparse.Namespace) -> int:
    """`foreword skills [DIR]`"""
    prompts = assembler(args)
    found, findings = prompts.skills(), prompts.snapshot().inputs.findings
    if args.json:
        from ..wire.answers import skill_form

        write_json([skill_form(each) for each in found])
    else:
        from .paths import paths_of

        paths = paths_of(args)
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
        report([each for each in findings if each.code.startswith("skill-")], args)
    return status(findings, args)


def skill(args: argparse.Namespace) -> int:
    """`foreword skill NAME [DIR]`"""
    content = assembler(args).skill_message(args.name)
    if args.json:
        write_json({"role": "user", "content": content})
    else:
        write_text(content)
    return 0
