"""Thread pools, called lanes, so that quick work never waits for slow work. `docs/service-requests.md` shows how a request travels.

| lane | work | threads |
|---|---|---|
| reading | reads, and turns that reuse an edition | 32 |
| building | gathering, building and writing to the store | 8 |
| questions | gathering and building for a question, and searching a large part of the store | 4, with a bounded queue |
| templates | previews, checks, and all other rendering of untrusted templates | `--template-workers`, with a bounded queue |
| inspections | what examines a whole repository or a large prompt, each in a side process | 2, with a bounded queue |
| hooks | turns, if hooks are URLs: all of their work, because a hook must not be called twice | 32, with a bounded queue |
| bodies | decodes large bodies; while there are other callers, side processes do that and all other work of these requests | 2 |

A job starts in its route's lane. When it is about to do work that belongs in a later lane (`store/waits.py` announces that), it stops
and starts over in that lane. Nothing has been stored at that point, because writing comes last.
"""

from __future__ import annotations

import asyncio
from _thread import allocate_lock
from collections import Counter
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from math import inf
from typing import Any

from ..errors import ForewordError
from ..store import waits
from .fairness import FairStart
from .responses import Problem
from .thread_pool import ThreadPool

LANES = ("reading", "building", "questions", "templates", "inspections", "hooks", "bodies")
READING, BUILDING, QUESTIONS, TEMPLATES, INSPECTIONS, HOOKS, BODIES = range(7)
# Where a request starts, by the column `lane` of the route table: in a lane, or (None) in the event loop, where it also ends.
LANES_OF_ROUTES = {
    "inline": None,  # never uses the store
    "known": READING,  # first tried in the event loop, with the edition in memory
    "turn": READING,  # as `known`, but continues in a thread; a conversation that is not in memory starts in `building`
    "reading": READING,
    "questions": QUESTIONS,
    "stream": QUESTIONS,  # answers with server-sent events
    "templates": TEMPLATES,
    "inspections": INSPECTIONS,
}
_LANE_OF = {
    "read": READING,
    "build": BUILDING,
    "write": BUILDING,
    "search": QUESTIONS,
    "template": TEMPLATES,
    "inspect": INSPECTIONS,
    "hook": HOOKS,
}
_READERS = 32
_BUILDERS = 8
_SHORT_QUEUE = 16
_QUESTIONERS = 4
_QUESTION_QUEUE = 64
INSPECTORS = 2
_INSPECTION_QUEUE = 16
_HOOK_CALLERS = 32
_HOOK_QUEUE = 128
DECODERS = 2


class WrongLane(BaseException):
    """The job belongs in a later lane."""

    def __init__(self, lane: int) -> None:
        super().__init__(lane)
        self.lane = lane


class Cancelled(BaseException):
    """The client is no longer waiting for the job."""


class Job:
    """The work for one request. `token` is the name of the token that it was sent with.

    `aside` does the work in a side process, if its argument is a lane for which there is one; otherwise it returns None. `problem_of` converts
    the library's errors, also in the thread, because it may have to parse a layout. Files that are checked for others after `arrived`, by
    `perf_counter`, are not checked again for this job.
    """

    def __init__(
        self,
        function: Callable[[], Any],
        moment: object = None,
        token: str = "",
        aside: Callable[[int], Any] | None = None,
        problem_of: Callable[[ForewordError], Problem] | None = None,
        arrived: float = inf,
    ) -> None:
        self._function: Callable[[], Any] | None = function
        self._problem_of = problem_of
        self._moment, self.token, self._aside, self._arrived = moment, token, aside, arrived
        self._lane = READING
        self._lock = allocate_lock()
        self._stop: Callable[[], None] | None = None
        self.is_cancelled = False

    def run(self, lane: int) -> Any:
        """Run the job. Returns the function's result, or the number of the lane in which to run it instead.

        The first run may use what was read at the job's moment; a later one reads again.
        """
        function, self._lane = self._function, lane
        moment, self._moment = self._moment, None
        if function is None:
            raise Cancelled
        waits.listen(self, moment, self._arrived)
        try:
            result = None if self._aside is None else self._aside(lane)
            return function() if result is None else result
        except WrongLane as wrong:
            return wrong.lane
        except ForewordError as error:
            if self._problem_of is None:
                raise
            raise self._problem_of(error) from error
        finally:
            waits.listen(None)

    def cancel(self) -> None:
        """Stop the work now if it can be interrupted, otherwise when it next announces slow work."""
        with self._lock:
            self.is_cancelled, self._function = True, None
            if self._stop is not None:
                self._stop()

    def on_slow_work(self, kind: waits.Kind) -> None:
        """Raise if the job was cancelled or the announced work belongs in a later lane."""
        if self.is_cancelled:
            raise Cancelled
        if _LANE_OF[kind] > self._lane:
            raise WrongLane(_LANE_OF[kind])

    def set_interrupt(self, stop: Callable[[], None] | None) -> None:
        """Set the function that interrupts the current work, or None if it can no longer be interrupted."""
        with self._lock:
            if self.is_cancelled and stop is not None:
                raise Cancelled
            self._stop = stop


