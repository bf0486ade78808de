"""Notices: messages that Foreword itself adds to a conversation, such as that a tool is off. Pure.

A caller may keep the messages of a turn (`turn.history`), or a list of its own that lacks them. So that the model sees them
either way, each notice is remembered with the position at which it was first sent, and put back there: the prefix that the
provider has cached stays as it was.

In the state of an edition, `unsent` lists the texts that no turn has sent yet, and `notices` those that one has.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    Message = Mapping[str, Any]
    State = Mapping[str, Any]

_MOST_KEPT = 2**16
_ANSWERS = ("tool_result", "function_call_output")
_CALLS = ("function_call",)


def with_unsent(state: State, texts: Iterable[str], skill: str = "") -> dict[str, Any]:
    """The changes of a state that add texts for the next turn to send. With `skill`, they hold the body of that skill."""
    rows = [{"text": text, **({"skill": skill} if skill else {})} for text in texts]
    return {"unsent": [*state.get("unsent", ()), *rows]}


def placed(state: State, messages: Sequence[Message]) -> dict[str, Any]:
    """The changes of a state whose unsent notices are sent now, after these messages."""
    unsent = state.get("unsent", ())
    if not unsent:
        return {}
    known = state.get("notices", ())
    first = len(restored(messages, known))
    rows = [*known, *({**each, "at": first + number} for number, each in enumerate(unsent))]
    kept = _newest(rows)
    # What is forgotten may still hold, so the next turn announces everything that does.
    return {"unsent": None, "notices": kept, **({"told": None} if len(kept) < len(rows) else {})}


def _newest(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The notices without the oldest ones, where all of them are longer than a state should be. Skills stay."""
    size, kept = sum(len(each["text"]) for each in rows), []
    for number, row in enumerate(rows):
        if size > _MOST_KEPT and "skill" not in row and number < len(rows) - 1:
            size -= len(row["text"])
        else:
            kept.append(row)
    return kept


def lasting(state: State) -> list[Any]:
    """The notices that outlive an edition: the bodies of skills. What had changed in the prompt is part of the new one."""
    return [each for each in state.get("notices", ()) if "skill" in each]


def restored(messages: Sequence[Message], notices: Iterable[Mapping[str, Any]]) -> list[Message]:
    """The messages with every notice that they lack, each at the position where it was first sent.

    A list that is too short for that gets it before its last message. Notices keep their order: a later one may take back an earlier one.
    """
    whole = list(messages)
    searched = 0
    for notice in notices:
        found = next((at for at in range(searched, len(whole)) if _says(whole[at], notice["text"])), None)
        if found is None:
            at = notice["at"] if notice["at"] <= len(whole) else max(len(whole) - 1, 0)
            found = _gap(whole, max(at, searched))
            whole.insert(found, {"role": "user", "content": notice["text"]})
        searched = found + 1
    return whole


def _says(message: Message, text: str) -> bool:
    """Whether a user message holds this text. A caller may have merged it with others."""
    return message.get("role") == "user" and any(text in each for each in texts_of(message))


def texts_of(message: Message) -> list[str]:
    """The texts of a message, whose content is a string or a list of blocks."""
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list | tuple) else ()
    texts = [each.get("text") if isinstance(each, dict) else each for each in blocks]
    return [each for each in texts if isinstance(each, str)]


def _gap(messages: Sequence[Message], at: int) -> int:
    """The last position up to this one that does not come between a tool call and its result: providers refuse that."""
    if at >= len(messages) or not _is_answer(messages[at]):
        return at
    while at and _is_answer(messages[at]):
        at -= 1
    while at and _is_call(messages[at]) and _is_call(messages[at - 1]):
        at -= 1
    return at


def _is_answer(message: Message) -> bool:
    return message.get("role") in ("tool", "function") or _has_type(message, _ANSWERS)


def _is_call(message: Message) -> bool:
    return message.get("type") in _CALLS


def _has_type(message: Message, types: Sequence[str]) -> bool:
    content = message.get("content")
    blocks = content if isinstance(content, list | tuple) else ()
    return any(isinstance(each, dict) and each.get("type") in types for each in (message, *blocks))
