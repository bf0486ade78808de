"""Connect to a PostgreSQL server, directly or through PgBouncer, and check whether it can be reached.

The store is unavailable only if a new connection cannot run a statement. While it is, one call tries to connect, and all others fail
immediately. So a server that hangs blocks one of a service's threads instead of all of them.
"""

from __future__ import annotations

from _queue import Empty, SimpleQueue
from _thread import allocate_lock, start_new_thread
from time import monotonic
from urllib.parse import parse_qsl, urlencode

import psycopg
from psycopg.conninfo import conninfo_to_dict

from ..errors import CallError, StoreBusyError, StoreError
from ..vocabulary import value
from .postgres_schema import migrate, version_of
from .psycopg_connection import TimedConnection
from .versions import must_migrate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# A turn must not hang if the server does not answer: conversations that this process has seen continue without it.
_DEFAULTS = {"connect_timeout": "3", "tcp_user_timeout": "10000", "application_name": "foreword"}
# Behind PgBouncer, the process id that the client receives is not that of the server's process.
SERVER_PROCESS = "SELECT pg_backend_pid()"
_MAX_PAUSE = 2.0
# Large stores take minutes to migrate.
MIGRATION_TIMEOUT = 3600.0
_MAX_REASON = 300
_BUSY = (psycopg.errors.QueryCanceled, psycopg.errors.LockNotAvailable)


@value
class PostgresOptions:
    """Where a store is, and its limits, which are the URL's own parameters.

    Fields:
        settings: The connection settings for libpq.
        pool_size: How many connections a process may open.
        pool_wait: How many seconds a call waits for a free connection.
        call_timeout: How many seconds a call may take.
    """

    settings: Mapping[str, Any]
    pool_size: int = 8
    pool_wait: float = 5.0
    call_timeout: float = 5.0

    @property
    def name(self) -> str:
        """The store's URL for error messages, without the user and the password."""
        host, name = (self.settings.get(key) or "" for key in ("host", "dbname"))
        return f"'postgresql://{host}/{name}'"


_LIMITS = {"pool_size": (int, 1, 1000), "pool_wait": (float, 0.1, 600), "call_timeout": (float, 0.5, 600)}


def parse_url(url: str) -> PostgresOptions:
    """Return the settings in a URL. An invalid URL is not shown, because it may contain a password."""
    address, _, query = url.partition("?")
    limits: dict[str, Any] = {}
    others = []
    for name, text in parse_qsl(query, keep_blank_values=True):
        if name in _LIMITS:
            limits[name] = _parse_limit(name, text)
        else:
            others.append((name, text))
    if limits:
        url = f"{address}?{urlencode(others)}"
    try:
        parsed = conninfo_to_dict(url)
    except psycopg.Error:
        parsed = {"host": "@"}
    host, port, name = (str(parsed.get(key, "")) for key in ("host", "port", "dbname"))
    if "@" in host + port + name or (port and not port.replace(",", "").isdigit()):
        raise CallError(
            "the store's URL is not valid; use postgresql://user:password@host:5432/name,"
            " with %40 for @, %2F for / and %3A for : in the password"
        ) from None
    return PostgresOptions({**_DEFAULTS, **parsed}, **limits)


def _parse_limit(name: str, text: str) -> float:
    type_, least, most = _LIMITS[name]
    try:
        number: float = type_(text)
    except ValueError:
        number = -1
    if not least <= number <= most:
        raise CallError(f"{name} in the store's URL must be a number from {least} to {most}, not {text[:40]!r}")
    return number


class PostgresServer:
    """Opens connections, for a pool."""

    def __init__(self, options: PostgresOptions) -> None:
        self.options = options
        self.is_reachable = False
        self._checked: SimpleQueue[TimedConnection] = SimpleQueue()
        self._lock = allocate_lock()
        self._failure: StoreError | None = None
        self._next_attempt = 0.0

    def connect(self, *_: object, **__: object) -> TimedConnection:
        """Return a new connection for the pool. It fails without trying while the server cannot be reached."""
        try:
            return self._checked.get_nowait()
        except Empty:
            pass
        if not self.is_reachable:
            raise psycopg.OperationalError("the server cannot be reached")
        try:
            return self._open()
        except BaseException:
            self.is_reachable = False
            raise

    def check(self) -> None:
        """Raise a StoreError unless the server can be reached. The pool gets the connection that was opened for the check."""
        if self.is_reachable:
            return
        self._fail_during_pause()
        if not self._lock.acquire(blocking=self._failure is None):
            raise StoreError(str(self._failure))  # another call is trying
        try:
            if not self.is_reachable:
                self._fail_during_pause()
                self._try()
        finally:
            self._lock.release()

    def probe(self) -> None:
        """Start checking in a thread whether the server can be reached, because it has not answered a call for some time.

        If it cannot, the call and all others fail when that is known, instead of finding it out one after the other.
        """
        start_new_thread(self._probe, ())

    def close(self) -> None:
        """Close the connections that no pool has taken."""
        try:
            while True:
                self._checked.get_nowait().close()
        except Empty:
            pass

    def failure(self, error: psycopg.Error) -> StoreError:
        """Return a StoreError that describes the error in one sentence, without the password."""
        if isinstance(error, _BUSY):
            return self.busy_error(" ".join(str(error).split()))
        reason = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, psycopg.errors.DiskFull):
            reason = "the server's disk is full; nothing was written, and stored data is intact"
        if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
            reason = "it is read-only"
        if password := self.options.settings.get("password"):
            reason = reason.replace(str(password), "…")
        return StoreError(f"the store {self.options.name} cannot be used: {reason[:_MAX_REASON]}")

    def busy_error(self, reason: str) -> StoreBusyError:
        """Return the error for a call that failed although the server can be reached."""
        return StoreBusyError(f"the store {self.options.name} did not complete the call: {reason[:_MAX_REASON]}")

    def _fail_during_pause(self) -> None:
        if self._failure is not None and monotonic() < self._next_attempt:
            raise StoreError(str(self._failure))

    def _try(self) -> None:
        """Try to connect. If that fails, other calls fail without trying for as long as it took, up to a limit."""
        start = monotonic()
        try:
            connection = self._open()
        except StoreError as error:
            self._failure, self.is_reachable = error, False
            self._next_attempt = monotonic() + min(monotonic() - start, _MAX_PAUSE)
            raise
        if self._checked.empty():
            self._checked.put(connection)
        else:
            connection.close()
        self._failure, self.is_reachable = None, True

    def _probe(self) -> None:
        if self._lock.acquire(blocking=False):
            try:
                self._try()
            except StoreError:
                pass  # reported to the calls
            finally:
                self._lock.release()

    def _open(self) -> TimedConnection:
        """Open a connection and migrate the tables to the current version."""
        try:
            connection = TimedConnection.connect(**self.options.settings, autocommit=True)
        except psycopg.Error as error:
            raise self.failure(error) from None
        connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        connection.timeout = self.options.call_timeout
        try:
            process = connection.execute(SERVER_PROCESS).fetchone()
            if process == (connection.info.backend_pid,):
                connection.set_limits(self.options.call_timeout)
            else:
                connection.is_shared, connection.prepare_threshold = True, None
            if must_migrate(version_of(connection)):
                connection.timeout = MIGRATION_TIMEOUT
                migrate(connection)
                connection.timeout = self.options.call_timeout
            connection.on_slow = self.probe
        except BaseException as error:
            connection.close()
            if isinstance(error, psycopg.Error):
                raise self.failure(error) from error
            raise
        return connection
