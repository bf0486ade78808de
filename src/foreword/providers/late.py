"""Find the messages of a turn that announce late changes to instructions or tools."""

from __future__ import annotations

from ..vocabulary import replace
from ..vocabulary.tools import new_tools_sentence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..vocabulary import Turn

_MODEL_ROLES = ("assistant", "model")
_MODEL_TYPES = ("function_call", "custom_tool_call", "reasoning", "message")  # entries of Responses without a role


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


def without_listed_tools(turn: Turn) -> Turn:
    """Return the turn without sentences about new tools, for a request whose list of tools contains their definitions.

    The list has changed, so the cache after it is lost in any case. The sentence would say nothing that the list does not say, and every
    later request would pay for it. A deferred tool is not in the prompt, so its sentence is kept.
    """
    deferred = {tool["name"] for tool in turn.tools if tool.get("defer")}
    texts: dict[int, str] = {}  # what remains of each announcement
    changes = announcements(turn)
    for index, change in changes.items():
        added = change.get("added", ())
        if added and deferred.isdisjoint(added):
            texts[index] = change["text"].removesuffix(new_tools_sentence(added)).rstrip()
    dropped = _droppable(turn.messages, {index for index, text in texts.items() if not text})
    if not any(texts.values()) and not dropped:
        return turn
    messages = [
        {**message, "content": texts[index]} if texts.get(index) else message
        for index, message in enumerate(turn.messages)
        if index not in dropped
    ]
    kept = [
        {**change, "text": texts.get(index) or change["text"]}
        for index, change in changes.items()
        if index not in dropped
    ]
    return replace(turn, messages=messages, changes=kept)


def _droppable(messages: Sequence[Mapping[str, Any]], indexes: set[int]) -> set[int]:
    """Return those of the messages that can be left out: at each point, the user's side must still say something for the model to answer.

    This depends only on the messages next to each, so that later requests leave out the same ones.
    """
    droppable: set[int] = set()
    for index in sorted(indexes):
        before = next((number for number in range(index - 1, -1, -1) if number not in droppable), -1)
        after = next((number for number in range(index + 1, len(messages)) if number not in indexes), -1)
        if any(number >= 0 and not _is_from_model(messages[number]) for number in (before, after)):
            droppable.add(index)
    return droppable


def _is_from_model(message: Mapping[str, Any]) -> bool:
    return message.get("role") in _MODEL_ROLES or ("role" not in message and message.get("type") in _MODEL_TYPES)
