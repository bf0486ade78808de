"""Notices: messages that Foreword itself adds to a conversation, for example that a tool is inactive. Pure.

A caller may keep the messages of a turn (`turn.history`), or its own list, which lacks the notices. So that the model sees them
either way, each notice is stored with the position at which it was first sent, and inserted there again. This leaves the provider's
cached prefix unchanged.

A notice that announces a change also contains the names of the affected tools (`change`), so that providers that can change tools in
the middle of a conversation are sent the change itself.

Inside an edition, a notice is never dropped, moved, sent twice or given another role, so that each request begins with the whole previous
one. A new edition drops those that announced what its prompt now contains.

In a conversation's state, `unsent` lists the notices that no turn has sent yet, and `notices` those that were sent.
"""

from __future__ import annotations

from ..vocabulary import digest, replace
from .state import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    Message = Mapping[str, Any]
    Notice = Mapping[str, Any]

_MAX_RETIRED = 256
_RESULT_TYPES = ("tool_result", "function_call_output")
_CALL_TYPES = ("function_call",)


def with_unsent(
    state: State, texts: Iterable[str], skill: str = "", *, touched: bool = False, returned: bool = False
) -> State:
    """Return the state with notices for the next turn to send. `skill` is the name of the skill whose body they contain.

    With `touched`, they contain touched files. With `returned`, the caller was given them and may have added them to its messages.
    """
    details: Notice = {
        **({"skill": skill} if skill else {}),
        **({"touched": True} if touched else {}),
        **({"returned": True} if returned else {}),
    }
    notices = [{"text": text, **details} for text in texts]
    return replace(state, unsent=(*state.unsent, *notices))


def with_changes(state: State, texts: Iterable[str], changes: Iterable[Notice]) -> State:
    """Return the state with notices that announce these changes, for the next turn to send."""
    rows = [{"text": text, "change": change} for text, change in zip(texts, changes, strict=True)]
    return replace(state, unsent=(*state.unsent, *rows))


def changes_of(notices: Iterable[Notice]) -> tuple[Notice, ...]:
    """Return the changes that these notices announce, each with the text of its notice."""
    return tuple({"text": row["text"], **row["change"]} for row in notices if "change" in row)


def mark_sent(state: State, messages: Sequence[Message]) -> State:
    """Return the state after the unsent notices are sent at the end of these messages, except those that the caller has added."""
    if not state.unsent:
        return state
    returned = [notice["text"] for notice in state.unsent if "returned" in notice]
    missing = set(texts_missing_from(messages, returned))
    unsent = [notice for notice in state.unsent if "returned" not in notice or notice["text"] in missing]
    start = len(with_notices(messages, state.notices))
    sent = [
        {name: content for name, content in {**notice, "at": index}.items() if name != "returned"}
        for index, notice in enumerate(unsent, start)
    ]
    return replace(state, unsent=(), notices=[*state.notices, *sent])


def lasting_notices(state: State) -> tuple[Notice, ...]:
    """Return the notices that outlive an edition: skill bodies and touched files. The next prompt contains announced changes itself."""
    return tuple(notice for notice in state.notices if "skill" in notice or "touched" in notice)


def still_unsent(state: State) -> tuple[Notice, ...]:
    """Return the unsent notices that the next edition must send: all but announced changes, which its prompt contains."""
    return tuple(notice for notice in state.unsent if "change" not in notice)


def retired_hashes(state: State) -> tuple[str, ...]:
    """Return the hashes of the announcements up to now, which the next prompt contains itself."""
    texts = (notice["text"] for notice in (*state.notices, *state.unsent) if "change" in notice)
    return tuple(dict.fromkeys((*state.retired, *map(digest, texts))))[-_MAX_RETIRED:]


def without_retired(messages: Sequence[Message], state: State) -> Sequence[Message]:
    """Return the messages without announcements from earlier editions. The prompt contains what they say, and every call would pay for them."""
    if not state.retired:
        return messages
    return [
        message
        for message in messages
        if message.get("role") != "user" or digest("".join(texts_of(message))) not in state.retired
    ]


def calls_since(messages: Sequence[Message], notices: Sequence[Notice]) -> list[tuple[str, int]]:
    """Return the text of each announcement, and how many calls have sent it: the model's messages after it in this history."""
    complete = with_notices(messages, notices)
    sent = [_is_from_model(message) for message in complete]
    return [(notice["text"], sum(sent[notice["at"] :])) for notice in notices if "change" in notice]


def _is_from_model(message: Message) -> bool:
    return message.get("role") in ("assistant", "model")


def with_notices(messages: Sequence[Message], notices: Iterable[Notice]) -> list[Message]:
    """Return the messages with every missing notice inserted at the position where it was first sent.

    If the list is too short, the notice is inserted before the last message. Notices keep their order, because a later one may revoke
    an earlier one.
    """
    complete = list(messages)
    start = 0
    for notice in notices:
        position = next((n for n in range(start, len(complete)) if _contains(complete[n], notice["text"])), None)
        if position is None:
            position = notice["at"] if notice["at"] <= len(complete) else max(len(complete) - 1, 0)
            position = _insertion_point(complete, max(position, start))
            complete.insert(position, {"role": "user", "content": notice["text"]})
        start = position + 1
    return complete


def _contains(message: Message, text: str) -> bool:
    """Whether a user message contains this text. A caller may have merged it with other text."""
    return message.get("role") == "user" and any(text in part for part in texts_of(message))


def texts_of(message: Message) -> list[str]:
    """Return a message's texts. Its content (`parts` for Gemini) is a string or a list of blocks."""
    content = message.get("content", message.get("parts"))
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list | tuple) else ()
    texts = [block.get("text") if isinstance(block, dict) else block for block in blocks]
    return [text for text in texts if isinstance(text, str)]


def texts_missing_from(messages: Sequence[Mapping[str, Any]], texts: Sequence[str]) -> list[str]:
    """Return those texts that no message contains, in its content or in the JSON of a tool's result."""
    strings = list(_strings(messages))
    return [
        text for text in texts if not any(form in string for form in (text, *_json_strings(text)) for string in strings)
    ]


def _strings(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif hasattr(content, "values"):
        for inner in content.values():
            yield from _strings(inner)
    elif isinstance(content, (list, tuple)):
        for inner in content:
            yield from _strings(inner)


def _json_strings(text: str) -> tuple[str, str]:
    from json import dumps

    return dumps(text)[1:-1], dumps(text, ensure_ascii=False)[1:-1]


def _insertion_point(messages: Sequence[Message], position: int) -> int:
    """Return the last position up to this one that is not between a tool call and its result, where providers reject other messages."""
    if position >= len(messages) or not _is_result(messages[position]):
        return position
    while position and _is_result(messages[position]):
        position -= 1
    while position and _is_call(messages[position]) and _is_call(messages[position - 1]):
        position -= 1
    return position


def _is_result(message: Message) -> bool:
    return message.get("role") in ("tool", "function") or _has_type(message, _RESULT_TYPES)


def _is_call(message: Message) -> bool:
    return message.get("type") in _CALL_TYPES


def _has_type(message: Message, types: Sequence[str]) -> bool:
    content = message.get("content")
    blocks = content if isinstance(content, list | tuple) else ()
    return any(isinstance(part, dict) and part.get("type") in types for part in (message, *blocks))
