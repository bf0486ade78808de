"""A connection with a timeout. This is the only file that uses private parts of psycopg.

`Connection.wait` runs every statement: it drives a generator that yields what it is waiting for. It sends the generator the result
when that is ready, and 0 every 0.1 seconds until then. psycopg does not document this, so pyproject.toml limits its version.
"""

from __future__ import annotations

from time import monotonic

import psycopg

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any, TypeVar

    T = TypeVar("T")


class TimedConnection(psycopg.Connection["tuple[Any, ...]"]):
    """A connection that closes itself when the server does not answer for `timeout` seconds.

    libpq has no setting that detects a server that accepts a connection and then hangs.
    """

    timeout = 60.0
    has_timed_out = False

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **kwargs: Any) -> T:
        return super().wait(self._with_timeout(gen), *args, **kwargs)

    def _with_timeout(self, gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        deadline = monotonic() + self.timeout
        try:
            awaited = next(gen)
            while True:
                ready = yield awaited
                if not ready and monotonic() > deadline:
                    self.has_timed_out = True
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"the server has not answered for {self.timeout:.0f} seconds")
                awaited = gen.send(ready)
        except StopIteration as end:
            result: T = end.value
            return result
