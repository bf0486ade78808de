"""`foreword completion SHELL`: the script that lets a shell complete commands, options, layouts, checks and files.

It is made from the parsers of all commands, so that it knows what they know; nothing of Foreword runs while a person types.
"""

from __future__ import annotations

import argparse

from ..errors import CallError, suggestion
from . import family_of
from .commands import COMMANDS
from .options import Parser, new_parser
from .terminal import write, write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

SHELLS = ("bash", "zsh", "fish")
# What stands for a path, by its metavar. A prompt to compare is a folder or a file.
_PATHS = {"FILE": "FILE", "DIR": "DIRECTORY", "PATH": "FILE", "DIR|OLD": "FILE", "OLD": "FILE", "NEW": "FILE"}


def parser_for(command: str) -> Parser:
    """The parser of the one command here."""
    parser = new_parser(command)
    parser.add_argument("shell", metavar="SHELL", help=f"the shell: {', '.join(SHELLS)}")
    return parser


def completion(args: argparse.Namespace) -> int:
    """`foreword completion SHELL`"""
    if args.shell not in SHELLS:
        raise CallError(f"no completion for the shell {args.shell!r}" + suggestion(args.shell, SHELLS))
    from shtab import complete

    script = complete(_whole(), args.shell)
    if args.json:
        write_json({"shell": args.shell, "script": script})
    else:
        write(script)
    return 0


def _whole() -> Parser:
    """One parser with every command below it, those of two words two levels down."""
    whole = Parser(prog="foreword", description="Assembles the system prompt of coding agents.")
    whole.add_argument("--version", action="store_true", help="print the version")
    commands = whole.add_subparsers()
    groups: dict[str, argparse._SubParsersAction[Parser]] = {}
    for name, (_, about) in COMMANDS.items():
        first, _, second = name.partition(" ")
        if second and first not in groups:
            groups[first] = commands.add_parser(first, help=f"commands of {first}").add_subparsers()
        place = groups[first] if second else commands
        place.add_parser(second or first, parents=[_with_hints(name)], add_help=False, help=about)
    return whole


def _with_hints(command: str) -> Parser:
    """The parser of a command, whose arguments say what a shell may put there."""
    import shtab

    parser: Parser = family_of(command).parser_for(command)
    choices = _choices(command)
    for action in parser._actions:
        metavar = str(action.metavar)
        kind = _PATHS.get(metavar) or _PATHS.get(metavar.partition("|")[0])
        if action.dest in choices:
            action.choices = choices[action.dest]
        elif kind:
            action.complete = getattr(shtab, kind)  # type: ignore[attr-defined]
    return parser


def _choices(command: str) -> dict[str, Collection[str]]:
    """What there is to choose from, by the argument or option that takes it."""
    from ..findings import known_ids
    from ..packs.packs import layout_names

    choices: dict[str, Collection[str]] = {"layout": layout_names(), "shell": SHELLS, "disable": sorted(known_ids())}
    return {**choices, "name": layout_names()} if command == "layouts" else choices
