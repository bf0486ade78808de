"""Look up the addresses of a host within a time limit.

The system's own limit can be much longer than a caller's, and cannot be changed. So a lookup runs in a thread of its own, which all callers
share. Once one of them has waited in vain, the others do not wait for that lookup at all.
"""

from __future__ import annotations

import socket
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

# Callers use a result of this age without asking again.
_FRESH_SECONDS = 1.0
# If an earlier lookup found addresses, callers wait so long for a new one, and then use those.
_PATIENCE_SECONDS = 0.5


class _Lookup(Thread):
    """One lookup. Afterwards, it has either `addresses` or an `error`."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(name="foreword-lookup", daemon=True)
        self._host, self._port = host, port
        self._is_done = Event()
        self.addresses: list[Any] = []
        self.error: OSError | None = None
        self.end = 0.0
        self.is_slow = False

    def run(self) -> None:
        try:
            self.addresses = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        except OSError as error:
            self.error = error
        except UnicodeError:  # a name that cannot exist, such as one with an empty label
            self.error = socket.gaierror(socket.EAI_NONAME, "the name is not valid")
        self.end = monotonic()
        self._is_done.set()

    def is_done(self) -> bool:
        return self._is_done.is_set()

    def wait(self, seconds: float) -> None:
        if not self.is_slow and not self._is_done.wait(max(seconds, 0)):
            self.is_slow = True


class HostName:
    """A host and a port, and the addresses that were found for them last."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._lock = Lock()
        self._lookup: _Lookup | None = None
        self._addresses: list[Any] = []

    def addresses(self, deadline: float) -> list[Any]:
        """Return the results of `socket.getaddrinfo`. If the name servers do not answer, these are the last ones that were found.

        Raises a `socket.gaierror` if none are found before `deadline`, or if the name does not exist.
        """
        lookup, known = self._current()
        remaining = deadline - monotonic()
        lookup.wait(min(remaining, _PATIENCE_SECONDS) if known else remaining)
        if not lookup.is_done():
            if known:
                return known
            raise socket.gaierror(socket.EAI_AGAIN, "the name servers did not answer in time")
        if lookup.error is None:
            return lookup.addresses
        is_temporary = isinstance(lookup.error, socket.gaierror) and lookup.error.errno == socket.EAI_AGAIN
        if known and is_temporary:
            return known
        raise lookup.error

    def _current(self) -> tuple[_Lookup, list[Any]]:
        """Return the lookup that is in progress or has just ended, or start one; and the addresses that were found before."""
        with self._lock:
            lookup = self._lookup
            if lookup is None or (lookup.is_done() and monotonic() - lookup.end > _FRESH_SECONDS):
                if lookup is not None and lookup.addresses:
                    self._addresses = lookup.addresses  # even if it was too late for those who waited
                lookup = self._lookup = _Lookup(self._host, self._port)
                lookup.start()
            return lookup, self._addresses
