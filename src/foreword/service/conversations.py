"""Conversations: construct them, take a turn, compact, look at what they use."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from ..encoding.agent import made_for
from ..errors import StoreError
from ..vocabulary import Edition, Turn, digest
from ..wire.answers import conversation_form, drift_form, edition_form, edition_row_form, turn_form
from .answers import Answer, Problem, written
from .bodies import AccessBody, AgentBody, CompactBody, DriftQuery, ListQuery, ScopeBody, ToolBody, TurnBody
from .call import Call
from .service import DEFAULT_LAYOUT, Service

_MOST_BYTES = 64 * 2**20
_HEAD = ("conversation", "edition", "made")


def construct(service: Service, call: Call) -> Answer:
    """Construct the prompt of a conversation from what is there now, also if it has one."""
    body: AgentBody = call.body
    return _turned(service.talk(call.text("id"), body).construct(body.now))


def turn(service: Service, call: Call) -> Answer:
    """What the model sees now; the first turn constructs the prompt."""
    body: TurnBody = call.body
    talk = service.talk(call.text("id"), body)
    return _turned(talk.turn(body.message, body.messages, body.now, new_prompt=body.new_prompt))


def compact(service: Service, call: Call) -> Answer:
    """The request for a summary of the conversation, as its layout asks for it."""
    body: CompactBody = call.body
    id = call.text("id")
    try:
        talk = service.talk(id, body)
    except StoreError as error:  # only the store knows the layout
        alone = service.talk(id, body, DEFAULT_LAYOUT)
        return _turned(alone.compact_alone(error, body.message, body.messages))
    return _turned(talk.compact(body.message, body.messages, body.now))


def reload(service: Service, call: Call) -> Answer:
    """Read everything again for a conversation, if its layout does that."""
    body: AgentBody = call.body
    return _turned(service.talk(call.text("id"), body).reload(body.now))


def use_skill(service: Service, call: Call) -> Answer:
    """The message that gives the model a skill's body."""
    body: AgentBody = call.body
    return Answer(dict(service.talk(call.text("id"), body).use_skill(call.text("name"))))


def list_conversations(service: Service, call: Call) -> Answer:
    """Conversations whose id holds the search, by id."""
    query: ListQuery = call.query
    rows = service.talks.store.conversations(query.search, query.limit, query.offset)
    return Answer({"conversations": [conversation_form(row) for row in rows]})


def read_conversation(service: Service, call: Call) -> Answer:
    """The edition in use, with its account."""
    id = call.text("id")
    return call.unless_known(_edition_answer(id, service.in_use(id, call.moment)))


def list_editions(service: Service, call: Call) -> Answer:
    """The editions of a conversation, the first first."""
    id = call.text("id")
    editions = service.talks.store.editions(id)
    if not editions:
        raise Problem("not-found", f"the conversation {id!r} was never constructed")
    return Answer({"editions": [edition_row_form(each) for each in editions]})


def read_edition(service: Service, call: Call) -> Answer:
    """One edition of a conversation, with its account."""
    id = call.text("id")
    return call.unless_known(_edition_answer(id, service.edition(id, call.number("number"))))


def read_drift(service: Service, call: Call) -> Answer:
    """What a prompt built now would change, what changed it, and what a rebuild would lose."""
    id = call.text("id")
    query: DriftQuery = call.query
    body = _asked(query, _whole(made_for(service.edition(id))))
    found = service.talk(id, body).drift(body.now)
    return Answer(drift_form(id, found), counts=("drift",) if found.is_changed else ())


def read_prompt(service: Service, call: Call) -> Answer:
    """A prompt by its id, with its account."""
    id = call.text("id")
    found = service.talks.store.prompt(id)
    if found is None:
        raise Problem("not-found", f"there is no prompt {id!r}; an id is sha256: and 64 digits, as editions have it")
    text, account = found
    return Answer({"id": digest(text), "text": text, **json.loads(account)})


def _asked(query: DriftQuery, made: dict[str, Any]) -> AgentBody:
    """The agent of a query, where that says nothing the one that the edition was made for."""
    known = {name: ToolBody(name, **each) for name, each in made.pop("tools").items()}
    said = {name: each for name, each in msgspec.structs.asdict(query).items() if each is not msgspec.UNSET}
    tools = said.pop("tools", None)
    named = [known.get(name) or ToolBody(name) for name in said.pop("tool", ())]
    scope = made.pop("scope", None)
    if scope is not None:
        made["scope"] = ScopeBody(*([AccessBody(**row) for row in scope[key]] for key in ("allow", "deny")))
    if tools is None and not named:
        tools = list(known.values())
    return AgentBody(**{"cwd": "", **made, **said, "tools": [*(tools or ()), *named]})


def _whole(made: dict[str, Any]) -> dict[str, Any]:
    """What an old store may hold, without halves of characters: they are written out."""
    text = re.sub("[\ud800-\udfff]", lambda half: f"\\\\u{ord(half[0]):x}", json.dumps(made, ensure_ascii=False))
    return dict(json.loads(text))


def _turned(turn: Turn) -> Answer:
    counts = ["reuses" if turn.is_reused else "constructs"] if turn.edition else []
    codes = {each.code for each in turn.findings}
    counts += [name for code, name in (("drift", "drift"), ("store-down", "store_errors")) if code in codes]
    return Answer(turn_form(turn), counts=counts)


# Everything after the head of an edition's JSON, and its tag. Many conversations share one prompt, and encoding it costs more
# than all the rest of a GET.
_tails: dict[tuple[str, ...], tuple[bytes, str]] = {}


def _edition_answer(id: str, edition: Edition) -> Answer:
    """An edition with its account, and with an ETag."""
    tail, tag = _tail(edition)
    head = msgspec.json.encode({"conversation": id, "edition": edition.number, "made": edition.made})
    return Answer(head[:-1] + b",", headers={"ETag": f'"{edition.number}-{edition.made}-{tag}"'}, tail=tail)


def _tail(edition: Edition) -> tuple[bytes, str]:
    key = (edition.system, edition.tools, edition.account, edition.layout, edition.made_for)
    known = _tails.get(key)
    if known is None:
        form = edition_form("", edition)
        tail = written({name: content for name, content in form.items() if name not in _HEAD})[1:]
        if sum(len(each) for each, _ in list(_tails.values())) > _MOST_BYTES:
            _tails.clear()
        known = _tails[key] = tail, digest(tail.decode())[7:23]
    return known
