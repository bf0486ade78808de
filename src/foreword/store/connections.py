"""Connections that nobody uses at the moment. A thread takes one, uses it alone, and gives it back: no call waits for another.

After a fork the child starts with none. A connection of its parent must be neither used nor closed there: closing would tell
PostgreSQL that the parent is gone, and make SQLite let go of the parent's locks.

A store that keeps its callers waiting and then fails is left alone for a while: one call looks whether it is back, all others
fail at once. So a server that hangs costs a service one thread, and not all of them. Whoever fails at once may be asked at once.
"""

from __future__ import annotations

import os
from _queue import Empty, SimpleQueue
from _thread import allocate_lock
from time import monotonic

from ..errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


# Counted up in every child, so that no call need ask the system which process it runs in.
_process = 0


def _forked() -> None:
    global _process
    _process += 1


def process_number() -> int:
    """A number that is another one in every child of this process."""
    return _process


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)

_LONGEST_PAUSE = 2.0
_LONGEST_LOOK = 60.0


def _nothing(connection: Any) -> None:
    pass


class Connections:
    """Idle connections, and the way to a new one. With `only`, that one is all there is, and calls wait for it."""

    def __init__(self, connect: Callable[[], Any], only: Any = None) -> None:
        self._connect, self._only = connect, only
        self._idle: SimpleQueue[Any] = SimpleQueue()
        self._process = _process
        self._of_parents: list[SimpleQueue[Any]] = []
        self.is_closed = self._is_retired = False
        self._lock = allocate_lock()
        self._away: StoreError | None = None
        self._looked_for_at = 0.0
        if only is not None:
            self._idle.put(only)

    def take(self) -> tuple[Any, bool]:
        """A connection, and whether it was used before."""
        if self.is_closed:
            raise StoreError("the store is closed")
        if self._process != _process and self._only is None:
            self._of_parents.append(self._idle)
            self._idle, self._process = SimpleQueue(), _process
        try:
            return self._idle.get(self._only is not None), True
        except Empty:
            return self._connected(), False

    def _connected(self) -> Any:
        with self._lock:
            if self._away is not None:
                if monotonic() < self._looked_for_at:
                    raise StoreError(str(self._away))
                self._looked_for_at = monotonic() + _LONGEST_LOOK
        began = monotonic()
        try:
            connection = self._connect()
        except BaseException as error:
            self.failed(error, monotonic() - began)
            raise
        self._away = None
        return connection

    def failed(self, error: BaseException, seconds: float) -> None:
        """The store did not answer for so long. It is left alone for as long, but not for ever."""
        away = error if isinstance(error, StoreError) else StoreError("the store cannot be reached")
        self._away, self._looked_for_at = away, monotonic() + min(seconds, _LONGEST_PAUSE)

    def give(self, connection: Any) -> None:
        """Give one back."""
        if self.is_closed or self._is_retired:
            connection.close()
        if not (self.is_closed or self._is_retired) or self._only is not None:
            self._idle.put(connection)

    def drop(self, last: Callable[[Any], None] = _nothing) -> None:
        """Close all that are idle, and before that do one last thing with each."""
        try:
            while self._process == _process:
                connection = self._idle.get_nowait()
                last(connection)
                connection.close()
        except Empty:
            pass

    def retire(self, last: Callable[[Any], None] = _nothing) -> None:
        """Others will take the place of these: close what is idle now, and what is in use when it is given back."""
        self._is_retired = True
        self.drop(last)

    def close(self) -> None:
        """Close all; one that is in use is closed when it is given back."""
        self.is_closed = True
        self.drop()

    def __del__(self) -> None:
        self.close()
