"""Amazon Bedrock's Converse API, in the form that `boto3` accepts.

It reads tools, then system, then messages, and caches everything before a cache point, which is a block of its own. Only some models
accept cache points (`capabilities.toml`), and for all others none is set. Some models refuse one after the tools, so there is none: the
first one in the system prompt covers the tools too. There is no automatic one, so the last one is at the end of the messages.

The roles are user and assistant, and they must alternate. Everything that the model did not write, including system, developer and tool
messages, is sent as `user`, and consecutive messages are merged (`merging.py` does the same for strict chat templates). A tool that is
added late is in the list with the others; with `use_tool` it is not, and a message has its definition.
"""

from __future__ import annotations

from ..errors import CallError
from ..vocabulary import Turn
from . import check_turn_for
from .blank_text import without_blank_text
from .blocks import blocks_of, keep_last_breakpoints, split_after_root
from .capabilities import capabilities_of
from .foreign_messages import check_message_form
from .late import without_listed_tools
from .tool_fields import reject_tool_fields
from .use_tool import with_use_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Literal

    from .blocks import Block

_MAX_BREAKPOINTS = 4
_TTLS = ("5m", "1h", "mixed")
_SHARED_LIFETIMES = ("release", "project")  # text that other conversations read too
_MODEL_ROLES = ("assistant", "model")
_FOREIGN_FIELDS = ("tool_calls", "tool_call_id", "function_call", "call_id", "parts")


def for_bedrock(
    turn: Turn, *, breakpoints: int | None = None, ttl: Literal["5m", "1h", "mixed"] | None = None
) -> dict[str, Any]:
    """Return the arguments `system`, `toolConfig` and `messages` of `client.converse`, where the client is that of `bedrock-runtime`.

    `breakpoints` is how many cache points are set, from 0 to 4: the last one at the end of the messages, and the others where lifetimes
    end in the prompt. By default there are as many as the turn's model is known to accept, and none for an unknown one. `ttl` is how
    long the cache lasts: `5m`, `1h`, or `mixed` for an hour up to the end of the project's text and five minutes after it.

    >>> turn = Conversations().open("42", Workspace("."), layout="foreword").turn("Hello")
    >>> sorted(for_bedrock(turn))
    ['messages', 'system']
    """
    check_turn_for("bedrock", turn)
    turn = without_blank_text(turn)
    count = _count_breakpoints(turn.model, breakpoints, ttl)
    if turn.changes:
        turn = without_listed_tools(with_use_tool(turn))
    blocks = _blocks(turn, count - 1)
    request: dict[str, Any] = {}
    if system := _text_blocks(blocks, 0, ttl):
        request["system"] = system
    if turn.tools:
        request["toolConfig"] = {"tools": _tools(turn.tools)}
    leading = [("user", _text_blocks(blocks, number, ttl)) for number in range(1, len(turn.leading) + 1)]
    messages = _merged([*leading, *(_message(message) for message in turn.messages[len(turn.leading) :])])
    if count:
        messages[-1]["content"].append(_cache_point(ttl, "conversation"))
    return {**request, "messages": messages}


request = for_bedrock


def _count_breakpoints(model: str, breakpoints: int | None, ttl: str | None) -> int:
    """Return how many cache points to set."""
    if ttl not in (None, *_TTLS):
        raise CallError(f"unknown ttl {ttl!r}; use {', '.join(map(repr, _TTLS))} or None")
    if breakpoints is None:
        return capabilities_of("bedrock", model).breakpoints if model else 0
    if type(breakpoints) is not int or not 0 <= breakpoints <= _MAX_BREAKPOINTS:
        raise CallError(f"breakpoints must be a number from 0 to {_MAX_BREAKPOINTS} or None, not {breakpoints!r}")
    return breakpoints


def _blocks(turn: Turn, count: int) -> list[Block]:
    """Return the prompt's blocks, with at most `count` breakpoints."""
    blocks = blocks_of(turn)
    if sum(block.has_breakpoint for block in blocks) < count:
        blocks = split_after_root(blocks, turn.root_end)
    return keep_last_breakpoints(blocks, count)


def _text_blocks(blocks: Iterable[Block], message: int, ttl: str | None) -> list[dict[str, Any]]:
    """Return the blocks of the system prompt (message 0) or of another message, each followed by its cache point, if it has one."""
    return [
        part
        for block in blocks
        if block.message == message
        for part in ({"text": block.text}, *([_cache_point(ttl, block.lifetime)] if block.has_breakpoint else ()))
    ]


def _cache_point(ttl: str | None, lifetime: str) -> dict[str, Any]:
    if ttl == "mixed":
        ttl = "1h" if lifetime in _SHARED_LIFETIMES else "5m"
    return {"cachePoint": {"type": "default", **({"ttl": ttl} if ttl else {})}}


def _tools(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    reject_tool_fields("Bedrock", tools, ("defer", "allowed_callers"))
    return [_tool(tool) for tool in tools]


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a definition to the API's form. A tool with a type, such as `systemTool`, is the provider's own."""
    options = tool.get("options") or {}
    if kind := tool.get("type"):
        return {kind: {"name": tool["name"], **options}}
    description = {"description": tool["description"]} if tool.get("description") else {}
    strict = {"strict": tool["strict"]} if tool.get("strict") is not None else {}
    schema = tool.get("schema") or {"type": "object", "properties": {}}
    return {"toolSpec": {"name": tool["name"], **description, "inputSchema": {"json": schema}, **strict, **options}}


# Messages


def _message(message: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Return a message's role and its blocks."""
    check_message_form(
        "for_bedrock", message, _FOREIGN_FIELDS, "write calls and results as blocks, toolUse and toolResult"
    )
    content = message.get("content")
    parts = content if isinstance(content, list | tuple) else [content]
    role = "assistant" if message.get("role") in _MODEL_ROLES else "user"
    return role, [_part(part) for part in parts if part is not None]


def _part(part: Any) -> Any:
    if isinstance(part, str):
        return {"text": part}
    is_text = isinstance(part, dict) and part.get("type") == "text" and "text" in part
    return {"text": part["text"]} if is_text else part


def _merged(messages: Iterable[tuple[str, list[Any]]]) -> list[dict[str, Any]]:
    """Return the messages in the API's form, with consecutive ones of the same role merged."""
    merged: list[dict[str, Any]] = []
    for role, content in messages:
        if merged and merged[-1]["role"] == role:
            merged[-1]["content"] += content
        else:
            merged.append({"role": role, "content": [*content]})
    return merged