class EventLoop:
    """Listens to work in the event loop, which must never wait."""

    def on_slow_work(self, kind: waits.Kind) -> None:
        raise WrongLane(_LANE_OF[kind])

    def set_interrupt(self, stop: Callable[[], None] | None) -> None:
        """Work in the event loop is never interrupted."""


class Lanes:
    """The thread pools of one process. A job has the context of its request, to which spans of its trace belong.

    Each named token may use some of a lane's threads, and in a bounded lane half of its places, so that one team cannot take them all. Tokens
    whose jobs are waiting take turns.
    """

    def __init__(self, template_workers: int, template_queue: int, callers: FairStart | None = None) -> None:
        callers = callers or FairStart()

        def share(alone: int, with_others: int = 1) -> Callable[[], int]:
            """How many threads a named token may use. With more than one, it would get less done while there are others, because only one
            thread at a time runs Python code, and everyone would wait for each of them.
            """
            return lambda: with_others if callers.has_several() else alone

        self._pools = [
            ThreadPool(_READERS, "foreword-reading", share(_READERS)),
            ThreadPool(_BUILDERS, "foreword-building", share(_BUILDERS)),
            ThreadPool(_QUESTIONERS, "foreword-question", share(_QUESTIONERS)),
            ThreadPool(template_workers, "foreword-template", share(template_workers, max(1, template_workers // 2))),
            ThreadPool(INSPECTORS, "foreword-inspection", share(INSPECTORS)),
            ThreadPool(_HOOK_CALLERS, "foreword-hook"),
            ThreadPool(DECODERS, "foreword-body", share(DECODERS)),
        ]
        # For each bounded lane: its threads, its queue, and what to say if the queue is full.
        self._bounds = {
            QUESTIONS: (_QUESTIONERS, _QUESTION_QUEUE, "questions are already waiting"),
            TEMPLATES: (template_workers, template_queue, "templates are already waiting to be rendered"),
            INSPECTIONS: (INSPECTORS, _INSPECTION_QUEUE, "inspections are already waiting"),
            HOOKS: (_HOOK_CALLERS, _HOOK_QUEUE, "turns are already waiting for hooks"),
        }
        self._by_token: Counter[tuple[int, str]] = Counter()

    def check(self, lane: int | None, token: str) -> None:
        """Raise a Problem if the lane's queue is full, for everyone or for this token. The event loop has none."""
        if lane is None or lane not in self._bounds:
            return
        threads, queue, waiting = self._bounds[lane]
        if self._pools[lane].unfinished >= threads + queue:
            raise Problem("busy", f"{queue} {waiting}; try again later")
        share = max(1, (threads + queue) // 2)
        if token and self._by_token[lane, token] >= share:
            raise Problem("busy", f"{share} such requests with this token are already in progress; try again later")

    def submit(self, job: Job, lane: int) -> asyncio.Future[Any]:
        """Run a job in a lane. Raises a Problem if the lane's queue is full."""
        self.check(lane, job.token)
        future = self._pools[lane].submit(partial(copy_context().run, job.run, lane), job.token)
        if lane not in self._bounds:
            return future
        key = (lane, job.token)
        self._by_token[key] += 1
        future.add_done_callback(lambda _: self._release(key))
        return future

    def decode(self, function: Callable[[], Any], token: str) -> asyncio.Future[Any]:
        """Call a function that decodes a large body, before its request has a job."""
        return self._pools[BODIES].submit(function, token)

    def _release(self, key: tuple[int, str]) -> None:
        self._by_token[key] -= 1
        if not self._by_token[key]:
            del self._by_token[key]

    def is_free(self, lane: int) -> bool:
        """Whether a job would start soon."""
        return self._pools[lane].waiting < _SHORT_QUEUE

    def counts(self) -> dict[str, int]:
        """Return how many jobs wait for a thread of each lane."""
        return {name: self._pools[lane].waiting for lane, name in enumerate(LANES)}

    def close(self) -> None:
        for pool in self._pools:
            pool.close()
