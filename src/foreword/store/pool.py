"""Connections to SQLite. A thread takes a connection, uses it alone and returns it, so that no call waits for another.

After a fork, the child starts with an empty pool. It must neither use nor close its parent's connections: closing one would make SQLite
release the parent's locks.
"""

from __future__ import annotations

import os
from _queue import Empty, SimpleQueue

from ..errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


# Counting forks is cheaper than getting the process id on every call.
_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


def fork_count() -> int:
    """Return the number of forks from the first process to this one. It differs between a process and its children."""
    return _forks


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


def _do_nothing(connection: Any) -> None:
    pass


class ConnectionPool:
    """Idle connections, and a function that opens more. With `single`, there is only that connection, and calls wait for it."""

    def __init__(self, connect: Callable[[], Any], single: Any = None) -> None:
        self._connect, self._single = connect, single
        self._idle: SimpleQueue[Any] = SimpleQueue()
        self._forks = _forks
        self._inherited: list[SimpleQueue[Any]] = []
        self.is_closed = self._is_retired = False
        if single is not None:
            self._idle.put(single)

    def take(self) -> tuple[Any, bool]:
        """Take a connection. Returns it, and whether it was used before."""
        if self.is_closed:
            raise StoreError("the store is closed")
        if self._forks != _forks and self._single is None:
            self._inherited.append(self._idle)
            self._idle, self._forks = SimpleQueue(), _forks
        try:
            return self._idle.get(self._single is not None), True
        except Empty:
            return self._connect(), False

    def give_back(self, connection: Any) -> None:
        """Return a connection to the pool."""
        if self.is_closed or self._is_retired:
            connection.close()
        if not (self.is_closed or self._is_retired) or self._single is not None:
            self._idle.put(connection)

    def drop(self, before_close: Callable[[Any], None] = _do_nothing) -> None:
        """Close all idle connections, calling `before_close` with each."""
        try:
            while self._forks == _forks:
                connection = self._idle.get_nowait()
                before_close(connection)
                connection.close()
        except Empty:
            pass

    def retire(self, before_close: Callable[[Any], None] = _do_nothing) -> None:
        """Close idle connections now, and those in use when they are returned, because another pool replaces this one."""
        self._is_retired = True
        self.drop(before_close)

    def close(self) -> None:
        """Close all connections. Those in use are closed when they are returned."""
        self.is_closed = True
        self.drop()

    def __del__(self) -> None:
        self.close()
