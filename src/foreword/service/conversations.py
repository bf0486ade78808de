"""Routes for conversations: construct a prompt, take a turn, compact, and inspect."""

from __future__ import annotations

import json
import re
from collections.abc import Container
from contextlib import suppress
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, field

from ..conversation.decide import Drift
from ..conversation.shipped_definitions import SHIPPED_NAMES
from ..conversation.state import trigger_of
from ..conversation.usage import ConversationUsage, stored_usage
from ..conversation.usage import record_usage as add_usage
from ..encoding.edition import ParseCache, agent_row
from ..engine.touched import MAX_TOUCHED_PATHS
from ..errors import CallError, ForewordError, StoreError
from ..providers.http_form import http_request
from ..store import waits
from ..vocabulary import Edition, Turn, digest, replace
from ..vocabulary.hashes import StringHashes
from ..vocabulary.tools import USE_TOOL
from ..wire.answers import (
    drift_form,
    edition_form,
    edition_row_forms,
    recorded_form,
    touched_form,
    turn_form,
    usage_fields,
)
from ..wire.conversation_forms import RecordedForm
from ..wire.forms import DriftForm, EditionForm, MessageForm, TouchedForm, TurnForm
from ..wire.store_forms import ForgottenForm
from . import forms
from .bodies import (
    AccessBody,
    AgentBody,
    DriftQuery,
    MessagesBody,
    Path,
    ResidentBody,
    ScopeBody,
    Text,
    ToolBody,
    TurnBody,
    check_depth,
)
from .bounded import BoundedDict
from .request import Request
from .responses import STORE_COUNTS, Problem, Response, redact, to_json
from .route import CONVERSATION, STORED, Route
from .service import DEFAULT_LAYOUT, Service
from .usage_bodies import UsageBody

_MAX_BYTES = 64 * 2**20
_MAX_LISTS = 64
_SHORT_BYTES, _SHORT_HISTORY = 256 * 1024, 200
_HEAD_KEYS = ("conversation", "edition", "created", "trigger")


class CompactBody(MessagesBody, forbid_unknown_fields=True, kw_only=True):
    """An agent, the user's message, and the messages so far. `compaction` replaces the layout's request for a summary."""

    compaction: Text = ""


class TouchBody(AgentBody, forbid_unknown_fields=True, kw_only=True):
    """An agent, and the files that it touches; their paths are relative to `cwd`."""

    paths: Annotated[list[Path], Meta(min_length=1, max_length=MAX_TOUCHED_PATHS)]
    how: Literal["read", "edit", "create"] = "read"


class CallBody(AgentBody, forbid_unknown_fields=True, kw_only=True):
    """An agent, and the arguments with which the model calls a tool."""

    arguments: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_depth(self.arguments, "arguments")


def announce_hooks(service: Service) -> None:
    """Announce that this request may call hooks over the network. Call this first: a job must not start over after it has called a hook."""
    if service.has_url_hooks:
        waits.announce("hook")


def construct(service: Service, request: Request) -> Response:
    """Construct a conversation's prompt from the workspace, even if it already has one."""
    body: AgentBody = request.body
    return turn_response(service.conversation(request.text("id"), body).construct(body.now))


def turn(service: Service, request: Request) -> Response:
    """Take a turn: return what to send to the model now. The first turn constructs the prompt."""
    body: TurnBody = request.body
    announce_hooks(service)
    conversation = service.conversation(request.text("id"), body)
    taken = conversation.turn(body.message, body.messages, body.now, new_prompt=body.new_prompt)
    with suppress(ForewordError):  # the workspace may have changed since the turn was taken, which is stored by now
        service.local_folders.check(body.cwd, lambda: [path for path, _ in conversation.assembler.plan().stamps])
    return turn_response(taken, body.form)


def is_short(service: Service, request: Request) -> bool:
    """Whether a turn that reuses an edition takes so little time that other requests may wait for it.

    It must not call a hook, look at a network file system or convert a long history. The paths of a scope and of packs may be anywhere.
    """
    body: TurnBody = request.body
    if request.size > _SHORT_BYTES or len(body.messages) > _SHORT_HISTORY or body.scope is not None or body.packs:
        return False
    return not service.has_hooks and service.local_folders.contains(body.cwd)


