"""The command that says what is doubtful in a prompt: for a person, for a program, for a code host."""

from __future__ import annotations

import os
import sys

from .columns import middle_cut, width_of, wrapped
from .options import as_in_a_conversation, assembler, new_parser, with_dir
from .terminal import SEVERITIES, columns_of, fitted, is_terminal, painted, visible, write, write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import TextIO

    from ..programs.proofread import Report
    from ..vocabulary import Finding
    from .options import Parser
    from .paths import Paths

_SEVERITIES = tuple(SEVERITIES)
_NARROWEST = 12


def parser_for(command: str) -> Parser:
    """The parser of the command."""
    parser = with_dir(new_parser(command))
    parser.add_argument(
        "--recursive", action="store_true", help="every folder below with an instruction file, and every SKILL.md"
    )
    parser.add_argument(
        "--format",
        default="text",
        choices=("text", "json", "sarif", "github"),
        metavar="NAME",
        help="text, json, sarif (2.1.0) or github (annotations of a workflow)",
    )
    parser.add_argument("--disable", action="append", default=[], metavar="CHECK", help="a check that is not asked")
    parser.add_argument(
        "--min-severity",
        default="info",
        choices=_SEVERITIES,
        metavar="SEVERITY",
        help="leave out what is less than this",
    )
    parser.add_argument(
        "--fail",
        default="error",
        choices=_SEVERITIES,
        metavar="SEVERITY",
        help="exit with 1 from this severity on, shown or not",
    )
    return parser


def lint(args: argparse.Namespace) -> int:
    """`foreword lint [DIR]`"""
    from ..extensions import installed
    from ..programs.proofread import proofread
    from ..vocabulary import replace

    prompts = assembler(args)
    agent = as_in_a_conversation(args.agent, prompts, args)
    report = proofread(prompts, agent, args.clock, args.disable, args.recursive, installed())
    wanted = _SEVERITIES[: _SEVERITIES.index(args.min_severity) + 1]
    fatal = _SEVERITIES[: _SEVERITIES.index(args.fail) + 1]
    shown = tuple(each for each in report.findings if each.severity in wanted)
    _WRITERS["json" if args.json else args.format](replace(report, findings=shown), args)
    return 1 if any(each.severity in fatal for each in report.findings) else 0


def _write_json(report: Report, _: argparse.Namespace) -> None:
    from ..wire.differences import lint_form

    write_json(lint_form(report))


def _write_sarif(report: Report, _: argparse.Namespace) -> None:
    from ..inspection.lint.formats import sarif_form
    from ..version import __version__

    write_json(sarif_form(report.findings, report.root, __version__))


def _write_github(report: Report, _: argparse.Namespace) -> None:
    from ..inspection.lint.formats import annotation

    for each in report.findings:
        write(annotation(each, report.root))


def _write_text(report: Report, args: argparse.Namespace) -> None:
    """On a terminal by file, the worst first in the sum; piped, a line for each, with its place at the start."""
    if is_terminal(sys.stdout):
        from .paths import paths_of

        paths = paths_of(args, ".")
        by_file: dict[str, list[Finding]] = {}
        for each in report.findings:
            by_file.setdefault(each.path, []).append(each)
        for path, findings in by_file.items():
            _write_file(path, findings, paths)
    else:
        for each in report.findings:
            place = ":".join([_from_here(each.path) or "prompt", *([str(each.line)] if each.line else [])])
            write(_one_line(f"{place}: {each.severity}: {_from_here_in(_sentence(each))} [{each.code}]"))
    sys.stdout.flush()
    print(fitted(_sum(report), _stream()), file=_stream())


def _one_line(text: str) -> str:
    """A finding on one line, whatever it quotes."""
    return visible(" ".join(text.splitlines()))


def _write_file(path: str, findings: Sequence[Finding], paths: Paths) -> None:
    """One file: its path, and below it line, severity and sentence, the check at the end."""
    columns = columns_of(sys.stdout)
    write(painted(visible(middle_cut(paths.short(path), columns)) or "the whole prompt", "bold"))
    numbers = max(len(str(each.line or "")) for each in findings)
    indent = 2 + numbers + 2 + 9
    width = max(columns - indent, _NARROWEST)
    for each in findings:
        lines = wrapped(visible(" ".join(paths.in_text(_sentence(each)).split())), width)
        if width_of(lines[-1]) + 2 + len(each.code) <= width:
            lines[-1] += "  " + painted(each.code, "dim")
        else:
            lines.append(painted(each.code, "dim"))
        head = f"  {each.line or '':>{numbers}}  {painted(f'{each.severity:<9}', SEVERITIES[each.severity])}"
        write(head + ("\n" + " " * indent).join(lines))
    write("\n")


def _from_here(path: str) -> str:
    """A path as seen from the folder the command was called in, where it lies below it: what programs can open."""
    here = os.getcwd().rstrip("/") + "/"
    return path.removeprefix(here)


def _sentence(each: Finding) -> str:
    """The message without the path that is printed beside it anyway."""
    text = each.message
    if each.path and text.startswith(each.path):
        text = text[len(each.path) :].lstrip(": ")
    return text


def _from_here_in(text: str) -> str:
    """A sentence, with paths as seen from the folder the command was called in."""
    return text.replace(os.getcwd().rstrip("/") + "/", "")


def _sum(report: Report) -> str:
    counts = [sum(each.severity == severity for each in report.findings) for severity in _SEVERITIES]
    told = [
        painted(f"{count:,} {name}{'s' if count != 1 and name != 'info' else ''}", SEVERITIES[name], _stream())
        for name, count in zip(_SEVERITIES, counts, strict=True)
        if count
    ]
    files = f"{report.files:,} file{'s' if report.files != 1 else ''}"
    return f"{files} looked at: {', '.join(told) if told else painted('nothing to say', 'green', _stream())}"


def _stream() -> TextIO:
    return sys.stdout if is_terminal(sys.stdout) else sys.stderr


_WRITERS = {"text": _write_text, "json": _write_json, "sarif": _write_sarif, "github": _write_github}
