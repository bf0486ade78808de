"""Handle leading messages: those that belong to the prompt, and that every turn puts before the history. Pure.

A caller may pass back `turn.messages` instead of `turn.history`. So that nothing is sent twice, the messages of the current prompt
and of earlier ones are recognised by their text and removed.
"""

from __future__ import annotations

from ..vocabulary import digest
from .accounts import leading_messages
from .notices import texts_of
from .state import state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from ..vocabulary import Edition

    Message = Mapping[str, Any]

_MAX_EARLIER = 64
# In a provider's form, a message may have a different role than in the layout.
_ROLES = ("system", "developer", "user")


def is_same_prompt(one: Edition, other: Edition) -> bool:
    """Whether two editions send the same text in the same messages."""
    if one.system != other.system:
        return False
    return one.account == other.account or leading_messages(one) == leading_messages(other)


def hashes_of(messages: Sequence[Message]) -> list[str]:
    """Return a hash of each message's text."""
    return [digest("".join(texts_of(message))) for message in messages]


def earlier_hashes(current: Edition) -> tuple[str, ...]:
    """Return the hashes of the messages in this edition's prompt and in earlier ones, for the next edition's state."""
    known = dict.fromkeys((*state_of(current).earlier, *hashes_of(leading_messages(current))))
    return tuple(known)[-_MAX_EARLIER:]


def without_prompt_messages(messages: Sequence[Message], edition: Edition) -> Sequence[Message]:
    """Return the messages without leading ones that belong to this edition's prompt or an earlier one."""
    if not messages:
        return messages
    return without_leading(messages, {*state_of(edition).earlier, *hashes_of(leading_messages(edition))})


def without_leading(messages: Sequence[Message], hashes: Collection[str]) -> Sequence[Message]:
    """Return the messages without leading ones whose text has one of these hashes."""
    start = 0
    while hashes and start < len(messages) and _is_prompt_message(messages[start], hashes):
        start += 1
    return messages[start:]


def _is_prompt_message(message: Message, hashes: Collection[str]) -> bool:
    return message.get("role") in _ROLES and hashes_of([message])[0] in hashes