def compact(service: Service, request: Request) -> Response:
    """Return the request that asks for a summary of the conversation, in the form that its layout specifies."""
    body: CompactBody = request.body
    announce_hooks(service)
    id = request.text("id")
    try:
        conversation = service.conversation(id, body)
    except StoreError as error:  # only the store knows the layout
        detached = service.conversation(id, body, DEFAULT_LAYOUT)
        return turn_response(detached.compact_without_prompt(error, body.message, body.messages), body.form)
    return turn_response(conversation.compact(body.message, body.messages, body.now), body.form)


def reload(service: Service, request: Request) -> Response:
    """Reread the workspace for a conversation, if its layout does that on a reload."""
    body: AgentBody = request.body
    return turn_response(service.conversation(request.text("id"), body).reload(body.now))


def use_skill(service: Service, request: Request) -> Response:
    """Return the message that passes a skill's instructions to the model."""
    body: AgentBody = request.body
    return Response(dict(service.conversation(request.text("id"), body).use_skill(request.text("name"))))


def call_tool(service: Service, request: Request) -> Response:
    """Run one of the tools that `GET /tools` lists, and return its result for the model.

    If the model's arguments are wrong, the result says what would be valid, and `is_error` is true. For `use_tool`, `call` contains
    the name and the arguments of the tool that the model means, which your program runs.
    """
    body: CallBody = request.body
    name = request.text("name")
    if name not in SHIPPED_NAMES:
        raise Problem("not-found", f"no tool {name!r}; GET /tools lists those that exist")
    conversation = service.conversation(request.text("id"), body)
    try:
        if name == USE_TOOL:
            inner, arguments = conversation.resolve_call(name, body.arguments)
            return Response({"content": "", "is_error": False, "call": {"name": inner, "arguments": arguments}})
        return Response({"content": conversation.call_tool(name, body.arguments), "is_error": False})
    except CallError as error:
        return Response({"content": str(error), "is_error": True})


def touch(service: Service, request: Request) -> Response:
    """Return the instructions for files that the agent touches. Each instruction file and rule is sent once."""
    body: TouchBody = request.body
    return Response(touched_form(service.conversation(request.text("id"), body).touch(body.paths, body.how)))


def record_usage(service: Service, request: Request) -> Response:
    """Add the usage that a provider returned with a response to the counters of the current edition."""
    body: UsageBody = request.body
    id = request.text("id")
    service.current(id)
    reported = msgspec.to_builtins(body.usage)
    if not reported:
        raise Problem(
            "invalid-body",
            "usage has none of the keys in which providers report tokens: input_tokens (Anthropic, OpenAI Responses), prompt_tokens"
            " (OpenAI Chat), promptTokenCount or prompt_token_count (Gemini); send the provider's usage unchanged",
        )
    usage = add_usage(service.conversations.editions, id, reported, body.model, service.prices, None)
    names = ("input_tokens", "read_tokens", "written_tokens", "output_tokens")
    amounts = {name: amount or 0 for name, amount in zip(names, usage.call, strict=True)}
    amounts["unreported_tokens"] = amounts["input_tokens"] if usage.call[1] is None else 0
    counters = {"cache-collapse": "cache_collapses", **STORE_COUNTS}
    counts = [counters[finding.code] for finding in usage.findings if finding.code in counters]
    total = stored_usage(service.conversations.store, id, usage.edition)
    return Response(recorded_form(id, usage, total), counts=counts, amounts=amounts)


def forget(service: Service, request: Request) -> Response:
    """Remove a conversation, and any text that only it used, from the store and from the memory of all processes."""
    id = request.text("id")
    if not service.conversations.forget(id):
        raise Problem("not-found", f"conversation {id!r} has not been started")
    return Response({"forgotten": id})


def read_conversation(service: Service, request: Request) -> Response:
    """Return the current edition, with the origins of its prompt."""
    id = request.text("id")
    edition, problem = service.current_or_remembered(id)
    response = _edition_response(id, edition, _usage_of(service, id, edition), is_conversation=True)
    if problem:
        headers = {**response.headers, "Foreword-Store": problem}
        counts = (STORE_COUNTS[f"store-{problem}"],)
        response = replace(response, headers=headers, counts=counts, reason="answered from memory")
    return request.if_modified(response)


def list_editions(service: Service, request: Request) -> Response:
    """Return the editions of a conversation, oldest first."""
    id = request.text("id")
    editions = service.conversations.store.editions(id)
    if not editions:
        raise Problem("not-found", f"conversation {id!r} has not been started")
    usage = stored_usage(service.conversations.store, id, editions[-1].number)
    return Response({"editions": edition_row_forms(editions, usage)})


