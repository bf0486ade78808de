"""The connections of one process to PostgreSQL: at most `pool_size`, which calls share and wait for.

After a fork, the child starts with an empty pool. It must neither use nor close its parent's connections: closing one would tell
PostgreSQL that the parent has disconnected.
"""

from __future__ import annotations

import logging
from _thread import allocate_lock

from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from ..errors import StoreError
from .pool import fork_count
from .postgres_server import PostgresServer
from .psycopg_connection import TimedConnection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .postgres_server import PostgresOptions

_NAME = "foreword"
_WORKERS = 2


class PostgresPool:
    """A bounded pool. Its first connection is opened by the first call."""

    def __init__(self, options: PostgresOptions) -> None:
        self.options = options
        self._inherited: list[object] = []
        self._is_closed = False
        self._start()

    def take(self) -> TimedConnection:
        """Return a connection for this thread alone. Raises a StoreBusyError if none becomes free in time."""
        if self._is_closed:
            raise StoreError("the store is closed")
        if self._forks != fork_count():
            self._inherited.append((self.server, self._pool))
            self._start()
        self.server.check()
        pool = self._pool
        if pool is None:
            pool = self._open()
        try:
            return pool.getconn(self.options.pool_wait)
        except PoolClosed:
            raise StoreError("the store is closed") from None
        except PoolTimeout:
            pass
        self.check_again()
        size, wait = self.options.pool_size, self.options.pool_wait
        raise self.server.busy_error(
            f"all {size} connections of this process are in use, and none became free within {wait:g} seconds;"
            " set pool_size in the store's URL to allow more"
        )

    def give_back(self, connection: TimedConnection) -> None:
        """Return a connection to the pool, which replaces it if it is no longer usable."""
        if connection.is_abandoned or connection.pgconn.transaction_status != TransactionStatus.IDLE:
            connection.close()
        if self._forks == fork_count() and self._pool is not None:
            self._pool.putconn(connection)

    def check_again(self) -> None:
        """Raise a StoreError unless a new connection can be opened now."""
        self.suspect()
        self.server.check()

    def suspect(self) -> None:
        """Make the next call check first whether the server can be reached."""
        self.server.is_reachable = False

    def drop(self) -> None:
        """Replace idle connections, because the server has closed one."""
        self.suspect()
        if self._pool is not None:
            self._pool.drain()

    def counts(self) -> Mapping[str, int]:
        """Return the pool's statistics, such as `pool_size`, `pool_available` and `requests_waiting`, or nothing before the first call."""
        return self._pool.get_stats() if self._pool is not None and self._forks == fork_count() else {}

    def close(self) -> None:
        """Close all connections. Those in use are closed when they are returned."""
        self._is_closed = True
        if self._forks == fork_count():
            if self._pool is not None:
                self._pool.close()
            self.server.close()

    def __del__(self) -> None:
        self.close()

    def _start(self) -> None:
        self._forks, self._lock = fork_count(), allocate_lock()
        self.server = PostgresServer(self.options)
        self._pool: ConnectionPool[TimedConnection] | None = None

    def _open(self) -> ConnectionPool[TimedConnection]:
        """Return the pool, and create it if another thread has not done so in the meantime."""
        connect: Any = self.server  # only its method `connect` is used
        with self._lock:
            if self._pool is None:
                self._pool = ConnectionPool(
                    connection_class=connect,
                    min_size=0,
                    max_size=self.options.pool_size,
                    open=True,
                    name=_NAME,
                    timeout=self.options.pool_wait,
                    reconnect_timeout=0,
                    num_workers=_WORKERS,
                )
            return self._pool


def _is_other(record: logging.LogRecord) -> bool:
    """Whether a message is about another program's pool. What happens to this one is reported to its callers."""
    args = record.args if isinstance(record.args, tuple) else ()
    return not any(isinstance(arg, TimedConnection) or str(arg).startswith(_NAME) for arg in args)


logging.getLogger("psycopg.pool").addFilter(_is_other)
