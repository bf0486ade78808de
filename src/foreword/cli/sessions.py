"""`foreword sessions`: print what released agents did, what it cost, and why the cache broke."""

from __future__ import annotations

import sys
import time

from ..errors import CallError
from .options import OPTIONS, add_dir_argument, new_parser
from .progress import Counter
from .session_words import (
    KINDS,
    age,
    amount,
    hit_rate,
    models,
    money,
    money_column,
    report_forms,
    when,
    write_advice,
    write_days,
    write_total,
)
from .terminal import count_of, is_terminal, paint, write_error, write_json, write_line, write_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .arguments import Namespace, Parser
    from .paths import ShortPaths

OWN_COMMANDS = {
    "sessions": (
        "What it costs",
        "show what released agents did, what it cost, and why the cache broke",
        "foreword sessions . --since 7d",
        "SessionsForm | SessionRowsForm | SessionDetailForm | InForceForm",
    ),
}

_SHARED = ("--json", "--home", "--now", "--settings")
_ID = 8
_MOST = 40  # sessions, or rows of --by, in a terminal; the sums are below them


def parser_for(command: str) -> Parser:
    """Return the parser for this command."""
    from ..programs.sessions import DIMENSIONS

    parser = add_dir_argument(new_parser(command, without=[name for name, _ in OPTIONS if name not in _SHARED]))
    parser.add_argument("--everywhere", action="store_true", help="all sessions, not only those in DIR's repository")
    parser.add_argument("--since", default="", metavar="TIME", help="only requests since then: 7d, 12h or 2026-11-01")
    parser.add_argument("--until", default="", metavar="TIME", help="only requests until then: 7d, 12h or 2026-11-01")
    about = "only this agent (claude, codex, …); may be repeated"
    parser.add_argument("--agent", action="append", default=[], dest="agents", metavar="NAME", help=about)
    parser.add_argument("--model", default="", metavar="NAME", help="only requests to this model")
    about = f"what each cost: {', '.join(DIMENSIONS)}"
    parser.add_argument("--by", default="", choices=DIMENSIONS, metavar="NAME", help=about)
    parser.add_argument(
        "--id", default="", metavar="ID", help="one session, request by request; a unique beginning will do"
    )
    about = "with --id: when this file, or its line, was in the requests"
    parser.add_argument("--in-force", default="", metavar="FILE[:LINE]", help=about)
    about = "with --id: when this text was in the requests"
    parser.add_argument("--in-force-text", default="", metavar="TEXT", help=about)
    parser.add_argument("--at", default="", metavar="TIME", help="with --in-force: only at this time")
    parser.add_argument("--utc", action="store_true", help="days and times in UTC instead of the local zone")
    parser.add_argument(
        "--no-cache", action="store_true", help="neither use nor write the index of logs that were read"
    )
    parser.add_argument("--csv", action="store_true", help="print comma-separated values")
    return parser


def sessions(args: Namespace) -> int:
    """`foreword sessions [DIR]`"""
    from ..programs.sessions import sessions_answer

    names = (
        "everywhere",
        "since",
        "until",
        "agents",
        "model",
        "by",
        "utc",
        "no_cache",
        "id",
        "in_force",
        "in_force_text",
        "at",
    )
    if args.json and args.csv:
        raise CallError("--json and --csv exclude each other")
    fields = {name: getattr(args, name) for name in names}
    with Counter("reading logs") as progress:
        answer = sessions_answer(args.question.with_fields(**fields, progress=progress))
    if args.json:
        write_json(answer)
        return 0
    if args.csv:
        from .session_csv import write_csv

        write_csv(answer)
    elif args.id:
        from .session_detail import write_detail

        write_detail(answer)
    elif args.by:
        _write_rows(answer, args)
    else:
        _write_sessions(answer, args)
    report_forms(answer["findings"])
    return 0


# Tables