def read_edition(service: Service, request: Request) -> Response:
    """Return one edition of a conversation, with the origins of its prompt."""
    id = request.text("id")
    edition = service.edition(id, request.number("number"))
    return request.if_modified(_edition_response(id, edition, _usage_of(service, id, edition), is_conversation=False))


def read_drift(service: Service, request: Request) -> Response:
    """Return what a rebuild would change, which sources caused the changes, and how much of the cache would be lost."""
    id = request.text("id")
    drift = drift_of(service, id, service.edition(id), request.query)
    return Response(drift_form(id, drift), counts=("drift",) if drift.is_changed else ())


def drift_of(service: Service, id: str, edition: Edition, query: DriftQuery) -> Drift:
    """Return what a rebuild would change for the edition's agent, or for the one that the query describes."""
    waits.announce_size(len(edition.system))
    body = _agent_body(query, _escape_surrogates(agent_row(edition)))
    return service.conversation(id, body).drift(body.now)


def read_prompt(service: Service, request: Request) -> Response:
    """Return a prompt by its id, with its origins."""
    id = request.text("id")
    stored = service.store.prompt(id)
    if stored is None:
        raise Problem(
            "not-found", f"no prompt {id!r}; an id is sha256: followed by 64 hexadecimal digits, as listed in editions"
        )
    text, account = stored
    return Response({"id": digest(text), "text": text, **json.loads(account)})


def _agent_body(query: DriftQuery, built_for: dict[str, Any]) -> AgentBody:
    """Return the agent that a query describes. Fields that the query omits come from the edition's agent."""
    known = {name: ToolBody(name, **fields) for name, fields in built_for.pop("tools").items()}
    parameters = {
        name: parameter for name, parameter in msgspec.structs.asdict(query).items() if parameter is not msgspec.UNSET
    }
    tools = parameters.pop("tools", None)
    for name in ("base", "plan"):
        built_for[name] = _text_of(built_for.get(name, ""))
    named_tools = [known.get(name) or ToolBody(name) for name in parameters.pop("tool", ())]
    if "scope" in built_for:
        built_for["scope"] = _scope_of(built_for["scope"])
    built_for["residents"] = [ResidentBody(**row) for row in built_for.get("residents", ())]
    if tools is None and not named_tools:
        tools = list(known.values())
    return AgentBody(**{"cwd": "", **built_for, **parameters, "tools": [*(tools or ()), *named_tools]})


def _scope_of(stored: dict[str, Any]) -> ScopeBody:
    return ScopeBody(*([AccessBody(**row) for row in stored[key]] for key in ("allow", "deny")))


def _text_of(stored: str | dict[str, Any]) -> str:
    """Return the text of a stored field, which may be a string or a document."""
    return stored if isinstance(stored, str) else str(stored["text"])


def _escape_surrogates(built_for: dict[str, Any]) -> dict[str, Any]:
    """Escape lone surrogates, which an old store may contain."""
    text = re.sub("[\ud800-\udfff]", lambda match: f"\\\\u{ord(match[0]):x}", json.dumps(built_for, ensure_ascii=False))
    return dict(json.loads(text))


def turn_response(turn: Turn, form: str | None = None) -> Response:
    """Return the response for a turn, with the body and the headers of the provider's request if a form is named."""
    counts = ["reuses" if turn.is_reused else "builds"] if turn.edition else []
    failure, found = "", [finding.code for finding in turn.findings]
    if found:
        counts += [name for code, name in (("drift", "drift"), *STORE_COUNTS.items()) if code in found]
        failure = next((finding.message for finding in turn.findings if finding.code.startswith("store-")), "")
    content: dict[str, Any] = {**turn_form(turn), "system": _encoded_prompts[turn.system], "tools": _encode_tools(turn)}
    if form is not None:
        content["request"], headers = http_request(form, turn)
        if headers:
            content["request_headers"] = headers
    return Response(content, counts=counts, codes=found, reason=redact(failure) if failure else "")


# Encoding a prompt takes longer than the rest of a turn's JSON, and many turns have the same one.
_encoded_prompts = ParseCache(lambda text: msgspec.Raw(to_json(text)))
# The JSON of tools that turns share, by the identity of their tuple.
_encoded_tools: BoundedDict[int, tuple[Any, msgspec.Raw]] = BoundedDict(_MAX_LISTS)


