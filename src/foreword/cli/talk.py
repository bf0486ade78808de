"""The family of `foreword talk`: conversations, their editions and turns."""

from __future__ import annotations

import sys

from ..errors import CallError
from ..text.lines import printable
from .options import assembler, new_parser, read_json, status, store_to_read, store_url, url_to_read, with_dir
from .terminal import report, shown_time, write_json, write_line, write_table, write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping
    from typing import Any

    from ..conversation.conversation import Conversation
    from ..store.contract import Store
    from ..vocabulary import ConversationRow, Turn
    from .options import Parser

_PAGE = 1000


def parser_for(command: str) -> Parser:
    """The parser of one of these commands."""
    parser = new_parser(command)
    action = command.partition(" ")[2]
    if action == "list":
        parser.add_argument("search", nargs="?", default="", metavar="SEARCH", help="only ids that hold this text")
        return parser
    parser.add_argument("id", metavar="ID", help="the conversation")
    if action == "show":
        parser.add_argument("--edition", type=int, default=0, metavar="N", help="an earlier edition")
        return parser
    if action in ("turn", "compact"):
        parser.add_argument("--message", default="", metavar="TEXT", help="what the user says")
        parser.add_argument("--messages", default="", metavar="FILE", help="a JSON file with the messages so far")
    if action == "turn":
        about = "the messages end with a new prompt of the user (--message always is one)"
        parser.add_argument("--new-prompt", action="store_true", help=about)
    return with_dir(parser)


def talk_turn(args: argparse.Namespace) -> int:
    """`foreword talk turn ID [DIR]`"""
    turn = _talk(args).turn(args.message, _messages(args), args.clock, new_prompt=args.new_prompt)
    return _write_turn(turn, args)


def talk_compact(args: argparse.Namespace) -> int:
    """`foreword talk compact ID [DIR]`"""
    return _write_turn(_talk(args).compact(args.message, _messages(args), args.clock), args)


def talk_reload(args: argparse.Namespace) -> int:
    """`foreword talk reload ID [DIR]`"""
    return _write_turn(_talk(args).reload(args.clock), args)


def talk_show(args: argparse.Namespace) -> int:
    """`foreword talk show ID`"""
    from ..wire.answers import edition_form

    store = store_to_read(args)
    edition = store.edition(args.id, args.edition) if args.edition else store.current(args.id)
    if edition is None:
        what = f"no edition {args.edition}" if args.edition else "no edition yet"
        raise CallError(f"the conversation {args.id!r} has {what}; see foreword talk list")
    if args.json:
        write_json(edition_form(args.id, edition))
    else:
        write_text(edition.system)
    return 0


def talk_list(args: argparse.Namespace) -> int:
    """`foreword talk list [SEARCH]`"""
    from ..wire.answers import conversation_form

    rows = _all(store_to_read(args), args.search)
    if args.json:
        write_json([conversation_form(row) for row in rows])
    else:
        cells = [(row.id, str(row.editions), row.layout, shown_time(row.made), row.prompt[:19]) for row in rows]
        write_table(cells, ("conversation", "editions", "layout", "made", "prompt"), ("bold",), right=(1,), spare=(4,))
        if not rows:
            print("no conversations", file=sys.stderr)
    return 0


def talk_drift(args: argparse.Namespace) -> int:
    """`foreword talk drift ID [DIR]`"""
    from ..wire.answers import drift_form

    found = _talk(args, url_to_read).drift(args.clock)
    if args.json:
        write_json(drift_form(args.id, found))
    else:
        write_line(printable(found.sentence()))
    return 0


def _all(store: Store, search: str) -> list[ConversationRow]:
    rows: list[ConversationRow] = []
    while True:
        more = store.conversations(search, _PAGE, len(rows))
        rows += more
        if len(more) < _PAGE:
            return rows


def _talk(args: argparse.Namespace, url: Callable[[argparse.Namespace], str] = store_url) -> Conversation:
    from ..conversation.conversations import Conversations
    from ..extensions import installed

    prompts = assembler(args)  # first, so that a wrong call makes no store
    return Conversations(url(args), installed()).open_with(args.id, prompts, args.agent)


def _messages(args: argparse.Namespace) -> list[dict[str, object]]:
    if not args.messages:
        return []
    rows = read_json(args.messages, "--messages")
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and isinstance(row.get("role"), str) for row in rows
    ):
        raise CallError(f'--messages {args.messages}: the file takes a list of messages, [{{"role": …, "content": …}}]')
    return rows


def _shown(message: Mapping[str, Any]) -> str:
    """The text of a message; one that holds something else is shown as the JSON it is."""
    import json

    content = message.get("content")
    if isinstance(content, str):
        return content
    return json.dumps({name: each for name, each in message.items() if name != "role"}, ensure_ascii=False)


def _write_turn(turn: Turn, args: argparse.Namespace) -> int:
    if args.json:
        from ..wire.answers import turn_form

        write_json(turn_form(turn))
    else:
        write_text(turn.system)
        for message in turn.messages:
            write_text(f"\n[{message['role']}]\n{_shown(message)}")
        sys.stdout.flush()
        state = "reused" if turn.is_reused else "new"
        tools = f"{len(turn.tools)} tool{'' if len(turn.tools) == 1 else 's'}"
        print(f"conversation {turn.conversation}, edition {turn.edition} ({state}), {tools}", file=sys.stderr)
        report(turn.findings, args)
    return status(turn.findings, args)
