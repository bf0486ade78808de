"""Late changes: which messages of a turn announce that instructions or tools have changed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..vocabulary import Turn


def announcements(turn: Turn) -> dict[int, Mapping[str, Any]]:
    """Return the turn's changes by the number of the message that announces each.

    Empty if one of the messages is missing, because a hook or the caller has changed it: then all changes are sent as they are in the
    turn, since a later change may depend on an earlier one.
    """
    found: dict[int, Mapping[str, Any]] = {}
    start = len(turn.leading)
    for change in turn.changes:
        at = next((at for at in range(start, len(turn.messages)) if _announces(turn.messages[at], change["text"])), -1)
        if at < 0:
            return {}
        found[at] = change
        start = at + 1
    return found


def _announces(message: Mapping[str, Any], text: str) -> bool:
    return message.get("role") == "user" and message.get("content") == text