def _encode_tools(turn: Turn) -> msgspec.Raw:
    known = _encoded_tools.get(id(turn.tools))
    if known is None or known[0] is not turn.tools:
        known = _encoded_tools[id(turn.tools)] = turn.tools, msgspec.Raw(to_json(turn.tools))
    return known[1]


# The JSON of editions without its first keys, each with a hash for the ETag. Many conversations share one prompt, and encoding it takes
# longer than the rest of a GET.
_tails: dict[tuple[str, ...], tuple[bytes, str]] = {}
_tail_hashes = StringHashes()


def _usage_of(service: Service, id: str, edition: Edition) -> ConversationUsage | None:
    return stored_usage(service.conversations.store, id, edition.number)


def _edition_response(id: str, edition: Edition, usage: ConversationUsage | None, is_conversation: bool) -> Response:
    """Return the response for an edition, with the origins of its prompt and an ETag."""
    tail, tag = _tail(edition)
    content: dict[str, Any] = {
        "conversation": id,
        "edition": edition.number,
        "created": edition.created,
        "trigger": trigger_of(edition),
    }
    if usage is not None:
        content |= usage_fields(edition.number, usage, is_conversation=is_conversation)
        tag += f"-{usage.total.calls}"
    head = msgspec.json.encode(content)
    return Response(head[:-1], headers={"ETag": f'"{edition.number}-{edition.created}-{tag}"'}, tail=tail)


def forget_tails(hashes: Container[bytes]) -> None:
    """Drop the JSON of prompts and editions with these texts, because the store does not contain them any more."""
    _encoded_prompts.forget(hashes)
    _encoded_tools.clear()
    keys = list(_tails)
    found = set(_tail_hashes.find({text for key in keys for text in key}, hashes))
    for key in keys:
        if not found.isdisjoint(key):
            _tails.pop(key, None)


def _tail(edition: Edition) -> tuple[bytes, str]:
    key = (edition.system, edition.tools, edition.account, edition.layout, edition.built_for)
    known = _tails.get(key)
    if known is None:
        form = edition_form("", edition)
        tail = to_json({name: content for name, content in form.items() if name not in _HEAD_KEYS})
        if sum(len(cached) for cached, _ in list(_tails.values())) > _MAX_BYTES:
            _tails.clear()
            _tail_hashes.clear()
        known = _tails[key] = b"," + tail[1:], digest(tail.decode())[7:23]
    return known


ROUTES = (
    Route("GET", "/conversations/{id}", "known", "read", False, read_conversation, EditionForm, None, None, STORED),
    Route("POST", "/conversations/{id}/turn", "turn", "turn", False, turn, TurnForm, TurnBody, None, CONVERSATION),
    Route("POST", "/conversations/{id}/construct", "reading", "turn", False, construct, TurnForm, AgentBody, None, CONVERSATION),
    Route("POST", "/conversations/{id}/compact", "reading", "turn", False, compact, TurnForm, CompactBody, None, CONVERSATION),
    Route("POST", "/conversations/{id}/reload", "reading", "turn", False, reload, TurnForm, AgentBody, None, CONVERSATION),
    Route("POST", "/conversations/{id}/skills/{name}", "reading", "turn", False, use_skill, MessageForm, AgentBody, None, CONVERSATION),
    Route("POST", "/conversations/{id}/tools/{name}", "reading", "turn", False, call_tool, forms.ToolResultForm, CallBody, None, CONVERSATION),
    Route("POST", "/conversations/{id}/touch", "reading", "turn", False, touch, TouchedForm, TouchBody, None, CONVERSATION),
    Route("POST", "/conversations/{id}/usage", "reading", "turn", False, record_usage, RecordedForm, UsageBody, None, STORED),
    Route("GET", "/conversations/{id}/editions", "reading", "read", False, list_editions, forms.EditionsForm, None, None, STORED),
    Route("GET", "/conversations/{id}/editions/{number}", "reading", "read", False, read_edition, EditionForm, None, None, STORED),
    Route("GET", "/conversations/{id}/drift", "questions", "read", False, read_drift, DriftForm, None, DriftQuery, CONVERSATION),
    Route("DELETE", "/conversations/{id}", "reading", "admin", True, forget, ForgottenForm, None, None, STORED),
    Route("GET", "/prompts/{id}", "reading", "read", False, read_prompt, forms.StoredPromptForm, None, None, STORED),
)  # fmt: skip
