"""`foreword conversation`: conversations, their turns and editions."""

from __future__ import annotations

import sys

from ..errors import CallError
from ..store.rows import ALL_TEAMS
from ..text.lines import printable
from ..text.shares import cached_percent
from ..vocabulary import replace
from .options import add_dir_argument, new_parser, read_json, status
from .terminal import format_time, report, write_json, write_line, write_parts, write_table, write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..conversation.conversation import Conversation
    from ..conversation.conversations import Conversations
    from ..conversation.usage import ConversationUsage, Usage
    from ..programs.question import Question
    from ..store.all_teams import AllTeams
    from ..store.contract import Store
    from ..store.rows import ConversationRow
    from ..vocabulary import Edition, Turn
    from .arguments import Namespace, Parser

OWN_COMMANDS = {
    "conversation turn": (
        "conversation",
        "print what the model sees now; the first turn builds the prompt",
        "foreword conversation turn 42 . --message 'Fix the failing test'",
        "TurnForm",
    ),
    "conversation compact": (
        "conversation",
        "print the request that summarises a conversation",
        "foreword conversation compact 42 .",
        "TurnForm",
    ),
    "conversation reload": (
        "conversation",
        "reread all files for a conversation",
        "foreword conversation reload 42 .",
        "TurnForm",
    ),
    "conversation show": (
        "conversation",
        "print the prompt that a conversation is using",
        "foreword conversation show 42 --edition 1",
        "EditionForm",
    ),
    "conversation list": (
        "conversation",
        "list the conversations in the store",
        "foreword conversation list",
        "list[ConversationForm]",
    ),
    "conversation drift": (
        "conversation",
        "show what would change if the prompt were rebuilt now",
        "foreword conversation drift 42 .",
        "DriftForm",
    ),
}
OWN_FAMILIES = {"conversation": ("template", "conversations, whose prompt is built once and kept")}

_PAGE_SIZE = 1000


def parser_for(command: str) -> Parser:
    """Return the parser for one of these commands."""
    parser = new_parser(command)
    action = command.partition(" ")[2]
    if action == "list":
        parser.add_argument(
            "search", nargs="?", default="", metavar="SEARCH", help="list only ids that contain this text"
        )
        return parser
    parser.add_argument("id", metavar="ID", help="the id of the conversation")
    if action == "show":
        parser.add_argument(
            "--edition", type=int, default=0, metavar="N", help="show this edition instead of the current one"
        )
        return parser
    if action in ("turn", "compact"):
        parser.add_argument("--message", default="", metavar="TEXT", help="the user's message")
        parser.add_argument(
            "--messages", default="", metavar="FILE", help="a JSON file with the messages so far; - is standard input"
        )
    if action == "turn":
        about = "the last of --messages starts a new user request (a --message always does)"
        parser.add_argument("--new-prompt", action="store_true", help=about)
    about = "use a layout that mirrors a released program"
    parser.add_argument("--mirror", action="store_true", help=about)
    if action not in ("drift", "reload"):
        return add_dir_argument(parser)
    about = "the agent's working directory (by default the conversation's, if the store is on this machine)"
    parser.add_argument("dir", nargs="?", metavar="DIR", help=about)
    parser.default_dir = ""
    return parser


def conversation_turn(args: Namespace) -> int:
    """`foreword conversation turn ID [DIR]`"""
    turn = open_conversation(args).turn(args.message, _messages(args), args.question.now, new_prompt=args.new_prompt)
    return _write_turn(turn, args)


def conversation_compact(args: Namespace) -> int:
    """`foreword conversation compact ID [DIR]`"""
    return _write_turn(open_conversation(args).compact(args.message, _messages(args), args.question.now), args)


def conversation_reload(args: Namespace) -> int:
    """`foreword conversation reload ID [DIR]`"""
    return _write_turn(open_conversation(args).reload(args.question.now), args)


def conversation_show(args: Namespace) -> int:
    """`foreword conversation show ID`"""
    from ..conversation.usage import stored_usage
    from ..encoding.edition import account_of
    from ..inspection.sending import stored_passages
    from ..wire.answers import edition_form

    store = args.question.existing_store()
    edition = store.edition(args.id, args.edition) if args.edition else store.current(args.id)
    if edition is None:
        what = f"edition {args.edition} of conversation" if args.edition else "conversation"
        raise CallError(f"no {what} {args.id!r} in the store; see foreword conversation list")
    if args.json:
        usage = stored_usage(store, args.id, edition.number)
        write_json(edition_form(args.id, edition, usage, is_conversation=not args.edition))
    else:
        passages = stored_passages(account_of(edition))
        write_parts(edition.system, [(passage.start, passage.role, passage.message) for passage in passages])
        sys.stdout.flush()
        print(_edition_summary(args.id, edition, stored_usage(store, args.id, edition.number)), file=sys.stderr)
    return 0


def _edition_summary(id: str, edition: Edition, usage: ConversationUsage | None) -> str:
    """Return what triggered an edition, and what the conversation's calls used."""
    from ..conversation.state import trigger_of

    trigger = f" (trigger: {trigger_of(edition)})" if trigger_of(edition) else ""
    words = []
    if usage is not None:
        own = usage.editions.get(edition.number)
        words = [f"; {_usage_words(usage.total)}", f"; in this edition {_usage_words(own)}" if own else ""]
    return f"conversation {printable(id)}, edition {edition.number}{trigger}{''.join(words)}"


