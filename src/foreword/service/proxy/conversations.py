"""Keep track of the conversations that pass through the proxy: which one a request continues, and its token counts.

A program can name the conversation in the header `x-foreword-conversation`. Otherwise a request continues the conversation that has the
most messages in common with it at the same positions, provided that the prompt or the tools are also similar: a request for a title has
the same first message, but a different prompt.
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
_MAX_RESERVED_BYTES = 256 * 1024 * 1024


@value
class Observation:
    """A request's place in its conversation: the conversation's name, the number of the call, and what changed since the previous call."""

    conversation: str
    call: int
    difference: RequestChange | None


class _Conversation:
    def __init__(self, name: str) -> None:
        self.name = name
        self.last: Fingerprint | None = None
        self.calls = self.input = self.read = 0


class SeenConversations:
    """The most recent conversations, as fingerprints and token counts. Older ones are forgotten."""

    def __init__(self) -> None:
        self.key = os.urandom(16)
        self._lock = allocate_lock()
        self._conversations: dict[str, _Conversation] = {}
        self._count = 0
        self._reserved_bytes = 0

    def reserve(self, length: int) -> bool:
        """Reserve memory for a piece of a request. Returns False if the requests in flight would use too much memory."""
        with self._lock:
            if self._reserved_bytes + length > _MAX_RESERVED_BYTES:
                return False
            self._reserved_bytes += length
            return True

    def release(self, length: int) -> None:
        """Release reserved memory."""
        with self._lock:
            self._reserved_bytes -= length

    def observe(self, endpoint: str, request: Fingerprint, name: str = "") -> Observation:
        """Record a request to an endpoint. `name` is the conversation's name, if the program specified one."""
        with self._lock:
            key = f"{endpoint} {name}" if name else self._find(endpoint, request)
            conversation = self._conversations.pop(key, None) if key else None
            if conversation is None:
                self._count += 1
                key = key or f"{endpoint} #{self._count}"
                conversation = _Conversation(name or f"#{self._count}")
                while len(self._conversations) >= MAX_CONVERSATIONS:
                    self._conversations.pop(next(iter(self._conversations)))
            self._conversations[key] = conversation  # the most recent conversation is last
            before, conversation.last = conversation.last, request
            conversation.calls += 1
            change = difference(before, request) if before else None
            return Observation(conversation.name, conversation.calls, change)

    def _find(self, endpoint: str, request: Fingerprint) -> str:
        """Return the key of the conversation that a request continues, or an empty string if the request starts a new one."""
        best, best_score = "", (0, False, 0)
        for number, (key, conversation) in enumerate(self._conversations.items()):
            if key.startswith(f"{endpoint} #") and conversation.last is not None:
                score = (*_similarity(conversation.last, request), number)
                if score[0] and score > best_score:
                    best, best_score = key, score
        return best

    def add_usage(self, name: str, tokens: ReportedTokens) -> float | None:
        """Add a call's tokens to its conversation. Returns the share of the conversation's input that was read from the cache.

        Calls that do not say how much was cached are left out.
        """
        with self._lock:
            named = (conversation for conversation in self._conversations.values() if conversation.name == name)
            conversation = next(named, None)
            if conversation is None:
                return None
            if tokens.read is not None:
                conversation.input += tokens.input
                conversation.read += tokens.read
            return conversation.read / conversation.input if conversation.input else None


def _similarity(old: Fingerprint, new: Fingerprint) -> tuple[int, bool]:
    """Return how many messages two requests share (0 if the requests are unrelated), and whether prompt and tools are the same."""
    shared = sum(before == after for before, after in zip(old.messages, new.messages, strict=False))
    old_names, new_names = ({tool.name for tool in request.tools} for request in (old, new))
    has_same_start = old.system[:1] == new.system[:1]
    has_same_tools = bool(old_names) and 2 * len(old_names & new_names) >= len(old_names | new_names)
    is_same_history = shared >= 2 and 2 * shared >= len(old.messages)
    if not shared or not (has_same_start or has_same_tools or is_same_history):
        return 0, False
    return shared, old.system == new.system and old.tools == new.tools
