"""Find the late changes to instructions and tools in a turn: the messages that announce them, and the tools that are inactive."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
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


def inactive_tools(changes: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the names of the tools that these changes have removed and not restored. A turn still contains their definitions."""
    inactive: set[str] = set()
    for change in changes:
        inactive.update(change.get("removed", ()))
        inactive.difference_update(change.get("restored", ()))
    return inactive


def _announces(message: Mapping[str, Any], text: str) -> bool:
    return message.get("role") == "user" and message.get("content") == text
