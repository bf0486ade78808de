"""Read the requests that a framework sends to three APIs, and add a turn's prompt to them. Pure.

The framework's own system prompt follows Foreword's, because it may change more often. Its breakpoints after the tools and the
system prompt are replaced by breakpoints where lifetimes end; breakpoints in messages are kept.
"""

from __future__ import annotations

from ..errors import CallError
from ..providers.anthropic import MAX_BREAKPOINTS, for_anthropic
from ..providers.capabilities import capabilities_of
from ..providers.existing_breakpoints import BREAKPOINT_KEYS, breakpoints_in
from ..providers.openai import for_openai_chat, for_openai_responses
from ..vocabulary import value
from ..vocabulary.tools import Tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypedDict

    from ..vocabulary import Turn

    class RequestKeywords(TypedDict, total=False):
        """The fields of `RequestOptions`, as keyword arguments of an adapter."""

        task: str
        definition: str
        ttl: str | None
        betas: bool
        automatic: bool
        on_turn: OnTurn | None
        use_tool: bool

    OnTurn = Callable[[Turn], object]
    Message = Mapping[str, Any]

_SYSTEM_ROLES = ("system", "developer")


@value
class RequestOptions:
    """What an adapter puts into requests.

    Fields:
        task: The task of a sub-agent of the conversation. If it is empty, and the definition too, the prompt is the conversation's own.
        definition: The name of a sub-agent that the layout lists, instead of a task.
        ttl: How long cache breakpoints last, as in `for_anthropic` and `for_openai_responses`.
        betas: Whether Anthropic's beta headers may be sent, which tools that are added late need.
        automatic: Whether Anthropic's automatic breakpoint is added to a request without breakpoints in its messages.
        on_turn: A function that is called with each turn before its request is sent, for example to log `turn.findings`.
        use_tool: Whether the model has the shipped tool `use_tool`, so that tools that are added late keep the cache with every provider.
    """

    task: str = ""
    definition: str = ""
    ttl: Any = None
    betas: bool = True
    automatic: bool = True
    on_turn: OnTurn | None = None
    use_tool: bool = False

    def _check(self) -> None:
        if self.task and self.definition:
            raise CallError("pass either a task or the name of a definition for a sub-agent, not both")
        if self.is_sub_agent and self.use_tool:
            raise CallError("do not pass use_tool for a sub-agent: its tools are the same in all of its requests")
        if self.on_turn is not None and not callable(self.on_turn):
            raise CallError(f"on_turn must be a function that takes a turn, not {type(self.on_turn).__name__}")

    @property
    def is_sub_agent(self) -> bool:
        """Whether the prompt is that of a sub-agent."""
        return bool(self.task or self.definition)


DEFAULT_OPTIONS = RequestOptions()


@value
class Received:
    """The contents of a framework's request: the texts of its own system prompt, its messages and its tools."""

    system: Sequence[str]
    messages: Sequence[Message]
    tools: Sequence[Tool]


class Messages:
    """Anthropic's Messages API."""

    path = "/messages"

    def read(self, body: Mapping[str, Any]) -> Received:
        """Return the contents of a framework's request."""
        tools = [_anthropic_tool(tool) for tool in body.get("tools") or ()]
        return Received(_texts(body.get("system")), list(body["messages"]), tools)

    def write(self, body: Mapping[str, Any], received: Received, turn: Turn, options: RequestOptions) -> dict[str, Any]:
        """Return the request with the turn's prompt, tools and messages. `extra_headers` contains the headers that it requires."""
        existing = sum(1 for _ in breakpoints_in(turn.messages))
        automatic = body.get("cache_control") or (_automatic() if options.automatic and not existing else None)
        if automatic and existing >= MAX_BREAKPOINTS:
            automatic = None
        breakpoints = max(min(3, MAX_BREAKPOINTS - existing - bool(automatic)), 0)
        # A breakpoint that lasts an hour must not follow one that lasts five minutes.
        ttl: Any = "1h" if automatic and automatic.get("ttl") == "1h" else options.ttl
        own = for_anthropic(turn, breakpoints=breakpoints, ttl=ttl, betas=options.betas)
        system = [*own.get("system", ()), *({"type": "text", "text": text} for text in received.system)]
        others = _without(body, "tools", "system", "messages", "cache_control")
        return {
            **others,
            **own,
            **({"system": system} if system else {}),
            **({"cache_control": automatic} if automatic else {}),
        }


class Responses:
    """OpenAI's Responses API."""

    path = "/responses"

    def read(self, body: Mapping[str, Any]) -> Received:
        """Return the contents of a framework's request."""
        entries = body.get("input") or ()
        entries = [{"role": "user", "content": entries}] if isinstance(entries, str) else list(entries)
        own, messages = _split_system(entries)
        tools = [_openai_tool(tool) for tool in body.get("tools") or ()]
        return Received([*_texts(body.get("instructions")), *own], messages, tools)

    def write(self, body: Mapping[str, Any], received: Received, turn: Turn, options: RequestOptions) -> dict[str, Any]:
        """Return the request with the turn's prompt, tools and messages."""
        # If the provider stores the conversation, only new messages are sent, and the prompt must not be one of them.
        is_stored = bool(body.get("previous_response_id") or body.get("conversation"))
        own = for_openai_responses(
            turn, ttl=options.ttl, breakpoints=0 if is_stored else 3, tool_choice=body.get("tool_choice")
        )
        if is_stored:
            own["input"] = list(received.messages)
        if _has_system_first(own["input"]):
            own["input"] = [_extended(own["input"][0], received.system, "input_text"), *own["input"][1:]]
        elif texts := [*filter(None, [own.get("instructions")]), *received.system]:
            own["instructions"] = "\n\n".join(texts)
        return {**own, **_without(body, "tools", "tool_choice", "instructions", "input")}


