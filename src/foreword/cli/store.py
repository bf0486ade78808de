"""`foreword store`: inspect the database of conversations."""

from __future__ import annotations

from .options import new_parser
from .terminal import write, write_json, write_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .arguments import Namespace, Parser


def parser_for(command: str) -> Parser:
    """Return the parser for one of these commands."""
    parser = new_parser(command)
    if command == "store migrate":
        parser.add_argument(
            "--contract",
            action="store_true",
            help="also remove what only older versions of Foreword need; run this when none is left",
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


def store_migrate(args: Namespace) -> int:
    """`foreword store migrate`"""
    from ..store import open_store

    version = open_store(args.question.existing_store_url()).migrate(args.contract)
    if args.json:
        write_json({"version": version.version, "lowest": version.lowest})
    else:
        write(
            f"the store's schema is version {version.version}; a Foreword with version {version.lowest} or later can use it"
        )
    return 0
