"""The threads that do the work, in lanes, so that nothing quick waits behind something slow.

| lane | what runs there | threads |
|---|---|---|
| reading | reads, and turns of known conversations | 32 |
| building | whatever gathers, builds or writes the store | 8 |
| templates | previews, checks, and whatever renders an untrusted template | `--template-workers`, with a bounded queue |

A job begins in the lane of its route. When it comes to work of a later lane (`waits.py` announces it), it stops there and runs again
in that lane. Nothing has been kept at that point: writing comes last.
"""

from __future__ import annotations

from _thread import allocate_lock
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ..store import waits
from .answers import Answer, Problem

READING, BUILDING, TEMPLATES = range(3)
_LANE_OF = {"build": BUILDING, "write": BUILDING, "template": TEMPLATES}
_READERS = 32
_BUILDERS = 8


class Elsewhere(BaseException):
    """This job belongs into a later lane."""

    def __init__(self, lane: int) -> None:
        super().__init__(lane)
        self.lane = lane


class Cancelled(BaseException):
    """Nobody waits for this job any more."""


class Job:
    """What is done for one request, in one lane after another."""

    def __init__(self, function: Callable[[], Answer]) -> None:
        self._function: Callable[[], Answer] | None = function
        self._lane = READING
        self._lock = allocate_lock()
        self._stop: Callable[[], None] | None = None
        self.is_cancelled = False

    def run(self, lane: int) -> Answer | int:
        """The answer, or the lane in which to run instead."""
        function, self._lane = self._function, lane
        if function is None:
            raise Cancelled
        waits.listen(self)
        try:
            return function()
        except Elsewhere as elsewhere:
            return elsewhere.lane
        finally:
            waits.listen(None)

    def cancel(self) -> None:
        """End the work at once if it can be ended, else where it next announces something slow."""
        with self._lock:
            self.is_cancelled, self._function = True, None
            if self._stop is not None:
                self._stop()

    def before(self, kind: waits.Kind) -> None:
        if self.is_cancelled:
            raise Cancelled
        if _LANE_OF[kind] > self._lane:
            raise Elsewhere(_LANE_OF[kind])

    def stoppable(self, stop: Callable[[], None] | None) -> None:
        with self._lock:
            if self.is_cancelled and stop is not None:
                raise Cancelled
            self._stop = stop


class Lanes:
    """The threads of one process."""

    def __init__(self, template_workers: int, template_queue: int) -> None:
        self._pools = [
            ThreadPoolExecutor(_READERS, "foreword-reading"),
            ThreadPoolExecutor(_BUILDERS, "foreword-building"),
            ThreadPoolExecutor(template_workers, "foreword-template"),
        ]
        self._workers, self._queue = template_workers, template_queue
        self._lock = allocate_lock()
        self._templates = 0

    def submit(self, job: Job, lane: int) -> Future[Any]:
        """Run a job in a lane. A Problem if that is the one of templates and its queue is full."""
        if lane != TEMPLATES:
            return self._pools[lane].submit(job.run, lane)
        with self._lock:
            if self._templates >= self._workers + self._queue:
                raise Problem("busy", f"{self._queue} templates are waiting to be rendered already; try again later")
            self._templates += 1
        future = self._pools[lane].submit(job.run, lane)
        future.add_done_callback(self._rendered)
        return future

    def close(self) -> None:
        for pool in self._pools:
            pool.shutdown(cancel_futures=True)

    def _rendered(self, future: Future[Any]) -> None:
        with self._lock:
            self._templates -= 1
