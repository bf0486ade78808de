"""The editions that a process has seen last, as many as a bound on their texts allows."""

from __future__ import annotations

from _thread import allocate_lock

from .rows import texts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..vocabulary import Edition

_MOST_EDITIONS = 10_000
_UNSEEN = (None, None)


class Seen:
    """Editions by conversation, each with the row it came from; the oldest is forgotten first.

    A text that many of them share counts once. To look one up, the usual case, needs no lock.
    """

    def __init__(self, most_characters: int) -> None:
        self._most = most_characters
        self._lock = allocate_lock()
        self._editions: dict[str, tuple[object, Edition]] = {}
        self._uses: dict[str, int] = {}
        self._size = 0

    def get(self, conversation: str) -> tuple[object, Edition] | tuple[None, None]:
        return self._editions.get(conversation, _UNSEEN)

    def keep(self, conversation: str, edition: Edition, row: object = None) -> None:
        with self._lock:
            self._forget(conversation)
            self._editions[conversation] = row, edition
            for text in texts_of(edition):
                uses = self._uses.get(text, 0)
                self._uses[text] = uses + 1
                self._size += 0 if uses else len(text)
            while len(self._editions) > 1 and (self._size > self._most or len(self._editions) > _MOST_EDITIONS):
                self._forget(next(iter(self._editions)))

    def forget(self, conversation: str) -> None:
        with self._lock:
            self._forget(conversation)

    def _forget(self, conversation: str) -> None:
        _, edition = self._editions.pop(conversation, _UNSEEN)
        for text in texts_of(edition) if edition else ():
            self._uses[text] -= 1
            if not self._uses[text]:
                del self._uses[text]
                self._size -= len(text)