def _write_nothing(args: Namespace) -> None:
    """Say that no sessions were found, and where they would have been found."""
    given = {"--since": args.since, "--until": args.until, "--model": args.model, "--agent": args.agents}
    limits = " and ".join(name for name, value in given.items() if value)
    matching = f" that match {limits}" if limits else ""
    if not args.everywhere:
        write_error(f"no sessions were found in this repository{matching}; --everywhere shows those of all folders")
    elif limits:
        write_error(f"no sessions were found{matching}")
    else:
        from ..programs.sessions import agent_names

        write_error(f"no sessions were found: there are no logs of {agent_names()} in the home directory")


def _write_sessions(answer: Mapping[str, Any], args: Namespace) -> None:
    if not answer["sessions"]:
        _write_nothing(args)
        return
    now = args.question.now.timestamp() if args.question.now else time.time()
    is_short = is_terminal(sys.stdout)
    rows = [
        (
            session["id"][:_ID],
            session["agent"],
            age(session["ended"], now) if is_short else when(session["ended"]),
            models(session["models"], is_short),
            f"{session['requests']:,}",
            *(amount(session["tokens"][kind]) for kind in KINDS),
            money(session["cost"]),
            hit_rate(session["tokens"]),
            str(session["collapses"] or ""),
        )
        for session in (answer["sessions"][:_MOST] if is_short else answer["sessions"])
    ]
    header = ("id", "agent", "ended", "model", "requests", *KINDS, "cost", "hit", "breaks")
    write_table(rows, header, ("dim",), right=range(4, 12), optional=(8, 5, 10, 6))
    if older := len(answer["sessions"]) - len(rows):
        write_line(f"and {count_of(older, 'older session')}; --since 7d lists fewer, --csv and --json list all")
    write_days(answer["days"])
    write_total(answer["total"])
    write_advice(answer["advice"])
    if is_short:
        hint = "--by file: what each instruction file cost; --id ID: one session"
        write_line(paint(hint, "dim"))


def _write_rows(answer: Mapping[str, Any], args: Namespace) -> None:
    from .paths import paths_of

    paths = paths_of(args)
    answer_rows = _folded(answer["rows"]) if is_terminal(sys.stdout) else answer["rows"]
    costs = money_column([row["cost"] for row in answer_rows], answer["total"]["cost"])
    rows = [
        (
            paths.shorten(row["key"]),
            f"{row['times']:,}",
            *(amount(row["tokens"][kind]) for kind in KINDS),
            cost,
            row["exactness"],
        )
        for row, cost in zip(answer_rows, costs, strict=True)
    ]
    if not rows:
        _write_nothing(args)
        return
    header = (answer["by"], "times", *KINDS, "cost", "exactness")
    write_table(rows, header, ("", "", "", "", "", "", "", "dim"), right=range(1, 7), paths=(0,))
    write_total(answer["total"])
    if answer["by"] == "file":
        _write_first_file(answer, paths)
    write_advice(answer["advice"])


def _folded(rows: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return the first rows, and one for all others, so that they still add up to the total."""
    if len(rows) <= _MOST:
        return rows
    from ..sessions.values import EXACTNESS

    others = rows[_MOST - 1 :]
    costs = [row["cost"] for row in others if row["cost"] is not None]
    folded = {
        "key": f"({len(others):,} others: --csv)",
        "times": sum(row["times"] for row in others),
        "tokens": {kind: sum(row["tokens"][kind] for row in others) for kind in KINDS},
        "cost": sum(costs) if costs else None,
        "exactness": max((row["exactness"] for row in others), key=EXACTNESS.index),
    }
    return [*rows[: _MOST - 1], folded]


def _write_first_file(answer: Mapping[str, Any], paths: ShortPaths) -> None:
    """Name the instruction file that cost most, because other rows may cost more."""
    from ..programs.sessions import SECTION_NAMES

    file = next((row for row in answer["rows"] if row["cost"] and row["key"] not in SECTION_NAMES), None)
    if file is not None:
        share = f"{file['cost'] / answer['total']['cost']:.0%} of it"
        write_line(f"most expensive file: {paths.shorten(file['key'])}, {money(file['cost'])} ({share})", indent=2)
