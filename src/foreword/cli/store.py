"""`foreword store`: inspect the database of conversations, and remove what is no longer needed."""

from __future__ import annotations

import sys

from ..errors import CallError
from ..store.rows import ALL_TEAMS, Pruned
from ..text.lines import printable
from .options import NOT_FOR_STORE, new_parser
from .terminal import count_of, is_terminal, write, write_json, write_line, write_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..programs.question import Question
    from ..store.contract import Store
    from ..store.moving import Moved
    from .arguments import Namespace, Parser

OWN_COMMANDS = {
    "store verify": (
        "store",
        "check the store by recomputing every hash",
        "foreword store verify",
        "FaultsForm",
    ),
    "store stats": (
        "store",
        "show how much the store contains",
        "foreword store stats",
        "StatsForm",
    ),
    "store migrate": (
        "store",
        "migrate the store's tables to this version",
        "foreword store migrate",
        "SchemaForm",
    ),
    "store backup": (
        "store",
        "save a SQLite store in a new file, while it is in use",
        "foreword store backup monday.db",
        "StatsForm",
    ),
    "store restore": (
        "store",
        "replace the content of a SQLite store by that of a backup",
        "foreword store restore monday.db",
        "StatsForm",
    ),
    "store forget": (
        "store",
        "remove a conversation, and any text that only it used",
        "foreword store forget 42",
        "ForgottenForm",
    ),
    "store prune": (
        "store",
        "remove old editions, and any text that only they used",
        "foreword store prune --older-than 30d",
        "PrunedForm",
    ),
}
OWN_FAMILIES = {"store": ("proxy", "the database of templates, prompts and conversations")}


def parser_for(command: str) -> Parser:
    """Return the parser for one of these commands."""
    is_for_team = command in ("store forget", "store prune")
    parser = new_parser(command, without=NOT_FOR_STORE if is_for_team else (*NOT_FOR_STORE, "--team"))
    if command == "store migrate":
        parser.add_argument(
            "--tokens",
            default="",
            metavar="FILE",
            help="a token file with prefixes: give everything whose id begins with a prefix to the team of its token",
        )
        parser.add_argument(
            "--contract",
            action="store_true",
            help="also remove what only older versions of Foreword need; run this when none of them is in use",
        )
    if command == "store backup":
        parser.add_argument("file", metavar="FILE", help="the file to write, which must not exist")
    if command == "store restore":
        parser.add_argument("file", metavar="FILE", help="a file that `foreword store backup` has written")
    if command == "store forget":
        parser.add_argument("id", metavar="ID", help="the id of the conversation")
    if command == "store prune":
        parser.add_argument(
            "--older-than",
            default="90d",
            metavar="AGE",
            help="remove editions that are older than this, such as 90d or 12h (90d)",
        )
        parser.add_argument(
            "--keep-last",
            type=int,
            default=1,
            metavar="N",
            help="keep the newest N editions of each conversation (1); 0 also removes conversations",
        )
    return parser


def store_verify(args: Namespace) -> int:
    """`foreword store verify`; exits with 1 if it finds a problem."""
    from ..store import open_store

    problems = open_store(args.question.existing_store_url()).verify()
    if args.json:
        write_json({"wrong": problems})
    else:
        write("\n".join(problems) if problems else "every hash matches, and every edition has its text")
    return 1 if problems else 0


def store_stats(args: Namespace) -> int:
    """`foreword store stats`"""
    from ..store import open_store

    stats = open_store(args.question.existing_store_url()).stats()
    if args.json:
        write_json(stats)
    else:
        write_table([(name, f"{number:,}") for name, number in stats.items()], ("stored", "count"), right=(1,))
    return 0


def store_backup(args: Namespace) -> int:
    """`foreword store backup FILE`"""
    from ..store.backup import back_up

    stats = back_up(args.question.existing_store_url(), args.file)
    if args.json:
        write_json(stats)
    else:
        write(
            f"saved {count_of(stats['conversations'], 'conversation')} in {printable(args.file)}, and verified every hash"
        )
    return 0


