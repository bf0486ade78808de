"""The family of `foreword template`: look at the global template, check one, render one, list the variables."""

from __future__ import annotations

import sys

from ..errors import CallError
from ..template.languages import DEFAULT, LANGUAGES
from ..vocabulary import TemplateVersion, replace
from .options import assembler, document, new_parser, store_to_read, store_url, with_dir
from .prompt import write_prompt
from .terminal import report, shown_time, write_json, write_line, write_table, write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from ..engine.assembler import Assembler
    from ..layout.model import Section
    from ..store.contract import Store
    from .options import Parser


def parser_for(command: str) -> Parser:
    """The parser of one of these commands."""
    parser = new_parser(command)
    action = command.partition(" ")[2]
    if action in ("set", "check", "render"):
        parser.add_argument("file", metavar="FILE", help="the template; - is standard input")
    if action == "restore":
        parser.add_argument("version", metavar="N", type=int, help="the version")
    if action in ("set", "restore"):
        parser.add_argument("--author", default="", metavar="NAME", help="who does it; the user's name unless given")
        parser.add_argument("--note", default="", metavar="TEXT", help="why")
    if action in ("set", "check", "render"):
        parser.add_argument(
            "--syntax", choices=LANGUAGES, default=DEFAULT, metavar="LANGUAGE", help=" or ".join(LANGUAGES)
        )
    if action not in ("check", "render"):
        return parser
    parser.add_argument("--value", action="append", default=[], metavar="type:name=TEXT", help="a value for a variable")
    return with_dir(parser)


def template_show(args: argparse.Namespace) -> int:
    """`foreword template show`"""
    kept = store_to_read(args).template()
    text = kept.template if kept else _default(args)
    if args.json:
        write_json({"template": text})
    else:
        write_text(text)
    return 0


def template_set(args: argparse.Namespace) -> int:
    """`foreword template set FILE`"""
    return _keep(args, document(args.file, "FILE").text, args.note, args.syntax)


def template_history(args: argparse.Namespace) -> int:
    """`foreword template history`"""
    from ..wire.answers import version_form

    versions = [
        *store_to_read(args).templates(),
        TemplateVersion(0, _default(args), "foreword", "", "built in"),
    ]
    if args.json:
        write_json([version_form(each) for each in versions])
    else:
        rows = [(str(each.version), each.syntax, each.author, shown_time(each.time), each.note) for each in versions]
        write_table(rows, ("version", "syntax", "author", "time", "note"), ("bold",), right=(0,))
    return 0


def template_restore(args: argparse.Namespace) -> int:
    """`foreword template restore N`"""
    versions = {each.version: each for each in _store(args).templates()}
    versions[0] = TemplateVersion(0, _default(args))
    if args.version not in versions:
        raise CallError(f"there is no version {args.version} of the template; see foreword template history")
    kept = versions[args.version]
    return _keep(args, kept.template, args.note or f"Restored version {args.version}", kept.syntax)


def _keep(args: argparse.Namespace, text: str, note: str, syntax: str) -> int:
    from ..engine.assembler import local_time
    from ..wire.answers import version_form

    author = args.author or _user()
    kept = _store(args).add_template(
        TemplateVersion(0, text, author, local_time().isoformat(timespec="seconds"), note, syntax)
    )
    if args.json:
        write_json(version_form(kept))
    else:
        write_line(
            f"version {kept.version} is the global template; conversations use it from their compaction on, new ones at once"
        )
    return 0


def _user() -> str:
    from getpass import getuser

    try:
        return getuser()
    except (OSError, KeyError):  # a number that has no name
        return ""


def _store(args: argparse.Namespace) -> Store:
    from ..store import open_store

    return open_store(store_url(args))


def _default(args: argparse.Namespace) -> str:
    """The template that is built in."""
    return _body(args).text or ""


def _body(args: argparse.Namespace) -> Section:
    """The section of the layout whose text is a template."""
    args.layout = args.layout or "builder"
    for section in assembler(args).layout().sections:
        if section.language and section.text is not None:
            return section
    raise CallError(f"the layout {args.layout} has no template; builder has one")


def template_check(args: argparse.Namespace) -> int:
    """`foreword template check`"""
    prepared = _rendering(args)
    prompt = prepared.prompt(args.agent, args.clock)
    findings = [each for each in prompt.findings if each.code.startswith(("template-", "variable-", "file-"))]
    used = LANGUAGES[args.syntax].module().variables_used(args.agent.base, prepared.snapshot(args.agent).inputs)
    if args.json:
        from ..encoding.prompt import finding_form

        write_json({"variables": used, "findings": [finding_form(each) for each in findings]})
    else:
        report(findings, args, every=True)
        print(
            f"{len(findings)} finding{'' if len(findings) == 1 else 's'}, {len(used)} variable{'' if len(used) == 1 else 's'}",
            file=sys.stderr,
        )
    return 1 if any(each.severity == "error" for each in findings) else 0


def template_render(args: argparse.Namespace) -> int:
    """`foreword template render`"""
    return write_prompt(_rendering(args).prompt(args.agent, args.clock), args)


def _rendering(args: argparse.Namespace) -> Assembler:
    """An assembler for the template alone: a layout that has such a body, without anything around it."""
    args.agent = replace(args.agent, base=document(args.file, "FILE"))
    body = _body(args).name
    alone = (f"sections={body}", f"section.{body}.trim=false", f"section.{body}.language={args.syntax}")
    args.set = [*args.set, *alone]
    return assembler(args, dict(_value(each, args.syntax) for each in args.value))


def _value(text: str, syntax: str) -> tuple[str, str]:
    name, equals, content = text.partition("=")
    form = LANGUAGES[syntax].variable_form
    parts = name.partition(":") if ":" in form else [name]
    if not equals or not all(part.strip() for part in parts):
        raise CallError(f"--value takes {form}=TEXT, not {text!r}")
    return name.strip(), content


def template_variables(args: argparse.Namespace) -> int:
    """`foreword template variables`"""
    from ..template.catalog import CATALOG
    from ..wire.answers import variable_form

    if args.json:
        write_json({"variables": [variable_form(row) for row in CATALOG]})
    else:
        write_table([(f"[{row.type}:{row.name}]", row.description) for row in CATALOG], ("variable", "is"), ("bold",))
    return 0
