"""`foreword schema COMMAND`: what a command prints with --json."""

from __future__ import annotations

from ..errors import CallError, suggestion
from .commands import COMMANDS
from .options import OPTIONS, new_parser
from .terminal import write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .arguments import Namespace, Parser

OWN_COMMANDS = {
    "schema": (
        "store",
        "print the JSON schema of a command's --json output",
        "foreword schema show",
        "dict[str, Any]",
    ),
}


def parser_for(command: str) -> Parser:
    """Return the parser for this command."""
    parser = new_parser(command, without=[name for name, _ in OPTIONS if name != "--json"])
    about = "the command, which may have two words; without it, the schemas of all commands are printed"
    parser.add_argument("words", nargs="*", metavar="COMMAND", help=about)
    return parser


def schema(args: Namespace) -> int:
    """`foreword schema [COMMAND]`"""
    command = " ".join(args.words)
    if command and command not in COMMANDS:
        raise CallError(f"no command {command!r}{suggestion(command, COMMANDS)}")
    write_json(schema_of(command) if command else {name: schema_of(name) for name in sorted(COMMANDS)})
    return 0


def schema_of(command: str) -> dict[str, Any]:
    """Return the schema of a command's answer. `watch` prints one such answer per line."""
    from ..wire.schemas import answer_schema

    return answer_schema(COMMANDS[command][3], f"foreword {command} --json")