def store_restore(args: Namespace) -> int:
    """`foreword store restore FILE`"""
    from ..store.backup import restore

    stats = restore(args.question.url_to_write(), args.file)
    if args.json:
        write_json(stats)
    else:
        write(f"verified every hash, and restored {count_of(stats['conversations'], 'conversation')}")
    return 0


def store_migrate(args: Namespace) -> int:
    """`foreword store migrate`"""
    from ..store import open_store

    store = open_store(args.question.existing_store_url())
    version = store.migrate(args.contract)
    moved = _move_to_teams(store, args.tokens) if args.tokens else {}
    if args.json:
        rows = [{"team": row.team, **_counts(row)} for row in moved.values()]
        write_json({"version": version.version, "lowest": version.lowest, **({"moved": rows} if args.tokens else {})})
    else:
        write_line(
            f"the store's schema is version {version.version}; every Foreword with schema version {version.lowest} or later can use it",
            indent=2,
        )
        for prefix, row in moved.items():
            write_line(_describe_moved(prefix, row), indent=2)
    return 0


def _move_to_teams(store: Store, path: str) -> dict[str, Moved]:
    """Give what begins with the prefixes in a token file to their teams. Returns what has moved, by prefix."""
    from ..service.tokens import read_prefixes

    moved: dict[str, Moved] = {}
    prefixes = read_prefixes(path)
    for prefix in sorted(prefixes, key=lambda prefix: (-len(prefix), prefix)):
        for progress in store.move_to_teams({prefix: prefixes[prefix]}):
            moved[prefix] = progress
    return moved


def _counts(moved: Moved) -> dict[str, int]:
    return {"conversations": moved.conversations, "templates": moved.templates, "left": moved.left}


def _describe_moved(prefix: str, moved: Moved) -> str:
    what = f"{count_of(moved.conversations, 'conversation')} and {count_of(moved.templates, 'template')}"
    left = ""
    if moved.left:
        left = f"; {moved.left:,} stayed, because the team already has something with the same id"
    return f"{printable(prefix)}…: moved {what} to the team {printable(moved.team)!r}{left}"


def store_forget(args: Namespace) -> int:
    """`foreword store forget ID`"""
    if not args.question.existing_store().forget(args.id):
        raise CallError(f"no conversation {args.id!r} in the store; see foreword conversation list")
    if args.json:
        write_json({"forgotten": args.id})
    else:
        write(f"removed conversation {printable(args.id)} and everything that only it used")
    return 0


def store_prune(args: Namespace) -> int:
    """`foreword store prune`"""
    import time

    from ..store.forgetting import leave_time

    before = time.time() - _seconds(args.older_than)
    if args.keep_last < 0:
        raise CallError(f"--keep-last must be at least 0, not {args.keep_last}")
    total = Pruned()
    for store in _stores_of(args.question):
        removed = Pruned()
        for removed in leave_time(store.prune(before, args.keep_last)):
            if is_terminal(sys.stderr):
                print(f"\r{_describe(_add(total, removed))}", end="", file=sys.stderr, flush=True)
        total = _add(total, removed)
    if is_terminal(sys.stderr):
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    if args.json:
        write_json({"conversations": total.conversations, "editions": total.editions, "texts": total.texts})
    else:
        write(_describe(total))
    return 0


def _stores_of(question: Question) -> list[Store]:
    """Return the store of the team, or those of all teams for `--team '*'`."""
    from ..store import open_store

    if question.fields.get("team") != ALL_TEAMS:
        return [question.existing_store()]
    store = open_store(question.existing_store_url())
    return [store.for_team(team) for team in store.teams()]


def _add(one: Pruned, other: Pruned) -> Pruned:
    return Pruned(one.conversations + other.conversations, one.editions + other.editions, one.texts + other.texts)


def _describe(removed: Pruned) -> str:
    counts = (("conversation", removed.conversations), ("edition", removed.editions), ("text", removed.texts))
    return "removed " + ", ".join(count_of(count, noun) for noun, count in counts)


def _seconds(age: str) -> float:
    from ..store.times import seconds_of

    seconds = seconds_of(age)
    if seconds is None:
        raise CallError(
            f"--older-than must be a number of days, hours or minutes, such as 90d, 12h or 30m, not {age!r}"
        )
    return seconds