def _usage_words(usage: Usage) -> str:
    rate = "" if usage.hit_rate is None else f", {cached_percent(usage.hit_rate)} of it from the cache"
    unknown = f" ({usage.unreported:,} did not say how much was cached)" if usage.unreported else ""
    cost = "" if usage.cost is None else f", ${usage.cost:.4f}"
    return f"{usage.calls:,} call{'' if usage.calls == 1 else 's'}{unknown}, {usage.input:,} tokens in{rate}, {usage.output:,} out{cost}"


def conversation_list(args: Namespace) -> int:
    """`foreword conversation list [SEARCH]`"""
    from ..wire.answers import conversation_form

    rows = _all_conversations(_list_of(args.question), args.search)
    if args.json:
        write_json([conversation_form(row) for row in rows])
    else:
        teams = ("team",) if args.team == ALL_TEAMS else ()
        cells = [
            (
                row.id,
                str(row.editions),
                row.layout,
                format_time(row.created),
                row.prompt[:19],
                *(row.team for _ in teams),
            )
            for row in rows
        ]
        titles = ("conversation", "editions", "layout", "created", "prompt", *teams)
        write_table(cells, titles, ("bold",), right=(1,), optional=(4,))
        if not rows:
            print("no conversations", file=sys.stderr)
    return 0


def conversation_drift(args: Namespace) -> int:
    """`foreword conversation drift ID [DIR]`"""
    from ..store import is_local
    from ..wire.answers import drift_form
    from .paths import paths_of

    conversation = open_conversation(args, read_only=True)
    if conversation.shared.store.current(args.id) is None:
        url = args.question.store_url()
        store = f"the store {printable(url)}" if is_local(url) else "the store"  # a URL may contain a password
        raise CallError(f"{store} has no conversation {args.id!r}; see foreword conversation list")
    drift = conversation.drift(args.question.now)
    if args.json:
        write_json(drift_form(args.id, drift))
    else:
        write_line(paths_of(args).shorten_in(printable(drift.sentence())))
    return 0


def _list_of(question: Question) -> Store | AllTeams:
    """Return the store of the team, or of all teams for `--team '*'`."""
    from ..store import open_store
    from ..store.all_teams import AllTeams

    if question.fields.get("team") != ALL_TEAMS:
        return question.existing_store()
    return AllTeams(open_store(question.existing_store_url()))


def _all_conversations(store: Store | AllTeams, search: str) -> list[ConversationRow]:
    from ..store.listing import ConversationQuery

    rows: list[ConversationRow] = []
    query = ConversationQuery(limit=_PAGE_SIZE)
    while True:
        page = store.conversations(query)
        rows += [row for row in page.rows if search in row.id]
        if not page.next:
            return rows
        query = replace(query, after=page.next)


def open_conversation(args: Namespace, read_only: bool = False) -> Conversation:
    from ..conversation.conversations import Conversations
    from ..extensions import installed

    question = args.question
    url = question.existing_store_url() if read_only else question.url_to_write()
    conversations = Conversations(url, installed(), team=question.team)
    if not args.dir and (cwd := _stored_cwd(conversations, args.id, url)):
        question = question.with_fields(cwd=cwd)
    if not question.fields.get("layout") and (layout := _layout_file(conversations, args.id, url)):
        question = question.with_fields(layout=layout)
    return conversations.open_with(args.id, question.assembler, question.agent, mirror=args.mirror)


def _stored_cwd(conversations: Conversations, id: str, url: str) -> str:
    """Return the working directory of a conversation, or "" if it does not exist or another machine may have written it."""
    from ..encoding.edition import target_of
    from ..store import is_local

    edition = conversations.store.current(id) if is_local(url) else None
    return target_of(edition).cwd if edition else ""


def _layout_file(conversations: Conversations, id: str, url: str) -> str:
    """Return the layout file that a conversation was created with, or empty if its layout has a name or an address.

    In a store on another machine, anyone may have named any file, so the caller has to name it again.
    """
    from ..store import is_local
    from ..template.addresses import is_file_path

    edition, _ = conversations.current(id)
    layout = edition.layout if edition else ""
    if not is_file_path(layout):
        return ""
    if not is_local(url):
        raise CallError(
            f"the conversation {id!r} was created with the layout file {printable(layout)}; pass --layout with that file, or another layout"
        )
    return layout


def _messages(args: Namespace) -> list[dict[str, object]]:
    if not args.messages:
        return []
    rows = read_json(args.messages, "--messages")
    if not isinstance(rows, list) or not all(
        isinstance(row, dict) and isinstance(row.get("role"), str) for row in rows
    ):
        raise CallError(
            f'--messages {args.messages}: the file must contain a list of messages, [{{"role": …, "content": …}}]'
        )
    return rows


def _message_text(message: Mapping[str, Any]) -> str:
    """Return the message's text, or its content as JSON if it is not text."""
    import json

    content = message.get("content")
    if isinstance(content, str):
        return content
    return json.dumps({name: field for name, field in message.items() if name != "role"}, ensure_ascii=False)


def _write_turn(turn: Turn, args: Namespace) -> int:
    if args.json:
        from ..wire.answers import turn_form

        write_json(turn_form(turn))
    else:
        write_text(turn.system)
        for message in turn.messages:
            write_text(f"\n[{message['role']}]\n{_message_text(message)}")
        sys.stdout.flush()
        state = "reused" if turn.is_reused else "new"
        tools = f"{len(turn.tools)} tool{'' if len(turn.tools) == 1 else 's'}"
        print(f"conversation {turn.conversation}, edition {turn.edition} ({state}), {tools}", file=sys.stderr)
        report(turn.findings, args)
    return status(turn.findings, args)
