"""The family of `foreword store`: look after where conversations are kept."""

from __future__ import annotations

from .options import new_parser, url_of_store
from .terminal import write, write_json, write_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from .options import Parser


def parser_for(command: str) -> Parser:
    """The parser of one of these commands."""
    return new_parser(command)


def store_verify(args: argparse.Namespace) -> int:
    """`foreword store verify`: 1 if anything is wrong."""
    from ..store import open_store

    wrong = open_store(url_of_store(args)).verify()
    if args.json:
        write_json({"wrong": wrong})
    else:
        write("\n".join(wrong) if wrong else "every hash matches, and every edition has its texts")
    return 1 if wrong else 0


def store_stats(args: argparse.Namespace) -> int:
    """`foreword store stats`"""
    from ..store import open_store

    found = open_store(url_of_store(args)).stats()
    if args.json:
        write_json(found)
    else:
        write_table([(name, f"{number:,}") for name, number in found.items()], ("kept", "count"), right=(1,))
    return 0
