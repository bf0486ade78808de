"""What waits for the next turn of a conversation, and the turn that asks for a summary."""

from __future__ import annotations

from _thread import allocate_lock

from ..errors import StoreError
from ..vocabulary import Edition
from .decide import Outcome
from .editions import store_failure
from .leading import without_prompt_messages
from .notices import without_retired
from .state import state_of
from .turns import with_summary_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from ..vocabulary import Turn
    from .assembling import ConversationAssembler
    from .transitions import Transitions
    from .turns import Turns

    Message = Mapping[str, Any]


class NextTurn:
    """The events and messages that wait in this process for the next turn. If it cannot be taken, they wait again."""

    def __init__(self, transitions: Transitions, turns: Turns, assembling: ConversationAssembler) -> None:
        self._transitions, self._turns, self._assembling = transitions, turns, assembling
        self._lock = allocate_lock()
        self._events: list[str] = []
        self._messages: list[str] = []

    def add_event(self, event: str) -> None:
        self.put_back([event])

    def add_message(self, content: str) -> None:
        with self._lock:
            self._messages.append(content)

    def take_events(self) -> list[str]:
        """Return the events that wait. They wait no longer, unless they are put back."""
        with self._lock:
            events, self._events = self._events, []
        return events

    def take_messages(self) -> list[str]:
        """Return the messages that wait. They wait no longer, unless they are put back."""
        with self._lock:
            messages, self._messages = self._messages, []
        return messages

    def put_back(self, events: Sequence[str] = (), messages: Sequence[str] = ()) -> None:
        """Let these wait again, before what was added in the meantime."""
        with self._lock:
            self._events, self._messages = [*events, *self._events], [*messages, *self._messages]

    def compact(self, message: str, messages: Sequence[Message], now: datetime | None) -> Turn:
        """Return a turn that requests a summary. See `Conversation.compact`."""
        try:
            outcome = self._transitions.compact(now)
        except StoreError as error:
            if self._assembling.layout.compaction.get("under") != "new":
                raise
            return self.compact_without_prompt(error, message, messages)
        return self._summary_turn(outcome, message, messages)

    def compact_without_prompt(self, error: StoreError, message: str, messages: Sequence[Message]) -> Turn:
        """Return only the request for a summary, because the store failed with this error."""
        outage = store_failure(error, "the request is sent without the system prompt")
        return self._summary_turn(Outcome(Edition(0, ""), (), [outage]), message, messages)

    def _summary_turn(self, outcome: Outcome, message: str, messages: Sequence[Message]) -> Turn:
        messages = current_messages(messages, outcome)
        turn = self._turns.with_messages(outcome, message, messages, prompt=message or None)
        return with_summary_request(turn, self._assembling.layout, messages)


def current_messages(messages: Sequence[Message], outcome: Outcome) -> Sequence[Message]:
    """Return the caller's messages, without those of earlier prompts and announcements."""
    return without_retired(without_prompt_messages(messages, outcome.edition), state_of(outcome.edition))
