"""`foreword lint`: report likely mistakes in a prompt, as text, JSON, SARIF or GitHub annotations."""

from __future__ import annotations

import os
import sys

from ..text.lines import escape_controls
from .columns import display_width, shorten_middle, wrap
from .options import add_dir_argument, new_parser
from .progress import CountedWork
from .terminal import SEVERITIES, is_terminal, paint, terminal_width, wrap_for, write, write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

    from ..programs.proofread import Report
    from ..vocabulary import Finding
    from .arguments import Namespace, Parser
    from .paths import ShortPaths

OWN_COMMANDS = {
    "lint": (
        "touch",
        "report likely mistakes in the prompt and its files",
        "foreword lint . --recursive",
        "LintForm",
    ),
}

_SEVERITIES = tuple(SEVERITIES)
_MIN_WIDTH = 12


def parser_for(command: str) -> Parser:
    """Return the parser for this command."""
    parser = add_dir_argument(new_parser(command))
    parser.add_argument(
        "--recursive",
        action="store_true",
        help="also check every folder below DIR that contains instructions, and every SKILL.md",
    )
    parser.add_argument(
        "--format",
        default="text",
        choices=("text", "json", "sarif", "github"),
        metavar="NAME",
        help="text, json, sarif (2.1.0) or github (workflow annotations)",
    )
    parser.add_argument("--disable", action="append", default=[], metavar="CHECK", help="a check to skip")
    parser.add_argument(
        "--min-severity",
        default="",
        choices=_SEVERITIES,
        metavar="SEVERITY",
        help="hide findings below this severity: error, warning or info (warning, or that of --fail if it is lower)",
    )
    parser.add_argument(
        "--fail",
        default="error",
        choices=_SEVERITIES,
        metavar="SEVERITY",
        help="exit with status 1 if a finding has this severity or above, even if it is hidden",
    )
    return parser


def lint(args: Namespace) -> int:
    """`foreword lint [DIR]`"""
    from ..programs.questions import filter_findings, lint_answer, lint_report

    min_severity = args.min_severity or max("warning", args.fail, key=_SEVERITIES.index)
    question = args.question.with_fields(recursive=args.recursive, disable=args.disable, min_severity=min_severity)
    with CountedWork("checking"):
        report = lint_report(question)
    if args.json or args.format == "json":
        write_json(lint_answer(question, report))
    else:
        shown = filter_findings(question, report)
        _WRITERS[args.format](shown, args)
        if args.format == "text":
            _write_summary(shown, len(report.findings) - len(shown.findings), args)
    fatal = _SEVERITIES[: _SEVERITIES.index(args.fail) + 1]
    return 1 if any(finding.severity in fatal for finding in report.findings) else 0


def _write_sarif(report: Report, _: Namespace) -> None:
    from .. import __version__
    from ..inspection.lint.formats import sarif_form

    write_json(sarif_form(report.findings, report.root, __version__))


def _write_github(report: Report, _: Namespace) -> None:
    from ..inspection.lint.formats import annotation

    for finding in report.findings:
        write(annotation(finding, report.root))


def _write_text(report: Report, args: Namespace) -> None:
    """Print findings grouped by file on a terminal, otherwise one per line with the location first."""
    if is_terminal(sys.stdout):
        from .paths import paths_of

        paths = paths_of(args, ".")
        by_file: dict[str, list[Finding]] = {}
        for finding in report.findings:
            by_file.setdefault(finding.path, []).append(finding)
        for path, findings in by_file.items():
            _write_file(path, findings, paths)
    else:
        for finding in report.findings:
            location = ":".join(
                [_relative_path(finding.path) or "prompt", *([str(finding.line)] if finding.line else [])]
            )
            write(
                _one_line(
                    f"{location}: {finding.severity}: {_shorten_paths(_message_without_path(finding))} [{finding.code}]"
                )
            )


def _write_summary(shown: Report, hidden_count: int, args: Namespace) -> None:
    """Print how many findings there are, and what was not shown or not checked."""
    sys.stdout.flush()
    lines = [_summary(shown, hidden_count), *([] if args.recursive else _note_files_below(args))]
    for line in lines:
        print(wrap_for(line, _summary_stream()), file=_summary_stream())


def _note_files_below(args: Namespace) -> Iterator[str]:
    """Yield a note if the folders below have instruction files, which are checked only with --recursive."""
    from ..programs.questions import files_not_checked

    count = files_not_checked(args.question)
    if count:
        subject = (
            "1 instruction file in another folder was"
            if count == 1
            else f"{count:,} instruction files in other folders were"
        )
        yield f"{subject} not checked; --recursive checks {'it' if count == 1 else 'them'}"


def _one_line(text: str) -> str:
    """Return the text on one line, with control characters escaped."""
    return escape_controls(" ".join(text.splitlines()))


def _write_file(path: str, findings: Sequence[Finding], paths: ShortPaths) -> None:
    """Print a file's path, and below it each finding's line, severity, message and check."""
    columns = terminal_width(sys.stdout)
    write(paint(escape_controls(shorten_middle(paths.shorten(path), columns)) or "the prompt", "bold"))
    number_width = max(len(str(finding.line or "")) for finding in findings)
    indent = 2 + number_width + 2 + 9
    width = max(columns - indent, _MIN_WIDTH)
    for finding in findings:
        lines = wrap(escape_controls(" ".join(paths.shorten_in(_message_without_path(finding)).split())), width)
        if display_width(lines[-1]) + 2 + len(finding.code) <= width:
            lines[-1] += "  " + paint(finding.code, "dim")
        else:
            lines.append(paint(finding.code, "dim"))
        head = (
            f"  {finding.line or '':>{number_width}}  {paint(f'{finding.severity:<9}', SEVERITIES[finding.severity])}"
        )
        write(head + ("\n" + " " * indent).join(lines))
    write("\n")


def _relative_path(path: str) -> str:
    """Return the path, relative to the current directory if it is below it, so that other programs can open it."""
    prefix = os.getcwd().rstrip("/") + "/"
    return path.removeprefix(prefix)


def _message_without_path(finding: Finding) -> str:
    """Return the message without the path at its start, which is printed separately."""
    text = finding.message
    if finding.path and text.startswith(finding.path):
        text = text[len(finding.path) :].lstrip(": ")
    return text


def _shorten_paths(text: str) -> str:
    """Return the message with paths below the current directory made relative."""
    return text.replace(os.getcwd().rstrip("/") + "/", "")


def _summary(report: Report, hidden_count: int) -> str:
    counts = [sum(finding.severity == severity for finding in report.findings) for severity in _SEVERITIES]
    parts = [
        paint(f"{count:,} {name}{'s' if count != 1 and name != 'info' else ''}", SEVERITIES[name], _summary_stream())
        for name, count in zip(_SEVERITIES, counts, strict=True)
        if count
    ]
    files = f"{report.files:,} file{'s' if report.files != 1 else ''}"
    hidden = f"; {hidden_count:,} less severe (--min-severity info)" if hidden_count else ""
    return f"{files} checked: {', '.join(parts) if parts else paint('no findings', 'green', _summary_stream())}{hidden}"


def _summary_stream() -> TextIO:
    return sys.stdout if is_terminal(sys.stdout) else sys.stderr


_WRITERS = {"text": _write_text, "sarif": _write_sarif, "github": _write_github}
