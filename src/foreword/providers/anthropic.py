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

Messages that belong to the prompt become user messages, because only some models accept other roles there. They continue the prompt,
and a lifetime may end in them.
"""

from __future__ import annotations

from ..errors import CallError, check_turn
from ..vocabulary import LIFETIMES, Turn, replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, Literal

    from ..vocabulary import Lifetime

_TTLS = ("5m", "1h")
_MAX_BREAKPOINTS = 3


def for_anthropic(turn: Turn, *, cache_ttl: Literal["5m", "1h"] | None = None) -> dict[str, Any]:
    """Return the arguments `tools`, `system` and `messages` of `client.messages.create`.

    `cache_ttl` is how long the cache lasts; without it, the API uses 5 minutes. Breakpoints that the caller adds to the messages must
    not ask for longer.
    """
    check_turn("for_anthropic", turn, Turn)
    if cache_ttl not in (None, *_TTLS):
        raise CallError(f"unknown cache_ttl {cache_ttl!r}; use {', '.join(map(repr, _TTLS))} or None")
    blocks = _blocks(turn)
    # Tools come first and change with the agent's release. If text of that lifetime follows, its breakpoint covers them too.
    is_after_tools = bool(turn.tools) and (not blocks or blocks[0].lifetime != "release")
    breakpoints = is_after_tools + sum(block.has_breakpoint for block in blocks)
    if breakpoints < _MAX_BREAKPOINTS:
        blocks = _split_after_root(blocks, turn.root_end)
    request: dict[str, Any] = {}
    if turn.tools:
        request["tools"] = [_tool(tool) for tool in turn.tools]
        if is_after_tools:
            request["tools"][-1] |= _breakpoint(cache_ttl)
    if system := _content(blocks, 0, cache_ttl):
        request["system"] = system
    leading = [
        {"role": "user", "content": _content(blocks, number, cache_ttl)} for number in range(1, len(turn.leading) + 1)
    ]
    request["messages"] = [*leading, *turn.messages[len(leading) :]]
    return request


request = for_anthropic


@value
class _Block:
    """A block of the system prompt (message 0) or of one of the prompt's messages, with its lifetime."""

    message: int
    text: str
    lifetime: str
    has_breakpoint: bool = False


def _blocks(turn: Turn) -> list[_Block]:
    """Split the prompt into blocks, with a breakpoint where a lifetime longer than a turn ends."""
    blocks: list[_Block] = []
    texts = [turn.system, *(message["content"] for message in turn.messages[: len(turn.leading)])]
    for message, (text, passages) in enumerate(zip(texts, (turn.passages, *turn.leading), strict=True)):
        if text.strip():
            shortest = LIFETIMES.index(blocks[-1].lifetime) if blocks else 0
            blocks += [_Block(message, *part) for part in _split(text, passages, shortest)]
    lifetimes = [*(block.lifetime for block in blocks), "turn"]
    return [
        replace(block, has_breakpoint=block.lifetime not in ("turn", lifetimes[number]))
        for number, block in enumerate(blocks, 1)
    ]


def _split(text: str, passages: Sequence[tuple[int, int, Lifetime]], rank: int) -> Iterator[tuple[str, str]]:
    """Split a text where lifetimes end, each part with its lifetime. No part is blank, because the API rejects blank blocks.

    `rank` is the rank of the preceding text's lifetime. Text after the last passage was added for this turn only. A prompt without
    passages lasts as long as its edition.
    """
    start = ended = 0
    passages = passages or ((0, len(text), "conversation"),)
    for _, end, lifetime in (*passages, (len(text), len(text), "turn")):
        shorter = max(rank, LIFETIMES.index(lifetime))
        if shorter > rank and text[ended:].strip():
            if text[start:ended].strip():
                yield text[start:ended], LIFETIMES[rank]
                start = ended
            rank = shorter
        ended = end
    yield text[start:], LIFETIMES[rank]


def _split_after_root(blocks: list[_Block], end: int) -> list[_Block]:
    """Split the block that contains the end of the root's instruction file at that point."""
    start = 0
    for number, block in enumerate(blocks):
        cut, text = end - start, block.text
        if 0 < cut < len(text):
            is_useful = block.lifetime != "turn" and text[:cut].strip() and text[cut:].strip()
            both = [replace(block, text=text[:cut], has_breakpoint=True), replace(block, text=text[cut:])]
            return [*blocks[:number], *(both if is_useful else [block]), *blocks[number + 1 :]]
        start += len(text)
    return blocks


def _content(blocks: Iterable[_Block], message: int, ttl: str | None) -> list[dict[str, Any]]:
    """Return the blocks of the system prompt or of a message, in the API's form."""
    return [
        {"type": "text", "text": each.text, **(_breakpoint(ttl) if each.has_breakpoint else {})}
        for each in blocks
        if each.message == message
    ]


def _breakpoint(ttl: str | None) -> dict[str, Any]:
    return {"cache_control": {"type": "ephemeral", "ttl": ttl} if ttl else {"type": "ephemeral"}}


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    description = {"description": tool["description"]} if tool.get("description") else {}
    schema = tool.get("schema") or {"type": "object", "properties": {}}
    return {"name": tool["name"], **description, "input_schema": schema}
