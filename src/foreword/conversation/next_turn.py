"""Take the next turn of a conversation, with the events and messages that have waited for it, or ask for a summary."""

from __future__ import annotations

from _thread import allocate_lock

from ..errors import StoreError
from ..vocabulary import Edition
from .decide import Outcome
from .editions import has_store_failure, store_failure
from .hooks import last_user_text
from .leading import without_prompt_messages
from .notices import without_retired
from .state import state_of
from .turns import user_message, with_summary_request

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
    """The next turn, and what waits for it in this process. If it cannot be taken, everything waits again."""

    def __init__(self, transitions: Transitions, turns: Turns, assembling: ConversationAssembler) -> None:
        self._transitions, self._turns, self._assembling = transitions, turns, assembling
        self._lock = allocate_lock()
        self._events: list[str] = []
        self._messages: list[str] = []

    def add_event(self, event: str) -> None:
        self._put_back([event], [])

    def add_message(self, content: str) -> None:
        with self._lock:
            self._messages.append(content)

    def take(self, message: str, messages: Sequence[Message], now: datetime | None, new_prompt: bool) -> Turn:
        """Take the turn. See `Conversation.turn`."""
        with self._lock:
            events, self._events = self._events, []
        try:
            outcome = self._transitions.apply(["turn", *events], now, messages)
        except BaseException:
            self._put_back(events, [])
            raise
        if events and has_store_failure(outcome.findings):
            self._put_back(events, [])
        messages = _current_messages(messages, outcome)
        with self._lock:
            waiting, self._messages = self._messages, []
        try:
            outcome = self._turns.send_notices(outcome, messages, waiting, user_message(message))
        except BaseException:
            self._put_back([], waiting)
            raise
        prompt = message or (last_user_text(messages) if new_prompt else None)
        return self._turns.with_messages(outcome, message, messages, prompt)

    def _put_back(self, events: list[str], messages: list[str]) -> None:
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
        messages = _current_messages(messages, outcome)
        turn = self._turns.with_messages(outcome, message, messages, prompt=message or None)
        return with_summary_request(turn, self._assembling.layout, messages)


def _current_messages(messages: Sequence[Message], outcome: Outcome) -> Sequence[Message]:
    """Return the caller's messages, without those of earlier prompts and announcements."""
    return without_retired(without_prompt_messages(messages, outcome.edition), state_of(outcome.edition))
