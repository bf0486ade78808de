"""Find the messages of a turn that announce late changes to instructions or tools."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..vocabulary import Turn


def announcements(turn: Turn) -> dict[int, Mapping[str, Any]]:
    """Return the turn's changes, keyed by the index of the message that announces each.

    If a hook or the caller has edited or removed one of these messages, the result is empty and all changes are sent as they are in
    the turn, because a later change may depend on an earlier one.
    """
    changes: dict[int, Mapping[str, Any]] = {}
    start = len(turn.leading)
    for change in turn.changes:
        indexes = range(start, len(turn.messages))
        index = next((index for index in indexes if _announces(turn.messages[index], change["text"])), -1)
        if index < 0:
            return {}
        changes[index] = change
        start = index + 1
    return changes


def _announces(message: Mapping[str, Any], text: str) -> bool:
    return message.get("role") == "user" and message.get("content") == text
