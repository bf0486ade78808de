"""Commands that list layouts and skills, and print the message that activates a skill."""

from __future__ import annotations

import os
import sys

from .options import new_parser, status
from .terminal import report, write, write_json, write_line, write_table, write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..vocabulary import Skill
    from .arguments import Namespace, Parser

OWN_COMMANDS = {
    "layouts": (
        "blame",
        "list the layouts, or show one",
        "foreword layouts opal",
        "list[LayoutRowForm] | LayoutForm",
    ),
    "skills": (
        "layouts",
        "list the skills that were found, or print the message that activates one",
        "foreword skills release-notes",
        "list[SkillForm] | MessageForm",
    ),
}


def parser_for(command: str) -> Parser:
    """Return the parser for one of these commands."""
    parser = new_parser(command)
    if command == "layouts":
        parser.add_argument("name", nargs="?", default="", metavar="NAME", help="the layout to show")
        return parser
    about = "a skill, to print the message that activates it, and the agent's working directory (.); a word alone that is a folder is DIR"
    parser.add_argument("words", nargs="*", action=_store_skill_and_folder, metavar="NAME|DIR", help=about)
    return parser


def _store_skill_and_folder(parser: Parser, args: Namespace, words: list[str]) -> None:
    """Set `name` and `dir` from up to two words, either of which may be missing."""
    if len(words) > 2:
        parser.error(f"unrecognized arguments: {' '.join(words[2:])}")
    if len(words) == 2 or (words and ("/" in words[0] or os.path.isdir(words[0]))):
        args.dir = words.pop()
    args.name = words[0] if words else ""


def layouts(args: Namespace) -> int:
    """`foreword layouts [NAME]`"""
    from ..programs import questions

    form: Any = questions.layouts(args.question.with_fields(name=args.name))
    if args.json:
        write_json(form)
    elif isinstance(form, list):
        for is_mirror, heading in ((False, "about"), (True, "mirrors")):
            chosen = [row for row in form if bool(row["mirrors"]) == is_mirror]
            rows = [(row["name"] + (" (default)" if row["default"] else ""), _about(row)) for row in chosen]
            write("\n" if is_mirror else "")
            write_table(rows, ("layout", heading), ("bold",))
    else:
        _write_layout(form)
    return 0


def _about(row: Any) -> str:
    """Return the program that a layout mirrors, or its description without its name at the start."""
    about: str = row["mirrors"] or row["about"]
    start, colon, rest = about.partition(": ")
    return rest if colon and start.lower() == row["name"] else about


def _write_layout(form: Any) -> None:
    write_line(form["about"])
    if form["mirrors"]:
        write_line(f"It mirrors {form['mirrors']}.")
    write("\n")
    _write_sections(form["sections"])
    if form["touch"]:
        write("\n")
        write_line("Sent when a file is touched:")
        write("\n")
        _write_sections(form["touch"])
    width = max(map(len, form["lookups"]), default=0)
    write("\n" if form["lookups"] else "")
    for name, groups in form["lookups"].items():
        texts = [f"[{', '.join(group)}]" if len(group) > 1 else group[0] for group in groups]
        write_line(f"find {name:{width}}  {', '.join(texts)}", indent=width + 7)
    if form["unused"]:
        write_line(f"unused  {', '.join(form['unused'])}", indent=8)
    steps = ", ".join(f"{event}: {step}" for event, step in form["on"].items()) or "none; the prompt is never rebuilt"
    write("\n")
    write_line(f"events  {steps}", indent=8)
    for sentence in form["differs"]:
        write_line(f"differs  {sentence}", indent=9)
    if form["detected_by"]:
        write_line(f"detected by  {', '.join(form['detected_by'])}", indent=13)


def _write_sections(sections: Any) -> None:
    has_roles = any(section["role"] != "system" for section in sections)
    write_table(
        [
            (
                "  " * section["depth"] + section["name"],
                section["lifetime"],
                *([section["role"]] if has_roles else []),
                section["content"],
            )
            for section in sections
        ],
        ("section", "lifetime", *(["role"] if has_roles else []), "content"),
        ("bold", "dim"),
    )


def _note_on(skill: Skill) -> str:
    """Why a skill is not in the menu, or an empty string."""
    if skill.paths:
        return f"  (for {skill.paths})"
    return "  (hidden)" if skill.hidden else ""


def skills(args: Namespace) -> int:
    """`foreword skills [NAME] [DIR]`"""
    if args.name:
        return _write_skill(args)
    from ..programs.skill_list import find_skills

    found, findings = find_skills(args.question.assembler, args.question.agent)
    if args.json:
        from ..wire.skills import skill_form

        write_json([skill_form(row.skill, row.reason) for row in found])
        return status(findings, args)
    from .paths import paths_of

    paths = paths_of(args)
    rows = [
        (
            row.skill.name,
            paths.shorten(row.skill.path) + _note_on(row.skill),
            " ".join(row.skill.description.split()),
        )
        for row in found
    ]
    write_table(rows, ("skill", "file", "description"), ("bold", "dim"), paths=(1,))
    if not rows:
        print("no skills found", file=sys.stderr)
    report([finding for finding in findings if finding.code.startswith("skill")], args)
    return status(findings, args)


def _write_skill(args: Namespace) -> int:
    """Print the message that activates a skill."""
    from ..programs import questions

    message = questions.skill(args.question.with_fields(name=args.name))
    if args.json:
        write_json(message)
    else:
        write_text(message["content"])
    return 0
