"""Add a breakpoint to the messages of a long conversation, for Anthropic.

The API finds a cached prefix only if it ends at most 20 blocks before a breakpoint. If a conversation has grown by more than that since
its last request, because of many tool calls or because another model answered for a while, all of its messages would be written again. So
breakpoints belong after every 15 blocks. A request contains only the last of them, which is always close enough to the previous one.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_STEP = 15
_LEEWAY = 5  # how many blocks earlier the breakpoint may be; a step and its leeway are still within 20 blocks
_BLOCK_TYPES = ("text", "tool_use", "tool_result", "image", "document")  # types of blocks that can have a breakpoint


def add_message_breakpoint(
    messages: Sequence[Mapping[str, Any]], cache_control: Mapping[str, str]
) -> Sequence[Mapping[str, Any]] | None:
    """Return the messages with a breakpoint after the last full step, or None if there is no such step or no block that can have one."""
    positions = [(index, number) for index, message in enumerate(messages) for number in range(_block_count(message))]
    # The last block is left out, because the automatic breakpoint is there.
    end = (len(positions) - 1) // _STEP * _STEP
    for index, number in reversed(positions[max(end - _LEEWAY, 0) : max(end, 0)]):
        if changed := _with_breakpoint(messages[index], number, cache_control):
            return [*messages[:index], changed, *messages[index + 1 :]]
    return None


def _block_count(message: Mapping[str, Any]) -> int:
    content = message.get("content")
    return len(content) if isinstance(content, list | tuple) else 1


def _with_breakpoint(
    message: Mapping[str, Any], number: int, cache_control: Mapping[str, str]
) -> dict[str, Any] | None:
    """Return the message with a breakpoint after one of its blocks, or None if that block cannot have one."""
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())
    block = blocks[number] if number < len(blocks) else None
    if not isinstance(block, dict) or block.get("type") not in _BLOCK_TYPES or block.get("text") == "":
        return None
    if message.get("role") == "system":  # it announces a late change
        return None
    blocks[number] = {**block, "cache_control": dict(cache_control)}
    return {**message, "content": blocks}
