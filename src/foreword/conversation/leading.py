"""Leading messages: the messages of a prompt, which every turn puts in front of the history. Pure.

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
# A provider's form of a message may have a different role from the layout's.
_ROLES = ("system", "developer", "user")


def is_same_prompt(one: Edition, other: Edition) -> bool:
    """Whether two editions send the same text in the same messages."""
    if one.system != other.system:
        return False
    return one.account == other.account or leading_messages(one) == leading_messages(other)


def hashes_of(messages: Sequence[Message]) -> list[str]:
    """A hash of each message's text."""
    return [digest("".join(texts_of(message))) for message in messages]


def earlier_hashes(current: Edition) -> tuple[str, ...]:
    """The hashes of the messages of this edition's prompt and of earlier ones, for the state of the next edition."""
    known = dict.fromkeys((*state_of(current).earlier, *hashes_of(leading_messages(current))))
    return tuple(known)[-_MAX_EARLIER:]


def own_messages(messages: Sequence[Message], edition: Edition) -> Sequence[Message]:
    """The messages without the leading messages of this edition's prompt or of an earlier one."""
    if not messages:
        return messages
    return without_leading(messages, {*state_of(edition).earlier, *hashes_of(leading_messages(edition))})


def without_leading(messages: Sequence[Message], hashes: Collection[str]) -> Sequence[Message]:
    """The messages, starting with the first whose text has none of these hashes."""
    start = 0
    while hashes and start < len(messages) and _is_known(messages[start], hashes):
        start += 1
    return messages[start:]


def _is_known(message: Message, hashes: Collection[str]) -> bool:
    return message.get("role") in _ROLES and hashes_of([message])[0] in hashes
