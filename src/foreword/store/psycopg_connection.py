"""A connection whose calls end in time. This is the only file that uses private parts of psycopg.

`Connection.wait` runs every statement: it drives a generator that yields what it is waiting for. It sends the generator the result
when that is ready, and 0 every 0.1 seconds until then. psycopg does not document this, so pyproject.toml limits its version.
"""

from __future__ import annotations

from time import monotonic

import psycopg

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any, TypeVar

    T = TypeVar("T")

# The server ends a statement before this process gives up, so that it can say why.
_SERVER_SHARE = 0.8
_LOCK_SHARE = 0.4
# How long to wait until the server has heard that it can stop.
_CANCEL_SECONDS = 2.0
# When this share of the time has passed, `on_slow` is called once.
SLOW_SHARE = 0.4


def set_team(team: str, scope: str = "SESSION") -> str:
    """Return the statement that makes the server show only this team's rows, or every team's for `*`."""
    text = team.replace("'", "''")
    return f"SET {scope} foreword.team = '{text}'"


class TimedConnection(psycopg.Connection["tuple[Any, ...]"]):
    """A connection that closes itself when the server does not answer for `timeout` seconds.

    libpq has no setting that detects a server that accepts a connection and then hangs. `is_shared` means that a proxy such as
    PgBouncer lends each transaction another of its connections, so that settings must not outlive a transaction. `on_slow` is called
    when a statement takes a long time, to check whether the server still answers. If another thread sets `is_abandoned`, because nobody
    waits for the result any more, the server is told to stop, and the connection is closed: it could stop the next statement instead.

    `team` is the team whose rows the connection can see and change, whatever a statement says: the tables have row-level security,
    which applies to every role except superusers and those with BYPASSRLS.
    """

    timeout = 60.0
    has_timed_out = False
    is_abandoned = False
    is_shared = False
    team: str | None = None
    on_slow: Callable[[], None] | None = None

    def set_limits(self, timeout: float, scope: str = "SESSION") -> None:
        """Make the server cancel statements, and waits for a lock, that would take longer than the timeout."""
        self.execute("; ".join(self._limits(timeout, scope)).encode())

    def use_team(self, team: str) -> None:
        """Make the server show only this team's rows from now on, or every team's for `*`. If shared, in each transaction."""
        if team != self.team:
            if not self.is_shared:
                self.execute(set_team(team).encode())
            self.team = team

    def _limits(self, timeout: float, scope: str) -> list[str]:
        self.timeout = timeout
        statement, lock = (int(timeout * 1000 * share) for share in (_SERVER_SHARE, _LOCK_SHARE))
        return [f"SET {scope} statement_timeout = {statement}", f"SET {scope} lock_timeout = {lock}"]

    def in_transaction(self, work: Callable[[TimedConnection], T], timeout: float, begin: str = "") -> T | None:
        """Run work in a transaction with its own limits. Returns None if it raised `psycopg.Rollback`."""
        default_timeout, result = self.timeout, None
        try:
            with self.transaction():
                if begin:
                    self.execute(begin.encode())
                settings = self._limits(timeout, "LOCAL") if self.is_shared or timeout != default_timeout else []
                if self.is_shared and self.team is not None:
                    settings.append(set_team(self.team, "LOCAL"))
                if settings:
                    self.execute("; ".join(settings).encode())
                result = work(self)
        finally:
            self.timeout = default_timeout
        return result

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **kwargs: Any) -> T:
        return super().wait(self._with_timeout(gen), *args, **kwargs)

    def _with_timeout(self, gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        start = monotonic()
        deadline, on_slow = start + self.timeout, self.on_slow
        try:
            awaited = next(gen)
            while True:
                ready = yield awaited
                if not ready and on_slow is not None and monotonic() > start + self.timeout * SLOW_SHARE:
                    on_slow()
                    on_slow = None
                if not ready and self.is_abandoned:
                    self._stop_statement()
                if not ready and monotonic() > deadline:
                    self.has_timed_out = True
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"the server has not answered for {self.timeout:.0f} seconds")
                awaited = gen.send(ready)
        except StopIteration as end:
            result: T = end.value
            return result

    def _stop_statement(self) -> None:
        """Tell the server to stop the statement, and close the connection."""
        try:
            self.cancel_safe(timeout=_CANCEL_SECONDS)
        finally:
            self.pgconn.finish()
        raise psycopg.OperationalError("nobody waits for the result any more")
