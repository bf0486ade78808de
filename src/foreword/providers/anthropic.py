"""Anthropic's Messages API: text blocks, with cache breakpoints where lifetimes end.

The API reads tools, then system, then messages, and caches everything before a breakpoint. It allows four breakpoints; at most
three are used here, which leaves one to the caller for the messages. A breakpoint costs nothing, and one in a prompt that is too
short is ignored, so each lifetime longer than a turn gets one and nothing is counted.

    release        before the text of a project begins: read by every conversation of the same agent
    project        before the text of a conversation begins: read by the next conversation in the project
    conversation   at the end of the text that stays until the edition changes: read by the next turn

A spare breakpoint goes after the root's instruction file: in a large repository that file is long, while files closer to the agent
and the list of skills change more often.

Text lasts only as long as the text before it, so lifetimes never grow along the prompt: project instructions after a clock live as
long as the clock. A separator belongs to the text after it; otherwise a block would change when its neighbour appears or
disappears.
"""

from __future__ import annotations

from ..errors import CallError, check_turn
from ..vocabulary import LIFETIMES, Turn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Literal


_TTLS = ("5m", "1h")
_MAX_BREAKPOINTS = 3


def for_anthropic(turn: Turn, *, cache_ttl: Literal["5m", "1h"] | None = None) -> dict[str, Any]:
    """The arguments `tools`, `system` and `messages` of `client.messages.create`.

    `cache_ttl` is how long the cache lasts; without it, the API uses 5 minutes. Breakpoints that the caller adds to the messages must
    not ask for longer.
    """
    check_turn("for_anthropic", turn, Turn)
    if cache_ttl not in (None, *_TTLS):
        raise CallError(f"unknown cache_ttl {cache_ttl!r}; use {', '.join(map(repr, _TTLS))} or None")
    blocks = list(_split(turn)) if turn.system.strip() else []
    # Tools come first and change with the agent's release. If text of that lifetime follows, its breakpoint covers them too.
    is_after_tools = bool(turn.tools) and (not blocks or blocks[0][1] != "release")
    breakpoints = is_after_tools + sum(lifetime != "turn" for _, lifetime in blocks)
    if breakpoints < _MAX_BREAKPOINTS:
        blocks = _split_after_root(blocks, turn.root_end)
    request: dict[str, Any] = {}
    if turn.tools:
        request["tools"] = [_tool(tool) for tool in turn.tools]
        if is_after_tools:
            request["tools"][-1] |= _breakpoint(cache_ttl)
    if blocks:
        request["system"] = [_block(text, lifetime, cache_ttl) for text, lifetime in blocks]
    request["messages"] = list(turn.messages)
    return request


request = for_anthropic


def _split(turn: Turn) -> Iterator[tuple[str, str]]:
    """The system prompt split where lifetimes end, each text with its lifetime. No text is blank, because the API rejects blank blocks.

    Text after the last passage was added for this turn only. A prompt without passages lasts as long as its edition.
    """
    text, start, ended, rank = turn.system, 0, 0, 0
    passages = turn.passages or ((0, len(text), "conversation"),)
    for _, end, lifetime in (*passages, (len(text), len(text), "turn")):
        shorter = max(rank, LIFETIMES.index(lifetime))
        if shorter > rank and text[ended:].strip():
            if text[start:ended].strip():
                yield text[start:ended], LIFETIMES[rank]
                start = ended
            rank = shorter
        ended = end
    yield text[start:], LIFETIMES[rank]


def _split_after_root(blocks: list[tuple[str, str]], end: int) -> list[tuple[str, str]]:
    """The blocks, with the one that contains the end of the root's instruction file split there."""
    start = 0
    for number, (text, lifetime) in enumerate(blocks):
        cut = end - start
        if 0 < cut < len(text):
            is_useful = lifetime != "turn" and text[:cut].strip() and text[cut:].strip()
            both = [(text[:cut], lifetime), (text[cut:], lifetime)] if is_useful else [(text, lifetime)]
            return [*blocks[:number], *both, *blocks[number + 1 :]]
        start += len(text)
    return blocks


def _block(text: str, lifetime: str, ttl: str | None) -> dict[str, Any]:
    block = {"type": "text", "text": text}
    return block if lifetime == "turn" else block | _breakpoint(ttl)


def _breakpoint(ttl: str | None) -> dict[str, Any]:
    return {"cache_control": {"type": "ephemeral", "ttl": ttl} if ttl else {"type": "ephemeral"}}


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    description = {"description": tool["description"]} if tool.get("description") else {}
    schema = tool.get("schema") or {"type": "object", "properties": {}}
    return {"name": tool["name"], **description, "input_schema": schema}
