"""Notices: messages that Foreword itself adds to a conversation, for example that a tool is inactive. Pure.

A caller may keep the messages of a turn (`turn.history`), or its own list, which lacks the notices. So that the model sees them
either way, each notice is stored with the position at which it was first sent, and inserted there again. This leaves the provider's
cached prefix unchanged.

A notice that announces a change also contains the names of the affected tools (`change`), so that providers that can change tools in
the middle of a conversation are sent the change itself.

Inside an edition, a notice is never dropped, moved, sent twice or given another role, so that each request begins with the whole previous
one. A new edition drops those that announced what its prompt now contains.

A message that the caller adds (`send_message`) is kept in the same way until the messages are summarised. Unlike the others, it may be as
short as "yes", so it is recognised only as a whole message or paragraph, and `copies` counts the equal ones that were there before it.

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
    state: State,
    texts: Iterable[str],
    skill: str = "",
    *,
    returned: bool = False,
    added: bool = False,
) -> State:
    """Return the state with notices for the next turn to send. `skill` is the name of the skill whose body they contain.

    With `returned`, the caller was given them and may have added them to its messages. With `added`, they are messages that the caller
    has added.
    """
    details: Notice = {
        **({"skill": skill} if skill else {}),
        **({"returned": True} if returned else {}),
        **({"added": True} if added else {}),
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


def mark_sent(state: State, messages: Sequence[Message], following: Sequence[Message] = ()) -> State:
    """Return the state after the unsent notices are sent between these messages, except those that the caller has added itself."""
    if not state.unsent:
        return state
    returned = [notice["text"] for notice in state.unsent if "returned" in notice]
    missing = set(texts_missing_from(messages, returned))
    complete = with_notices(messages, state.notices)
    sent: list[Notice] = []
    for notice in state.unsent:
        if "returned" in notice and notice["text"] not in missing:
            continue
        row: dict[str, Any] = {name: content for name, content in notice.items() if name != "returned"}
        row["at"] = len(complete)
        if "added" in notice:
            row["copies"] = sum(_says(message, notice["text"]) for message in (*complete, *following))
        complete.append({"role": "user", "content": notice["text"]})
        sent.append(row)
    return replace(state, unsent=(), notices=[*state.notices, *sent])


def lasting_notices(state: State) -> tuple[Notice, ...]:
    """Return the notices that outlive an edition: all but announced changes, which the next prompt contains itself."""
    return tuple(notice for notice in state.notices if "change" not in notice)


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
        position = _position_of(notice, complete, start)
        if position is None:
            position = notice["at"] if notice["at"] <= len(complete) else max(len(complete) - 1, 0)
            position = _insertion_point(complete, max(position, start))
            complete.insert(position, {"role": "user", "content": notice["text"]})
        start = position + 1
    return complete


def _position_of(notice: Notice, messages: Sequence[Message], start: int) -> int | None:
    """Return the position of the message that contains a notice, or None if the caller's list lacks it."""
    text = notice["text"]
    if "added" not in notice:
        return next((n for n in range(start, len(messages)) if _contains(messages[n], text)), None)
    # Where it was sent is followed by what was sent with it. What comes later is not the same message, even if it says the same.
    equal = [n for n, message in enumerate(messages[: notice["at"] + 2]) if _says(message, text)]
    if len(equal) <= notice["copies"]:
        return None
    return notice["at"] if notice["at"] in equal else equal[-1]


def _says(message: Message, text: str) -> bool:
    """Whether a user message is this text, or has it as one of its paragraphs. A framework may have merged messages."""
    return message.get("role") == "user" and any(
        part == text or f"\n\n{text}\n\n" in f"\n\n{part}\n\n" for part in texts_of(message)
    )


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
