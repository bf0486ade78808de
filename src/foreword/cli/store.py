"""`foreword store`: inspect the database of conversations."""

from __future__ import annotations

from .options import new_parser
from .terminal import write, write_json, write_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .arguments import Namespace, Parser


def parser_for(command: str) -> Parser:
    """The parser of one of these commands."""
    return new_parser(command)


def store_verify(args: Namespace) -> int:
    """`foreword store verify`: 1 if anything is wrong."""
    from ..store import open_store

    wrong = open_store(args.question.existing_store_url()).verify()
    if args.json:
        write_json({"wrong": wrong})
    else:
        write("\n".join(wrong) if wrong else "every hash matches, and every edition has its text")
    return 1 if wrong else 0


def store_stats(args: Namespace) -> int:
    """`foreword store stats`"""
    from ..store import open_store

    stats = open_store(args.question.existing_store_url()).stats()
    if args.json:
        write_json(stats)
    else:
        write_table([(name, f"{number:,}") for name, number in stats.items()], ("stored", "count"), right=(1,))
    return 0
