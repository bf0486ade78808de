"""Let callers take turns in the event loop, so that one who sends many requests at once does not delay the others' requests."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from time import perf_counter

# How many requests of each caller begin in one interval, while there are several callers, and how long the interval is, in seconds. Between
# them, the event loop leaves the interpreter to the threads that work for the others.
_QUOTA = 1
_INTERVAL = 0.002
# How long a caller counts as present, in seconds.
_PRESENCE = 1.0


class FairStart:
    """Decides when a request begins. As long as there is only one caller, all of its requests begin at once."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._last_caller, self._several_until = "", 0.0
        self._begun: dict[str, int] = {}
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        # The event loop in which the next requests will begin, or None. Tests use several, one after the other.
        self._scheduled_in: asyncio.AbstractEventLoop | None = None

    def has_several(self) -> bool:
        """Whether several callers have been present lately."""
        return self._clock() < self._several_until

    def note(self, caller: str) -> None:
        """Note that a caller is present: it has sent a request, or a part of a large one."""
        if caller != self._last_caller:
            if self._last_caller:
                self._several_until = self._clock() + _PRESENCE
            self._last_caller = caller

    def must_wait(self, caller: str) -> bool:
        """Count a request, and return whether it must `wait`."""
        self.note(caller)
        if not self.has_several():
            return caller in self._waiting
        begun = self._begun.get(caller, 0)
        if begun >= _QUOTA or caller in self._waiting:
            return True
        self._begun[caller] = begun + 1
        self._schedule()
        return False

    async def wait(self, caller: str) -> None:
        """Wait until it is this caller's turn."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(caller, deque()).append(future)
        self._schedule()
        await future

    def _schedule(self) -> None:
        loop = asyncio.get_running_loop()
        if self._scheduled_in is not loop:
            self._scheduled_in = loop
            loop.call_later(_INTERVAL, self._begin_next)

    def _begin_next(self) -> None:
        """Begin the next requests of each caller who has some waiting."""
        self._scheduled_in = None
        self._begun.clear()
        for caller in list(self._waiting):
            futures = self._waiting[caller]
            for _ in range(min(_QUOTA, len(futures))):
                future = futures.popleft()
                if not future.done():
                    future.set_result(None)
            self._begun[caller] = _QUOTA
            if not futures:
                del self._waiting[caller]
        if self._waiting:
            self._schedule()
