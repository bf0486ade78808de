"""Merge messages for servers that insist on alternating roles. Pure.

The chat templates of some models refuse two user messages in a row, or a system message after the first one. Foreword produces both: a
message that announces a change comes before the user's own. Merged messages keep the prefix, because each request merges the same ones.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Message = Mapping[str, Any]

_KEYS = {"role", "content"}


def merge_messages(messages: Sequence[Message]) -> list[Message]:
    """Return the messages, with consecutive ones from the user or from the system merged. A later system message becomes the user's."""
    merged: list[Message] = []
    for message in messages:
        before = merged[-1] if merged else {}
        if message.get("role") == "system" and before and before.get("role") != "system":
            message = {**message, "role": "user"}
        if _can_merge(before, message):
            merged[-1] = {**message, "content": _join(before["content"], message["content"])}
        else:
            merged.append(message)
    return merged


def _can_merge(before: Message, message: Message) -> bool:
    return before.keys() == message.keys() == _KEYS and before["role"] == message["role"] in ("user", "system")


def _join(before: Any, content: Any) -> Any:
    """Return one text, or a list of parts if one of the contents is a list."""
    if isinstance(before, str) and isinstance(content, str):
        return f"{before}\n\n{content}"
    return [*_parts(before), *_parts(content)]


def _parts(content: Any) -> Sequence[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
