"""Leave out blank text, for APIs that refuse a request with a text block of white space.

Models return such blocks beside a call, and empty answers; without this, a conversation that contains one could not go on.
"""

from __future__ import annotations

from ..errors import is_blank_block, is_blank_content
from ..vocabulary import Turn, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def without_blank_text(turn: Turn) -> Turn:
    """Return the turn without blank blocks, also in tools' results, and without messages of nothing else. Those of the prompt stay."""
    own = turn.messages[len(turn.leading) :]
    kept = [_without_blank_blocks(message) for message in own if not _is_blank(message)]
    if not kept or (len(kept) == len(own) and all(map(_is_same, kept, own))):
        return turn
    return replace(turn, messages=(*turn.messages[: len(turn.leading)], *kept))


def _is_same(one: object, other: object) -> bool:
    return one is other


def _is_blank(message: Mapping[str, Any]) -> bool:
    """Whether a message has only blank text. The result of a tool may be empty, and calls may be in other fields."""
    has_more = any(content for key, content in message.items() if key not in ("role", "content", "parts"))
    if has_more or message.get("role") == "tool":
        return False
    return all(is_blank_content(message.get(name) or "") for name in ("content", "parts"))


def _without_blank_blocks(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message, or the result of a tool inside one, without its blank blocks: the same object if it has none."""
    for name in ("content", "parts"):
        blocks = message.get(name)
        if isinstance(blocks, (list, tuple)):
            kept = [_with_result(block) for block in blocks if not is_blank_block(block)]
            if len(kept) != len(blocks) or not all(map(_is_same, kept, blocks)):
                message = {**message, name: kept}
    return message


def _with_result(block: Any) -> Any:
    """Return a block; if it is the result of a tool (in Anthropic's or Bedrock's form), without blank blocks in it."""
    if not hasattr(block, "keys"):
        return block
    if block.get("type") == "tool_result":
        return _without_blank_blocks(block)
    result = block.get("toolResult")
    if not hasattr(result, "keys"):
        return block
    kept = _without_blank_blocks(result)
    return block if kept is result else {**block, "toolResult": kept}
