"""Commands that build and inspect a prompt: show, why, blame, tokens."""

from __future__ import annotations

import sys

from .options import add_dir_argument, new_parser, status
from .terminal import (
    describe_count,
    describe_own_part,
    escape_for,
    is_terminal,
    report,
    shows_colours,
    terminal_width,
    write_error,
    write_json,
    write_line,
    write_note,
    write_parts,
    write_table,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..vocabulary import Candidate, Prompt
    from ..wire.forms import CountedTool
    from .arguments import Namespace, Parser

OWN_COMMANDS = {
    "show": (
        "Prompts of your own",
        "print the prompt; findings go to standard error",
        "foreword show . --tool read_file --tool shell",
        "ShowForm",
    ),
    "why": (
        "agents",
        "list every file that was considered, and why it is or is not in the prompt",
        "foreword why . packages/web/CLAUDE.md",
        "list[ExplainedForm]",
    ),
    "blame": (
        "show",
        "print the prompt with the origin of each line",
        "foreword blame . --git",
        "list[LineForm] | AuthorshipForm | AuthorSumsForm | PricedFileForm",
    ),
    "tokens": (
        "sessions",
        "list what each section costs in tokens",
        "foreword tokens . --model claude-opus-5.5",
        "CountedForm",
    ),
}

_FATE_COLOURS = {
    "used": "green",
    "cut": "yellow",
    "unreadable": "red",
    "binary": "red",
    "refused": "red",
    "untrusted": "red",
}
_LONGEST_BAR, _SHORTEST_BAR = 40, 8


def parser_for(command: str) -> Parser:
    """Return the parser for one of these commands."""
    if command == "tokens":
        from ..programs.subjects import ACCEPTED

        parser = new_parser(command)
        parser.add_argument("dir", nargs="?", metavar="DIR|PROMPT", help=ACCEPTED)
        return parser
    parser = add_dir_argument(new_parser(command))
    if command == "show":
        about = (
            "leave out a file, FILE#HEADING, FILE:FIRST-LAST or HEADING, with its copies and imports; may be repeated"
        )
        parser.add_argument("--without", action="append", default=[], metavar="FILE|SECTION", help=about)
    if command == "why":
        about = "show only candidates with this name, or at or below this path"
        parser.add_argument("path", nargs="?", default="", metavar="PATH", help=about)
        parser.add_argument("--all", action="store_true", help="also list files that do not exist")
        about = "say whether the rule PATH applies to this file"
        parser.add_argument("--for", dest="file", default="", metavar="FILE", help=about)
    if command == "blame":
        about = "show the author, commit and age of each line that comes from the repository"
        parser.add_argument("--git", action="store_true", help=about)
        about = "sum the tokens of these lines by author, file or age; implies --git"
        parser.add_argument("--by", default="", choices=("author", "file", "age"), metavar="NAME", help=about)
        about = "with --cost: the instruction file whose lines are shown"
        parser.add_argument("--file", default="", metavar="FILE", help=about)
        about = "show what each line of --file cost in the sessions of released agents"
        parser.add_argument("--cost", action="store_true", help=about)
        about = "with --cost: only requests since then, such as 30d or 2026-11-01"
        parser.add_argument("--since", default="", metavar="TIME", help=about)
    return parser


def show(args: Namespace) -> int:
    """`foreword show [DIR]`"""
    if args.without:
        args.question = args.question.with_fields(without=args.without)
    return write_prompt(args.question.checked_prompt(), args)


def write_prompt(prompt: Prompt, args: Namespace) -> int:
    """Print a prompt, and its findings to standard error. Returns the exit status."""
    if args.json:
        from ..programs.questions import prompt_answer

        write_json(prompt_answer(args.question, prompt))
    else:
        write_parts(prompt.text, [(passage.start, passage.role, passage.message) for passage in prompt.passages])
        report(prompt.findings, args)
    return status(prompt.findings, args)


def why(args: Namespace) -> int:
    """`foreword why [DIR] [PATH]`; a single argument is PATH if it is a file."""
    from ..programs import questions

    if not args.path and _is_file(args.dir):
        args.path, args.dir = args.dir, "."
    question = args.question.with_fields(cwd=args.dir, path=args.path, **{"for": args.file} if args.file else {})
    findings = question.checked_prompt().findings
    if args.json:
        write_json(questions.why(question))
        return status(findings, args)
    candidates = questions.candidates_of(question)
    _write_candidates(candidates, args)
    existing = [candidate for candidate in candidates if candidate.fate != "absent"] or candidates
    if len(existing) == 1 and (advice := questions.advice_of(question)(existing[0])):
        from .paths import paths_of

        write_note(f"to include it: {paths_of(args).shorten_in(advice)}")
    report(findings, args)
    return status(findings, args)


def _write_candidates(candidates: Sequence[Candidate], args: Namespace) -> None:
    from ..programs.explain import split_readers
    from .paths import paths_of

    paths = paths_of(args)
    visible = [candidate for candidate in candidates if args.all or args.path or candidate.fate != "absent"]
    reasons = [split_readers(candidate.reason) for candidate in visible]
    write_table(
        [
            (candidate.fate, candidate.layer, paths.shorten(candidate.path), paths.shorten_in(reason))
            for candidate, (reason, _) in zip(visible, reasons, strict=True)
        ],
        ("fate", "layer", "file", "reason"),
        ("", "", "", "dim"),
        paths=(2,),
        row_colours=[{0: _FATE_COLOURS.get(candidate.fate, "dim")} for candidate in visible],
    )
    for clause in (clause for _, clauses in reasons for clause in clauses):
        write_note(clause)
    hidden = len(candidates) - len(visible)
    if hidden:
        files = "1 more file does not exist" if hidden == 1 else f"{hidden:,} more files do not exist"
        write_error(f"{files} (--all lists {'it' if hidden == 1 else 'them'})")
    if not candidates:
        write_error("no files were considered")


def blame(args: Namespace) -> int:
    """`foreword blame [DIR]`"""
    if args.cost or args.file or args.since:
        from .session_lines import write_line_costs

        return write_line_costs(args)
    if args.git or args.by:
        from .authorship import write_authorship

        return write_authorship(args)
    prompt = args.question.checked_prompt()
    if args.json:
        from ..programs import questions

        write_json(questions.blame(args.question))
        return status(prompt.findings, args)
    from ..inspection.origins import lines_of
    from .labels import label_of, write_labelled_lines
    from .paths import paths_of

    paths = paths_of(args)
    write_labelled_lines(
        [
            (line.origin, escape_for(sys.stdout, label_of(line.origin, line.line, paths)), line.text)
            for line in lines_of(prompt)
        ]
    )
    report(prompt.findings, args)
    return status(prompt.findings, args)


def tokens(args: Namespace) -> int:
    """`foreword tokens [DIR]`, `foreword tokens PROMPT`"""
    from ..programs.questions import count_prompt
    from ..programs.subjects import is_folder

    question = args.question
    if not is_folder(args.dir):
        from .inspect import prompt_field

        question, args.dir = question.with_fields(cwd=".", prompt=prompt_field(args.dir)), "."
    counted = count_prompt(question)
    form, findings = counted.form, counted.prompt.findings
    if args.json:
        write_json(form)
        return status(findings, args)
    roles = ["role"] if any("message" in passage for passage in form["passages"]) else []
    rows = [
        (passage["section"], passage["lifetime"], *([passage["role"]] if roles else []), f"{passage['tokens']:,}")
        for passage in form["passages"]
    ]
    bars = _bars([passage["tokens"] for passage in form["passages"]], rows)
    write_table(
        [(*row, bar) for row, bar in zip(rows, bars, strict=True)],
        ("section", "lifetime", *roles, "tokens", ""),
        ("", "dim", *("dim" for _ in roles), "", "cyan"),
        right=(2 + len(roles),),
    )
    total = form["tokens"]
    write_line(describe_count(total["count"], total["method"], total["error"], counted.model))
    if own := form["own"]:
        write_line(describe_own_part(own))
    _write_tools(form["tools"])
    report(findings, args)
    return status(findings, args)


def _write_tools(tools: Sequence[CountedTool]) -> None:
    """Print the token counts of the tools, which are sent in addition to the prompt: by tool, and by MCP server."""
    if not tools:
        return
    from ..wire.counting import counts_by_server

    rows = [(tool["name"], tool["server"] or "", f"{tool['tokens']:,}") for tool in tools]
    servers = [
        (f"all {number} of {name}", name, f"{tokens:,}")
        for name, (number, tokens) in counts_by_server(tools).items()
        if name and number > 1
    ]
    write_table([*rows, *servers], ("tool", "server", "tokens"), ("", "dim", ""), right=(2,))
    write_line(f"{sum(tool['tokens'] for tool in tools):,} tokens for tools, in addition to the prompt")


def _bars(counts: Sequence[int], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a bar for each count. The longest fills the space to the right of the rows."""
    from .columns import GAP, display_width

    longest = _LONGEST_BAR
    if is_terminal(sys.stdout):
        rows_width = sum(max(map(display_width, column)) + GAP for column in zip(*rows, strict=True))
        longest = min(max(terminal_width(sys.stdout) - rows_width, _SHORTEST_BAR), _LONGEST_BAR)
    sign, maximum = "█" if shows_colours(sys.stdout) else "#", max(counts, default=1) or 1
    return [sign * max(round(count / maximum * longest), 1 if count else 0) for count in counts]


def _is_file(name: str) -> bool:
    """Whether this is an existing path that is not a directory."""
    import os

    from ..sources.environment import absolute

    path = absolute(name, os.environ)
    return os.path.lexists(path) and not os.path.isdir(path)
