"""Anthropic's Messages API: text blocks, with cache breakpoints where lifetimes end (`blocks.py`).

The API reads tools, then system, then messages, and caches everything before a breakpoint. It rejects a request with more than four,
including the automatic one (`cache_control` of the request itself). By default at most three are set here, which leaves one for the
caller; those that the caller has set in messages and tools are counted, and of too many only the last ones are kept. A breakpoint in
a prompt that is too short is ignored, so nothing else is counted.

Breakpoints that last an hour must come before those that last five minutes.

Messages that belong to the prompt become user messages, because only some models accept other roles there. They continue the prompt,
and a lifetime may end in them.
"""

from __future__ import annotations

from ..errors import CallError, check_turn
from ..vocabulary import Turn
from .blocks import blocks_of, keep_last_breakpoints, split_after_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, Literal

    from .blocks import Block

    TTL = Literal["5m", "1h", "mixed"]

_TTLS = ("5m", "1h", "mixed")
MAX_BREAKPOINTS = 4  # in the whole request
_SHARED_LIFETIMES = ("release", "project")  # text that other conversations read too


def for_anthropic(turn: Turn, *, breakpoints: int = 3, ttl: TTL | None = None) -> dict[str, Any]:
    """Return the arguments `tools`, `system` and `messages` of `client.messages.create`.

    `breakpoints` is how many cache breakpoints may be set, from 0 to 4. Together with those already in the messages and tools, there
    are never more than 4; if you add others to the request afterwards, leave room for them. The default leaves room for one, such as
    the automatic one (`cache_control={"type": "ephemeral"}`).

    `ttl` is how long the cache lasts: `5m`, `1h`, or `mixed` for an hour up to the end of the project's text and five minutes after
    it. Without it, the API uses 5 minutes. If a breakpoint of yours in the messages lasts an hour, those before it do too.
    """
    check_turn("for_anthropic", turn, Turn)
    if type(breakpoints) is not int or not 0 <= breakpoints <= MAX_BREAKPOINTS:
        raise CallError(f"breakpoints must be a number from 0 to {MAX_BREAKPOINTS}, not {breakpoints!r}")
    if ttl not in (None, *_TTLS):
        raise CallError(f"unknown ttl {ttl!r}; use {', '.join(map(repr, _TTLS))} or None")
    tools = [_tool(tool) for tool in turn.tools]
    messages = turn.messages[len(turn.leading) :]
    existing = [*_marks(tools), *_marks(messages)]
    if existing:
        breakpoints = max(min(breakpoints, MAX_BREAKPOINTS - len(existing)), 0)
        messages = _without_first_marks(messages, len(existing) - MAX_BREAKPOINTS)
        ttl = _compatible_ttl(ttl, tools, messages)
    blocks = blocks_of(turn)
    # Tools come first and change with the agent's release. If text of that lifetime follows, its breakpoint covers them too.
    last_tool = next((tool for tool in reversed(tools) if not tool.get("defer_loading")), None)
    is_after_tools = last_tool is not None and (not blocks or blocks[0].lifetime != "release")
    count = sum(block.has_breakpoint for block in blocks)
    if is_after_tools + count < breakpoints:
        blocks = split_after_root(blocks, turn.root_end)
    elif count > breakpoints:
        blocks = keep_last_breakpoints(blocks, breakpoints)
    request: dict[str, Any] = {}
    if tools:
        request["tools"] = tools
        if last_tool is not None and is_after_tools and count < breakpoints and "cache_control" not in last_tool:
            last_tool |= _breakpoint(ttl, _SHARED_LIFETIMES[0])
    if system := _content(blocks, 0, ttl):
        request["system"] = system
    leading = [{"role": "user", "content": _content(blocks, number, ttl)} for number in range(1, len(turn.leading) + 1)]
    request["messages"] = [*leading, *messages]
    return request


request = for_anthropic


def _content(blocks: Iterable[Block], message: int, ttl: str | None) -> list[dict[str, Any]]:
    """Return the blocks of the system prompt or of a message, in the API's form."""
    return [
        {"type": "text", "text": block.text, **(_breakpoint(ttl, block.lifetime) if block.has_breakpoint else {})}
        for block in blocks
        if block.message == message
    ]


def _breakpoint(ttl: str | None, lifetime: str) -> dict[str, Any]:
    if ttl == "mixed":
        ttl = "1h" if lifetime in _SHARED_LIFETIMES else "5m"
    return {"cache_control": {"type": "ephemeral", "ttl": ttl} if ttl else {"type": "ephemeral"}}


# Breakpoints that the caller has set


def _marks(entries: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the breakpoints of tools or messages, also those in the content of a tool's result."""
    for each in entries:
        if isinstance(each, dict):
            if each.get("cache_control"):
                yield each["cache_control"]
            content = each.get("content")
            if isinstance(content, list | tuple):
                yield from _marks(content)


def _without_first_marks(entries: Sequence[Any], count: int) -> Sequence[Any]:
    """Return messages or blocks without the first breakpoints. What the provider has cached does not depend on them."""
    if count <= 0:
        return entries
    kept = []
    for each in entries:
        found = sum(1 for _ in _marks([each]))
        kept.append(_unmarked(each, count) if found and count > 0 else each)
        count -= found
    return kept


def _unmarked(entry: Mapping[str, Any], count: int) -> dict[str, Any]:
    """Return a message or a block without its first breakpoints."""
    fields = {key: field for key, field in entry.items() if key != "cache_control"}
    content = fields.get("content")
    if isinstance(content, list | tuple):
        fields["content"] = _without_first_marks(content, count - ("cache_control" in entry))
    return fields


def _compatible_ttl(ttl: TTL | None, tools: Sequence[Any], messages: Sequence[Any]) -> TTL | None:
    """Return a lifetime for the breakpoints between those of tools and messages: an hour never comes after five minutes."""
    if any(mark.get("ttl") == "1h" for mark in _marks(messages)):
        return "1h"
    if any(mark.get("ttl") != "1h" for mark in _marks(tools)):
        return ttl and "5m"
    return ttl


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    description = {"description": tool["description"]} if tool.get("description") else {}
    schema = tool.get("schema") or {"type": "object", "properties": {}}
    return {"name": tool["name"], **description, "input_schema": schema}
