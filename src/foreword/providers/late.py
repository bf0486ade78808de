"""Late changes to instructions or tools: the messages that announce them, and what of them a request contains. Pure."""

from __future__ import annotations

from ..vocabulary import replace
from ..vocabulary.tools import new_tools_sentence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ..vocabulary import Turn

_TOOL_SEARCH = "tool_search_tool"  # the start of the types of Anthropic's tool search
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


def with_deferred_tools(turn: Turn) -> Turn:
    """Return the turn with its late tools deferred, if the agent has Anthropic's tool search.

    A deferred tool is in the list but not in the prompt, so the cache is kept. The model finds it by a search.
    """
    if not has_tool_search(turn.tools):
        return turn
    late = {name for change in announcements(turn).values() for name in change.get("added", ())}
    tools = [{**tool, "defer": True} if tool["name"] in late and not tool.get("type") else tool for tool in turn.tools]
    return replace(turn, tools=tools)


def has_tool_search(tools: Iterable[Mapping[str, Any]]) -> bool:
    """Whether these definitions include Anthropic's tool search."""
    return any(str(tool.get("type") or "").startswith(_TOOL_SEARCH) for tool in tools)


def without_listed_tools(turn: Turn) -> Turn:
    """Return the turn without sentences about new tools, for a request whose list of tools contains their definitions.

    The list has changed, so the cache after it is lost in any case. The sentence would say nothing that the list does not say, and every
    later request would pay for it. A deferred tool is not in the prompt, so its sentence is kept.
    """
    texts = _texts_without_tools(turn)
    dropped = _droppable(turn.messages, {index for index, text in texts.items() if not text})
    texts = {index: text for index, text in texts.items() if text}
    if not texts and not dropped:
        return turn
    messages = [
        {**message, "content": texts[index]} if index in texts else message
        for index, message in enumerate(turn.messages)
        if index not in dropped
    ]
    changes = [
        {**change, "text": texts.get(index, change["text"])}
        for index, change in announcements(turn).items()
        if index not in dropped
    ]
    return replace(turn, messages=messages, changes=changes)


def _texts_without_tools(turn: Turn) -> dict[int, str]:
    """Return what remains of each announcement of new tools without the sentence about them, keyed by the index of its message."""
    deferred = {tool["name"] for tool in turn.tools if tool.get("defer")}
    texts: dict[int, str] = {}
    for index, change in announcements(turn).items():
        added = change.get("added", ())
        if added and deferred.isdisjoint(added):
            texts[index] = change["text"].removesuffix(new_tools_sentence(added)).rstrip()
    return texts


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
