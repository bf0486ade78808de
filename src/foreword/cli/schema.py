"""`foreword schema COMMAND`: what a command prints with --json."""

from __future__ import annotations

from ..errors import CallError, suggestion
from .options import OPTIONS, new_parser
from .terminal import write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .arguments import Namespace, Parser


def parser_for(command: str) -> Parser:
    """Return the parser for this command."""
    parser = new_parser(command, without=[name for name, _ in OPTIONS if name != "--json"])
    about = "the command, which may have two words; without it, the schemas of all commands are printed"
    parser.add_argument("words", nargs="*", metavar="COMMAND", help=about)
    return parser


def schema(args: Namespace) -> int:
    """`foreword schema [COMMAND]`"""
    from ..wire.schemas import ANSWERS, schema_of

    command = " ".join(args.words)
    if command and command not in ANSWERS:
        raise CallError(f"no command {command!r}{suggestion(command, ANSWERS)}")
    write_json(schema_of(command) if command else {name: schema_of(name) for name in sorted(ANSWERS)})
    return 0
