"""`foreword lock`: record what a repository's prompts consist of, or compare them with the record."""

from __future__ import annotations

from .options import add_dir_argument, new_parser
from .terminal import write_error, write_json, write_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .arguments import Namespace, Parser

OWN_COMMANDS = {
    "lock": (
        "diff",
        "record what a repository's prompts consist of, or check the record",
        "foreword lock . --check",
        "LockForm",
    ),
}


def parser_for(command: str) -> Parser:
    """Return the parser for this command."""
    about = "a layout to lock instead of the detected ones; may be repeated"
    parser = add_dir_argument(new_parser(command, several_layouts=about))
    about = "write nothing; if foreword.lock is out of date, print the differences and exit with status 1"
    parser.add_argument("--check", action="store_true", help=about)
    return parser


def lock(args: Namespace) -> int:
    """`foreword lock [DIR]`"""
    from ..programs.lock import LOCK_FILE, lock_answer, lock_report, write_lock

    report = lock_report(args.question.with_fields(layouts=args.layouts))
    if not args.check:
        write_lock(report)
    if args.json:
        write_json(lock_answer(report))
        return 1 if args.check and report.differences else 0
    counts = f"{_count(len(report.lock.prompts), 'prompt')} from {_count(len(report.lock.files), 'file')}"
    if not args.check:
        write_line(f"{LOCK_FILE} records {counts}", indent=2)
        return 0
    for sentence in report.differences:
        write_line(sentence, indent=2)
    if report.differences:
        if report.exists:
            write_error(f"{LOCK_FILE} is out of date; read the differences, then run: foreword lock", indent=2)
        return 1
    write_line(f"{LOCK_FILE} is up to date: {counts}", indent=2)
    return 0


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
