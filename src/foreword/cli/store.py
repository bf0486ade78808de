"""`foreword store`: inspect the database of conversations."""

from __future__ import annotations

from .options import new_parser
from .terminal import write, write_json, write_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .arguments import Namespace, Parser


def parser_for(command: str) -> Parser:
    """Return the parser for one of these commands."""
    return new_parser(command)


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
