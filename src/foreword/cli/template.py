"""The family of `foreword template`: look at the global template, check one, render one, list the variables."""

from __future__ import annotations

import sys

from ..errors import CallError
from ..vocabulary import replace
from .options import assembler, document, parser, with_dir
from .prompt import write_prompt
from .terminal import report, write, write_json, write_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from ..engine import Assembler
    from .options import Parser


def parser_for(command: str) -> Parser:
    """The parser of one of these commands."""
    made = parser(command)
    action = command.partition(" ")[2]
    if action in ("set", "check", "render"):
        made.add_argument("file", metavar="FILE", help="the template")
    if action == "restore":
        made.add_argument("version", metavar="N", type=int, help="the version")
    if action not in ("check", "render"):
        return made
    made.add_argument(
        "--syntax", choices=("brackets", "jinja"), default="brackets", metavar="LANGUAGE", help="brackets or jinja"
    )
    made.add_argument("--value", action="append", default=[], metavar="type:name=TEXT", help="a value for a variable")
    return with_dir(made)


def template_show(given: argparse.Namespace) -> int:
    """`foreword template show`"""
    text = _default(given)
    if given.json:
        write_json({"template": text})
    else:
        write(text)
    return 0


def _default(given: argparse.Namespace) -> str:
    """The built-in template: no store keeps another one yet."""
    given.layout = given.layout or "builder"
    for section in assembler(given).layout().each_section():
        if section.language and section.text is not None:
            return section.text
    raise CallError(f"the layout {given.layout} has no template")


def template_history(given: argparse.Namespace) -> int:
    """`foreword template history`"""
    rows = [{"version": 0, "author": "foreword", "time": None, "note": "built in", "template": _default(given)}]
    if given.json:
        write_json(rows)
    else:
        write_table(
            [(str(row["version"]), str(row["author"]), str(row["note"])) for row in rows], ("version", "author", "note")
        )
    return 0


def template_set(given: argparse.Namespace) -> int:
    """`foreword template set`"""
    raise CallError("no store keeps templates yet; give the file to a command with --base")


def template_restore(given: argparse.Namespace) -> int:
    """`foreword template restore`"""
    raise CallError(f"there is no version {given.version}; the built-in template is version 0 and in use")


def template_check(given: argparse.Namespace) -> int:
    """`foreword template check`"""
    prepared = _rendering(given)
    findings = [each for each in prepared.stand(given.agent).inputs.findings if each.code.startswith("variable-")]
    used: list[tuple[str, str]] = []
    text = given.agent.base.text
    if given.syntax == "brackets":
        from ..template import brackets
        from ..template.catalog import TYPES

        parsed = brackets.parse(text, TYPES, given.agent.base.path)
        used = [(each.type, each.name) for each in parsed.variables]
        findings += parsed.findings
    if given.json:
        from ..wire import finding_form

        write_json(
            {"variables": [":".join(each) for each in used], "findings": [finding_form(each) for each in findings]}
        )
    else:
        report(findings)
        print(
            f"{len(findings)} finding{'' if len(findings) == 1 else 's'}, {len(used)} variable{'' if len(used) == 1 else 's'}",
            file=sys.stderr,
        )
    return 1 if given.strict and any(each.severity == "error" for each in findings) else 0


def template_render(given: argparse.Namespace) -> int:
    """`foreword template render`"""
    return write_prompt(_rendering(given).prompt(given.agent, given.clock), given)


def _rendering(given: argparse.Namespace) -> Assembler:
    """An assembler for the template alone: a layout that has such a body, without anything around it."""
    given.agent = replace(given.agent, base=document(given.file, "FILE"))
    given.layout = given.layout or ("builder" if given.syntax == "brackets" else "pod")
    given.set = [*given.set, "sections=body", "body.trim=false"]
    return assembler(given, dict(_value(each) for each in given.value))


def _value(text: str) -> tuple[str, str]:
    name, equals, content = text.partition("=")
    if not equals or not name.strip():
        raise CallError(f"--value takes type:name=TEXT, not {text!r}")
    return name.strip(), content


def template_variables(given: argparse.Namespace) -> int:
    """`foreword template variables`"""
    from ..template.catalog import CATALOG
    from ..wire import variable_form

    if given.json:
        write_json({"variables": [variable_form(row) for row in CATALOG]})
    else:
        write_table([(f"[{row.type}:{row.name}]", row.description) for row in CATALOG], ("variable", "is"), ("bold",))
    return 0
