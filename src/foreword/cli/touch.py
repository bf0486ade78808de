"""Commands that print the instructions for touched files: touch, conversation touch."""

from __future__ import annotations

import os
import sys

from ..errors import CallError
from ..text.lines import printable
from .options import new_parser, status
from .terminal import report, write_error, write_json, write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..engine.touched import Touched
    from ..layout.model import Layout
    from .arguments import Namespace, Parser

OWN_COMMANDS = {
    "touch": (
        "why",
        "print the instructions that an agent receives when it touches a file",
        "foreword touch . packages/web/index.ts --layout claude",
        "TouchedForm",
    ),
    "conversation touch": (
        "conversation reload",
        "print the instructions that are new to a conversation when its agent touches a file",
        "foreword conversation touch 42 . src/app.py",
        "TouchedForm",
    ),
}


def parser_for(command: str) -> Parser:
    """Return the parser for one of these commands."""
    parser = new_parser(command)
    if command == "conversation touch":
        parser.add_argument("id", metavar="ID", help="the id of the conversation")
        about = "use a layout that mirrors a released program"
        parser.add_argument("--mirror", action="store_true", help=about)
    parser.add_argument("dir", metavar="DIR", help="the agent's working directory")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="a touched file, relative to DIR; it need not exist")
    parser.add_argument(
        "--how", default="read", choices=("read", "edit", "create"), help="what the agent does with it (read)"
    )
    return parser


def touch(args: Namespace) -> int:
    """`foreword touch DIR PATH…`"""
    from ..programs.touch import touched_by

    _check_paths(args, "foreword touch")
    question = args.question.with_fields(paths=args.paths, how=args.how)
    return _write(touched_by(question), question.assembler.layout(), args)


def conversation_touch(args: Namespace) -> int:
    """`foreword conversation touch ID DIR PATH…`"""
    from .conversation import open_conversation

    _check_paths(args, f"foreword conversation touch {args.id}")
    conversation = open_conversation(args)
    return _write(conversation.touch(args.paths, args.how), conversation.layout, args)


def _check_paths(args: Namespace, command: str) -> None:
    """Raise an error if DIR is missing, so that the first path was taken for it."""
    if args.paths and os.path.isdir(args.dir):
        return
    paths = [args.dir, *args.paths]
    if os.path.isdir(args.dir):
        raise CallError(
            f"no path was passed; write the file that is touched after the directory: {command} {args.dir} PATH"
        )
    raise CallError(
        f"{printable(args.dir)} is not a directory; put the agent's directory first: {command} . {printable(' '.join(paths))}"
    )


def _write(touched: Touched, layout: Layout, args: Namespace) -> int:
    if args.json:
        from ..wire.answers import touched_form

        write_json(touched_form(touched))
        return status(touched.findings, args)
    for index, message in enumerate(touched.messages):
        newline = "\n" if index else ""
        write_text(f"{newline}[{message['role']}]\n{message['content']}")
    sys.stdout.flush()
    if layout.touch is None:
        from ..programs.touch_candidates import HOW_TO_ADD_TOUCH, describe_missing_touch

        write_error(f"{printable(describe_missing_touch(layout))}; {HOW_TO_ADD_TOUCH}")
    elif not touched.messages:
        write_error("nothing new applies to these paths")
    # `foreword lint` does not touch files, so it could not list these infos.
    report(touched.findings, args, with_infos=True)
    return status(touched.findings, args)
