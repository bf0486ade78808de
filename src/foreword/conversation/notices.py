"""Notices: messages that Foreword itself adds to a conversation, for example that a tool is inactive. Pure.

A caller may keep the messages of a turn (`turn.history`), or its own list, which lacks the notices. So that the model sees them
either way, each notice is remembered with the position at which it was first sent, and inserted there again: the prefix that
the provider has cached does not change.

In the state of a conversation, `unsent` lists the notices that no turn has sent yet, and `notices` those that were sent.
"""

from __future__ import annotations

from ..vocabulary import replace
from .state import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    Message = Mapping[str, Any]
    Notice = Mapping[str, Any]

_MAX_CHARACTERS = 2**16
_RESULTS = ("tool_result", "function_call_output")
_CALLS = ("function_call",)


def with_unsent(state: State, texts: Iterable[str], skill: str = "", *, touched: bool = False) -> State:
    """The state with notices for the next turn to send. `skill` names the skill whose body they contain.

    With `touched`, they contain files that an earlier touch has sent.
    """
    about: Notice = {**({"skill": skill} if skill else {}), **({"touched": True} if touched else {})}
    rows = [{"text": text, **about} for text in texts]
    return replace(state, unsent=(*state.unsent, *rows))


def mark_sent(state: State, messages: Sequence[Message]) -> State:
    """The state once its unsent notices are sent after these messages."""
    if not state.unsent:
        return state
    first = len(with_notices(messages, state.notices))
    rows = [*state.notices, *({**notice, "at": first + number} for number, notice in enumerate(state.unsent))]
    kept = _newest(rows)
    # A notice that was dropped may still apply, so the next turn announces every current change again.
    return replace(state, unsent=(), notices=kept, announced=state.announced if len(kept) == len(rows) else {})


def _newest(rows: list[Notice]) -> list[Notice]:
    """The notices without the oldest ones, if together they are too long for a state. Skills are always kept."""
    size, kept = sum(len(row["text"]) for row in rows), []
    for number, row in enumerate(rows):
        if size > _MAX_CHARACTERS and not _is_lasting(row) and number < len(rows) - 1:
            size -= len(row["text"])
        else:
            kept.append(row)
    return kept


def lasting_notices(state: State) -> tuple[Notice, ...]:
    """The notices that outlive an edition: bodies of skills, and touched files. Announced changes are part of the new prompt."""
    return tuple(notice for notice in state.notices if _is_lasting(notice))


def _is_lasting(notice: Notice) -> bool:
    return "skill" in notice or "touched" in notice


def with_notices(messages: Sequence[Message], notices: Iterable[Notice]) -> list[Message]:
    """The messages with every notice that they lack, each at the position where it was first sent.

    If the list is too short, a notice comes before the last message. Notices keep their order, because a later one may revoke
    an earlier one.
    """
    complete = list(messages)
    start = 0
    for notice in notices:
        found = next((at for at in range(start, len(complete)) if _contains(complete[at], notice["text"])), None)
        if found is None:
            at = notice["at"] if notice["at"] <= len(complete) else max(len(complete) - 1, 0)
            found = _insertion_point(complete, max(at, start))
            complete.insert(found, {"role": "user", "content": notice["text"]})
        start = found + 1
    return complete


def _contains(message: Message, text: str) -> bool:
    """Whether a user message contains this text. A caller may have merged it with other text."""
    return message.get("role") == "user" and any(text in part for part in texts_of(message))


def texts_of(message: Message) -> list[str]:
    """The texts of a message, whose content (Gemini's `parts`) is a string or a list of blocks."""
    content = message.get("content", message.get("parts"))
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list | tuple) else ()
    texts = [block.get("text") if isinstance(block, dict) else block for block in blocks]
    return [text for text in texts if isinstance(text, str)]


def _insertion_point(messages: Sequence[Message], at: int) -> int:
    """The last position up to `at` that is not between a tool call and its result, which providers reject."""
    if at >= len(messages) or not _is_result(messages[at]):
        return at
    while at and _is_result(messages[at]):
        at -= 1
    while at and _is_call(messages[at]) and _is_call(messages[at - 1]):
        at -= 1
    return at


def _is_result(message: Message) -> bool:
    return message.get("role") in ("tool", "function") or _has_type(message, _RESULTS)


def _is_call(message: Message) -> bool:
    return message.get("type") in _CALLS


def _has_type(message: Message, types: Sequence[str]) -> bool:
    content = message.get("content")
    blocks = content if isinstance(content, list | tuple) else ()
    return any(isinstance(part, dict) and part.get("type") in types for part in (message, *blocks))
