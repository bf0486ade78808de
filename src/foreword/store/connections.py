"""Connections that nobody uses at the moment. A thread takes one, uses it alone, and gives it back: no call waits for another.

After a fork the child starts with none. A connection of its parent must be neither used nor closed there: closing would tell
PostgreSQL that the parent is gone, and make SQLite let go of the parent's locks.
"""

from __future__ import annotations

from _queue import Empty, SimpleQueue
from os import getpid

from ..errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Connections:
    """Idle connections, and the way to a new one. With `only`, that one is all there is, and calls wait for it."""

    def __init__(self, connect: Callable[[], Any], only: Any = None) -> None:
        self._connect, self._only = connect, only
        self._idle: SimpleQueue[Any] = SimpleQueue()
        self._process = getpid()
        self._of_parents: list[SimpleQueue[Any]] = []
        self.is_closed = False
        if only is not None:
            self._idle.put(only)

    def take(self) -> tuple[Any, bool]:
        """A connection, and whether it was used before."""
        if self.is_closed:
            raise StoreError("the store is closed")
        if self._process != getpid() and self._only is None:
            self._of_parents.append(self._idle)
            self._idle, self._process = SimpleQueue(), getpid()
        try:
            return self._idle.get(self._only is not None), True
        except Empty:
            return self._connect(), False

    def give(self, connection: Any) -> None:
        """Give one back."""
        if self.is_closed:
            connection.close()
        if not self.is_closed or self._only is not None:
            self._idle.put(connection)

    def drop(self) -> None:
        """Close all that are idle."""
        try:
            while self._process == getpid():
                self._idle.get_nowait().close()
        except Empty:
            pass

    def close(self) -> None:
        """Close all; one that is in use is closed when it is given back."""
        self.is_closed = True
        self.drop()

    def __del__(self) -> None:
        self.close()
