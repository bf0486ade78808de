"""Anthropic's Messages API: text blocks, and cache breakpoints where lifetimes end.

The API reads tools, then system, then messages, and keeps what stands before a breakpoint. It allows four breakpoints; at most three
are used here, so that one stays the caller's, for the messages. A breakpoint costs nothing by itself, and one in too short a prompt is
ignored: so each lifetime that outlives the turn gets one, and nothing is counted.

    release        before another project's text begins: read by every conversation of the same agent
    project        before the conversation's own text begins: read by the next conversation in the project
    conversation   at the end of what stays until the edition changes: read by the next turn

Where that leaves one to spare, it goes behind the instruction file of the root: in a large repository it is long, and files nearer to the
agent, or the menu of skills, change without it.

Text is only as lasting as what stands before it, so lifetimes never grow along the prompt: instructions of the project behind a clock
live as long as the clock. A separator goes with the text after it; otherwise a block would change when its neighbour came or went.
"""

from __future__ import annotations

from ..errors import CallError, check_turn
from ..vocabulary import LIFETIMES, Turn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Literal


_TTLS = ("5m", "1h")
_MOST = 3


def for_anthropic(turn: Turn, *, cache_ttl: Literal["5m", "1h"] | None = None) -> dict[str, Any]:
    """The arguments `tools`, `system` and `messages` of `client.messages.create`.

    With `cache_ttl` all breakpoints say how long the cache shall last; without it they leave that to the API (5 minutes). A breakpoint
    of the caller's in the messages may not ask for longer than these.
    """
    check_turn("for_anthropic", turn, Turn)
    if cache_ttl not in (None, *_TTLS):
        raise CallError(f"no cache_ttl {cache_ttl!r}; known: {', '.join(_TTLS)}, or None")
    stretches = list(_stretches(turn)) if turn.system.strip() else []
    has_mark_of_tools = bool(turn.tools) and (not stretches or stretches[0][1] != "release")
    marks = has_mark_of_tools + sum(lifetime != "turn" for _, lifetime in stretches)
    if marks < _MOST:
        stretches = _cut_behind_root(stretches, turn.root_end)
    request: dict[str, Any] = {}
    if turn.tools:
        request["tools"] = [_tool(tool) for tool in turn.tools]
        # Tools stand first and change with the agent's release. Where text of that lifetime follows, its breakpoint covers them too.
        if has_mark_of_tools:
            request["tools"][-1] |= _breakpoint(cache_ttl)
    if stretches:
        request["system"] = [_block(text, lifetime, cache_ttl) for text, lifetime in stretches]
    request["messages"] = list(turn.messages)
    return request


def _stretches(turn: Turn) -> Iterator[tuple[str, str]]:
    """The system prompt cut where a lifetime ends; joined, it is the same text. No stretch is blank: the API refuses blank blocks.

    What stands behind the last passage was added for this turn alone. A prompt without passages is one edition, whatever is in it.
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


def _cut_behind_root(stretches: list[tuple[str, str]], end: int) -> list[tuple[str, str]]:
    """The stretches, cut where the root's instruction file ends: it stays the same when a file nearer to the agent changes."""
    start = 0
    for number, (text, lifetime) in enumerate(stretches):
        cut = end - start
        if 0 < cut < len(text):
            is_useful = lifetime != "turn" and text[:cut].strip() and text[cut:].strip()
            both = [(text[:cut], lifetime), (text[cut:], lifetime)] if is_useful else [(text, lifetime)]
            return [*stretches[:number], *both, *stretches[number + 1 :]]
        start += len(text)
    return stretches


def _block(text: str, lifetime: str, ttl: str | None) -> dict[str, Any]:
    block = {"type": "text", "text": text}
    return block if lifetime == "turn" else block | _breakpoint(ttl)


def _breakpoint(ttl: str | None) -> dict[str, Any]:
    return {"cache_control": {"type": "ephemeral", "ttl": ttl} if ttl else {"type": "ephemeral"}}


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    description = {"description": tool["description"]} if tool.get("description") else {}
    schema = tool.get("schema") or {"type": "object", "properties": {}}
    return {"name": tool["name"], **description, "input_schema": schema}
