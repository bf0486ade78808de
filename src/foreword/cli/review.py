"""`foreword review`: print what a change does, as text, JSON, SARIF, GitHub annotations or Markdown."""

from __future__ import annotations

import os

from ..text.lines import printable
from .options import new_parser
from .progress import CountedWork
from .terminal import SEVERITIES, finding_line, paint, write, write_error, write_json, write_line, write_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..programs.review import Review
    from .arguments import Namespace, Parser

OWN_COMMANDS = {
    "review": (
        "What a change does",
        "show what a change in git does to each agent's prompt, and what it costs",
        "foreword review origin/main",
        "ReviewForm",
    ),
}

_SEVERITIES = tuple(SEVERITIES)


def parser_for(command: str) -> Parser:
    """Return the parser for this command."""
    about = "a layout to review instead of the detected ones; may be repeated"
    parser = new_parser(command, several_layouts=about)
    parser.add_argument(
        "range",
        metavar="BASE[..HEAD]",
        help="a commit to compare with HEAD, from their common ancestor; BASE..HEAD compares the two commits directly",
    )
    parser.add_argument("dir", nargs="?", default=".", metavar="DIR", help="a directory in the repository (.)")
    parser.add_argument(
        "--format",
        default="text",
        choices=("text", "json", "sarif", "github", "markdown"),
        metavar="NAME",
        help="text, json, sarif (2.1.0), github (workflow annotations) or markdown (a comment)",
    )
    parser.add_argument(
        "--prices", default="", metavar="FILE", help="a TOML file of prices that override the built-in ones"
    )
    parser.add_argument(
        "--fail",
        default="error",
        choices=_SEVERITIES,
        metavar="SEVERITY",
        help="exit with status 1 if a new finding has this severity or above",
    )
    about = "price the change by the requests that agents really sent in this repository in the last 30 days (see foreword sessions)"
    parser.add_argument("--sessions", action="store_true", help=about)
    parser.add_argument("--exit-code", action="store_true", help="exit with status 1 if a prompt changes")
    return parser


def review(args: Namespace) -> int:
    """`foreword review BASE[..HEAD] [DIR]`"""
    from ..programs.review import review_answer, review_change

    fields = {
        "cwd": args.dir,
        "range": args.range,
        "layouts": args.layouts,
        "prices": args.prices,
        "sessions": args.sessions,
    }
    with CountedWork("comparing prompts"):
        result = review_change(args.question.with_fields(**fields))
    if args.json or args.format == "json":
        write_json(review_answer(result))
    else:
        _WRITERS[args.format](result)
    fatal = _SEVERITIES[: _SEVERITIES.index(args.fail) + 1]
    has_failed = any(finding.severity in fatal for finding in result.new_findings)
    return 1 if has_failed or (args.exit_code and result.prompts) else 0


def _write_sarif(result: Review) -> None:
    from .. import __version__
    from ..inspection.lint.formats import sarif_form

    write_json(sarif_form(result.new_findings, "", __version__))


def _write_github(result: Review) -> None:
    from ..inspection.lint.formats import annotation
    from .review_words import cost_period, describe_cost, describe_place

    period = cost_period(result).replace(",", "%2C")
    for finding in result.new_findings:
        write(annotation(finding, ""))
    for prompt in result.prompts:
        effect = prompt.effect
        cost = describe_cost(result, prompt)
        write(
            f"::notice title=foreword review::{printable(prompt.layout)} {describe_place(prompt.folder)}: "
            f"{effect.before:,} → {effect.after:,} tokens{f' ({cost} {period})' if cost else ''}"
        )


def _write_markdown(result: Review) -> None:
    from .review_markdown import markdown

    write(markdown(result))


# Text


def _write_text(result: Review) -> None:
    from .review_words import cost_period, describe_cost, describe_place, headline, price_note

    write_line(paint(headline(result), "bold"))
    _write_files(result)
    if result.prompts:
        write("\n")
        rows = []
        for prompt in result.prompts:
            before, after = prompt.effect.before, prompt.effect.after
            place = describe_place(prompt.folder)
            cost = describe_cost(result, prompt)
            rows.append((prompt.layout, place, f"{before:,}", f"{after:,}", f"{after - before:+,}", cost))
        header = ("agent", "where", "before", "after", "tokens", cost_period(result))
        write_table(rows, header, right=(2, 3, 4, 5), always_header=True)
        write_line(paint(price_note(result), "dim"), indent=2)
        _write_texts(result)
    if result.new_findings:
        write("\n")
        write_line(paint("new findings", "bold"))
        for finding in result.new_findings:
            write_line(f"  {finding_line(finding)}", indent=4)
    if result.fixed_findings:
        write("\n")
        write_line(paint("fixed findings", "bold"))
        for finding in result.fixed_findings:
            write_line(f"  {finding_line(finding)}", indent=4)
    for note in result.notes:
        write_error(note, indent=2)


def _write_files(result: Review) -> None:
    from .review_words import describe_outcomes, name_of

    rows = [
        (name_of(row), row.change, describe_outcomes(row))
        for row in result.files
        if row.verdicts or row.change != "unchanged"
    ]
    if rows:
        write("\n")
        write_table(rows, ("file", "change", "agents"), paths=(0,), always_header=True)


def _write_texts(result: Review) -> None:
    from ..programs.review import group_by_text
    from .edits import write_section
    from .paths import ShortPaths
    from .review_words import describe_place, join_layouts

    for group in group_by_text(result.prompts):
        first = group[0]
        write("\n")
        write_line(paint(f"{join_layouts(group)} {describe_place(first.folder)}", "bold"), indent=2)
        for section in first.difference.sections:
            write_section(section, first.old.text, first.new.text, ShortPaths(os.sep))


_WRITERS = {"text": _write_text, "sarif": _write_sarif, "github": _write_github, "markdown": _write_markdown}