class Chat:
    """OpenAI's Chat Completions API, and other servers that implement it."""

    path = "/chat/completions"

    def read(self, body: Mapping[str, Any]) -> Received:
        """Return the contents of a framework's request."""
        own, messages = _split_system(list(body["messages"]))
        return Received(own, messages, [_openai_tool(tool) for tool in body.get("tools") or ()])

    def write(self, body: Mapping[str, Any], received: Received, turn: Turn, options: RequestOptions) -> dict[str, Any]:
        """Return the request with the turn's prompt, tools and messages."""
        # Other servers may reject keys that they do not know.
        is_known = capabilities_of("openai", turn.model).system_messages
        own = for_openai_chat(
            turn, ttl=options.ttl, cache_key=None if is_known else "", tool_choice=body.get("tool_choice")
        )
        first, *others = own["messages"] if _has_system_first(own["messages"]) else [None, *own["messages"]]
        if received.system:
            first = _extended(first or {"role": "system", "content": ""}, received.system, "text")
        own["messages"] = [*([first] if first else ()), *others]
        return {**own, **_without(body, "tools", "tool_choice", "messages")}


FORMS = (Messages(), Responses(), Chat())


def form_of(url: str) -> Messages | Responses | Chat | None:
    """Return the API that a URL belongs to, or None if it is not a request to a model."""
    path = url.partition("?")[0].rstrip("/")
    return next((form for form in FORMS if path.endswith(form.path)), None)


# Tools


def _anthropic_tool(tool: Mapping[str, Any]) -> Tool:
    kind = tool.get("type") or ""
    if kind in ("", "custom"):
        return _tool(tool["name"], tool, "input_schema")
    return _tool(tool.get("name") or tool.get("mcp_server_name") or kind, tool, "", kind)


def _openai_tool(tool: Mapping[str, Any]) -> Tool:
    """Return a tool from a Responses request, or from a Chat Completions request, which nests the fields in an inner object."""
    kind = tool.get("type") or "function"
    fields = tool[kind] if isinstance(tool.get(kind), dict) else tool
    if kind == "function":
        return _tool(fields["name"], fields, "parameters")
    return _tool(fields.get("name") or fields.get("server_label") or kind, fields, "", kind)


def _tool(name: str, fields: Mapping[str, Any], schema_key: str, kind: str = "") -> Tool:
    known = ("name", "type", "description", "strict", "defer_loading", "allowed_callers", schema_key, *BREAKPOINT_KEYS)
    return Tool(
        name,
        fields.get("description") or "",
        schema=(fields.get(schema_key) or None) if schema_key else None,
        type=kind,
        defer=bool(fields.get("defer_loading")),
        strict=fields.get("strict"),
        allowed_callers=fields.get("allowed_callers") or (),
        options=_without(fields, *known) or None,
    )


# Messages


def _split_system(entries: list[Message]) -> tuple[list[str], list[Message]]:
    """Return the texts of the leading system messages, and the messages after them."""
    count = 0
    while count < len(entries) and entries[count].get("role") in _SYSTEM_ROLES:
        count += 1
    return [text for entry in entries[:count] for text in _texts(entry.get("content"))], entries[count:]


def _has_system_first(messages: Sequence[Message]) -> bool:
    return bool(messages) and messages[0].get("role") in _SYSTEM_ROLES


def _extended(message: Message, texts: Sequence[str], kind: str) -> dict[str, Any]:
    """Return a message with these texts after its content."""
    content = message["content"]
    if isinstance(content, str):
        return {**message, "content": "\n\n".join([*filter(None, [content]), *texts])}
    return {**message, "content": [*content, *({"type": kind, "text": text} for text in texts)]}


def _texts(content: Any) -> list[str]:
    """Return the texts of a system prompt, which is a string or a list of blocks."""
    blocks = [content] if isinstance(content, str) else content or ()
    texts: list[Any] = [block.get("text") if isinstance(block, dict) else block for block in blocks]
    for text in texts:
        if not isinstance(text, str):
            raise CallError(f"a system prompt must be text, not {type(text).__name__}; remove it from the request")
    return [text for text in texts if text.strip()]


def _automatic() -> dict[str, Any]:
    return {"type": "ephemeral"}


def without_breakpoints(content: Any) -> Any:
    """Return a message or block without its cache breakpoints."""
    if isinstance(content, dict):
        return {key: without_breakpoints(field) for key, field in content.items() if key not in BREAKPOINT_KEYS}
    return [without_breakpoints(entry) for entry in content] if isinstance(content, list | tuple) else content


def _without(fields: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: field for key, field in fields.items() if key not in keys}
