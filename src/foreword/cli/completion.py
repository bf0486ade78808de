"""`foreword completion SHELL`: print a script that completes commands, options, layouts, checks and files.

The script is generated from the parsers of all commands, so Foreword does not run while the user types.
"""

from __future__ import annotations

from ..errors import CallError, suggestion
from ..sources.environment import install_command
from . import family_of
from .commands import COMMANDS
from .options import OPTIONS, new_parser
from .terminal import write, write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Collection
    from typing import Any

    from .arguments import Namespace, Parser

OWN_COMMANDS = {
    "completion": (
        "schema",
        "print a completion script for bash, zsh or fish",
        "foreword completion bash",
        "CompletionForm",
    ),
}

SHELLS = ("bash", "zsh", "fish")
# What to complete for arguments that are paths, by metavar. `OLD` and `NEW` can be folders or files.
_PATHS = {"FILE": "FILE", "DIR": "DIRECTORY", "PATH": "FILE", "DIR|OLD": "FILE", "OLD": "FILE", "NEW": "FILE"}


def parser_for(command: str) -> Parser:
    """Return the parser for this command."""
    parser = new_parser(command, without=[name for name, _ in OPTIONS if name != "--json"])
    parser.add_argument("shell", metavar="SHELL", help=f"the shell: {', '.join(SHELLS)}")
    return parser


def completion(args: Namespace) -> int:
    """`foreword completion SHELL`"""
    if args.shell not in SHELLS:
        raise CallError(f"unknown shell {args.shell!r}" + suggestion(args.shell, SHELLS))
    try:
        from shtab import complete
    except ImportError:
        raise CallError(
            f"completion needs a package that is not installed (shtab); run {install_command('completion')}"
        ) from None

    script = complete(_full_parser(), args.shell)
    if args.json:
        write_json({"shell": args.shell, "script": script})
    else:
        write(script)
    return 0


def _full_parser() -> ArgumentParser:
    """Return an argparse parser with a subparser for each command. Commands of two words are nested one level deeper."""
    from argparse import ArgumentParser

    full = ArgumentParser(prog="foreword", description="Build a coding agent's system prompt.")
    full.add_argument("--version", action="store_true", help="print the version")
    commands = full.add_subparsers()
    groups: dict[str, Any] = {}
    for name, (_, about, _, _) in COMMANDS.items():
        first, _, second = name.partition(" ")
        if second and first not in groups:
            groups[first] = commands.add_parser(first, help=f"{first} commands").add_subparsers()
        parent = groups[first] if second else commands
        parent.add_parser(second or first, parents=[_with_hints(name)], add_help=False, help=about)
    return full


def _with_hints(command: str) -> ArgumentParser:
    """Return the command's parser as one of argparse, with hints about what the shell can complete."""
    import shtab

    from .help import argparse_parser

    parser = argparse_parser(family_of(command).parser_for(command))
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
    """Return the fixed choices, by the argument or option that accepts them."""
    from ..findings import known_ids
    from ..packs.packs import layout_names, mirror_names

    layouts = (*layout_names(), *mirror_names())
    choices: dict[str, Collection[str]] = {"layout": layouts, "shell": SHELLS, "disable": sorted(known_ids())}
    return {**choices, "name": layouts} if command == "layouts" else choices
