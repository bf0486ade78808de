"""`foreword trust`: show what a workspace contributes to prompts, and accept it."""

from __future__ import annotations

import sys

from ..text.lines import printable
from .options import add_dir_argument, new_parser
from .terminal import is_terminal, write_error, write_json, write_line, write_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..programs.question import Question
    from ..programs.trust import Trusting
    from .arguments import Namespace, Parser

OWN_COMMANDS = {
    "trust": (
        "align",
        "show what a workspace contributes to prompts, and accept it",
        "foreword trust . --ref origin/main",
        "TrustForm",
    ),
}

_MAX_RUNS = 5
_COLOURS = {"trusted": "green", "changed": "yellow", "new": "yellow"}


def parser_for(command: str) -> Parser:
    """Return the parser for this command."""
    about = "a layout to consider instead of the detected ones; may be repeated"
    parser = add_dir_argument(new_parser(command, several_layouts=about))
    parser.add_argument("--yes", action="store_true", help="accept the files without asking")
    about = "trust everything in the history of this branch or tag, such as origin/main"
    parser.add_argument("--ref", default="", metavar="NAME", help=about)
    parser.add_argument("--revoke", action="store_true", help="forget everything that was accepted in this workspace")
    parser.add_argument("--list", action="store_true", help="list the workspaces in which files were accepted")
    return parser


def trust(args: Namespace) -> int:
    """`foreword trust [DIR]`"""
    from ..programs.trust import Trusting

    question = args.question.with_fields(layouts=args.layouts)
    if args.list:
        return _list(question, args)
    trusting = Trusting(question)
    return _revoke(trusting, args) if args.revoke else _accept(trusting, args)


def _list(question: Question, args: Namespace) -> int:
    from ..programs.trust import trust_answer, trusted_workspaces

    workspaces = trusted_workspaces(question)
    if args.json:
        write_json(trust_answer("", "", (), workspaces, False))
    else:
        if not workspaces:
            print("no files have been accepted in any workspace", file=sys.stderr)
        rows = [(row.root, f"{row.files:,}", row.ref) for row in workspaces]
        write_table(rows, ("workspace", "files", "ref"), right=(1,), paths=(0,))
    return 0


def _accept(trusting: Trusting, args: Namespace) -> int:
    """Show the files, and accept them if the user agrees."""
    from ..programs.trust import trust_answer

    if args.ref:
        trusting.trust_ref(args.ref)
    files = trusting.files()
    if not args.json:
        rows = [(row.state, row.path, row.hash[:19], _describe_lines(row.lines)) for row in files]
        colours = [{0: _COLOURS[row.state]} for row in files]
        write_table(rows, ("state", "file", "hash", "lines"), paths=(1,), row_colours=colours)
    untrusted = sum(row.state != "trusted" for row in files)
    is_accepted = not untrusted or args.yes or _asks(untrusted)
    if untrusted and is_accepted:
        trusting.accept()
    if args.json:
        write_json(trust_answer(trusting.root, trusting.record.ref, files, (), is_accepted))
    elif not is_accepted:
        write_error(_describe_refusal(untrusted, trusting.record.ref if args.ref else ""), indent=2)
    else:
        write_line(f"{len(files):,} file{' is' if len(files) == 1 else 's are'} trusted in {printable(trusting.root)}")
    return 0 if is_accepted else 1


def _describe_refusal(untrusted: int, ref: str) -> str:
    others = "1 other file was" if untrusted == 1 else f"{untrusted:,} other files were"
    start = f"{printable(ref)} is trusted; {others} not accepted" if ref else "nothing was accepted"
    return f"{start}; to accept {'it' if untrusted == 1 else 'them'}, pass --yes"


def _describe_lines(runs: Sequence[tuple[int, int]]) -> str:
    """Return the lines that are not in the trusted ref, such as `lines 3-5, 9`."""
    named = [str(first) if first == last else f"{first}-{last}" for first, last in runs[:_MAX_RUNS]]
    return f"lines {', '.join(named)}{', …' if len(runs) > _MAX_RUNS else ''}" if runs else ""


def _revoke(trusting: Trusting, args: Namespace) -> int:
    from ..programs.trust import trust_answer

    had_record = trusting.record.revoke()
    if args.json:
        write_json(trust_answer(trusting.root, "", (), (), False))
    else:
        result = "is no longer trusted" if had_record else "was not trusted"
        write_line(f"{printable(trusting.root)} {result}", indent=2)
    return 0


def _asks(count: int) -> bool:
    """Ask whether to accept the files. Without a terminal, nobody is asked, and the answer is no."""
    if not (sys.stdin.isatty() and is_terminal(sys.stdout)):
        return False
    sys.stdout.write(f"Trust {'this file' if count == 1 else f'these {count:,} files'}? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
