"""The conversations that pass through the proxy: which of them a request continues, and their counters.

A program does not say which conversation a request belongs to, unless it sends the header `x-foreword-conversation`. Otherwise it is the
one that has the most messages in common with the request at the same positions, if the prompt or the tools are related too: a request
for a title has the same first message, but another prompt.
"""

from __future__ import annotations

import os
from _thread import allocate_lock

from ...vocabulary import value
from .fingerprint import difference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...providers.usage import ReportedTokens
    from .fingerprint import Fingerprint, RequestChange

MAX_CONVERSATIONS = 200
_MAX_COLLECTED = 256 * 1024 * 1024


@value
class Observation:
    """A request in its conversation: the conversation's name, the number of the call, and what changed since the call before."""

    conversation: str
    call: int
    difference: RequestChange | None


class _Conversation:
    def __init__(self, name: str) -> None:
        self.name = name
        self.last: Fingerprint | None = None
        self.calls = self.input = self.read = 0


class SeenConversations:
    """The last conversations, as fingerprints and counters. The oldest are forgotten."""

    def __init__(self) -> None:
        self.key = os.urandom(16)
        self._lock = allocate_lock()
        self._conversations: dict[str, _Conversation] = {}
        self._count = 0
        self._collected = 0

    def reserve(self, length: int) -> bool:
        """Reserve memory for a piece of a request. Returns False if all requests in flight together are too long to be compared."""
        with self._lock:
            if self._collected + length > _MAX_COLLECTED:
                return False
            self._collected += length
            return True

    def release(self, length: int) -> None:
        """Release reserved memory."""
        with self._lock:
            self._collected -= length

    def observe(self, endpoint: str, request: Fingerprint, name: str = "") -> Observation:
        """Record a request to an endpoint. `name` is the conversation's, if the program says so."""
        with self._lock:
            key = f"{endpoint} {name}" if name else self._find(endpoint, request)
            conversation = self._conversations.pop(key, None) if key else None
            if conversation is None:
                self._count += 1
                key = key or f"{endpoint} #{self._count}"
                conversation = _Conversation(name or f"#{self._count}")
                while len(self._conversations) >= MAX_CONVERSATIONS:
                    self._conversations.pop(next(iter(self._conversations)))
            self._conversations[key] = conversation  # the most recent is last
            before, conversation.last = conversation.last, request
            conversation.calls += 1
            changed = difference(before, request) if before else None
            return Observation(conversation.name, conversation.calls, changed)

    def _find(self, endpoint: str, request: Fingerprint) -> str:
        """Return the key of the conversation that a request continues; empty if it is a new one."""
        best, best_score = "", (0, False, 0)
        for number, (key, conversation) in enumerate(self._conversations.items()):
            if key.startswith(f"{endpoint} #") and conversation.last is not None:
                score = (*_relation(conversation.last, request), number)
                if score[0] and score > best_score:
                    best, best_score = key, score
        return best

    def add_usage(self, name: str, tokens: ReportedTokens) -> float | None:
        """Add a call's tokens to its conversation. Returns the share of all its input that was read from the cache."""
        with self._lock:
            found = next((each for each in self._conversations.values() if each.name == name), None)
            if found is None:
                return None
            found.input += tokens.input
            found.read += tokens.read
            return found.read / found.input if found.input else None


def _relation(old: Fingerprint, new: Fingerprint) -> tuple[int, bool]:
    """Return how many messages two requests have in common, 0 if they are not related, and whether they have the same prompt."""
    shared = sum(before == after for before, after in zip(old.messages, new.messages, strict=False))
    old_names, new_names = ({tool.name for tool in each.tools} for each in (old, new))
    has_same_start = old.system[:1] == new.system[:1]
    has_same_tools = bool(old_names) and 2 * len(old_names & new_names) >= len(old_names | new_names)
    is_same_history = shared >= 2 and 2 * shared >= len(old.messages)
    if not shared or not (has_same_start or has_same_tools or is_same_history):
        return 0, False
    return shared, old.system == new.system and old.tools == new.tools
