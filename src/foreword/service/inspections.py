"""Inspections, questions and requests with large bodies in side processes.

The interpreter of the service stays free for turns, and the memory that they need comes back.

`inspector.py` is what runs in a side process.
"""

from __future__ import annotations

from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from ..engine import sandbox
from .lanes import BODIES, DECODERS, INSPECTIONS, INSPECTORS, QUESTIONS
from .responses import Problem, Response
from .side_process import SideProcess, SideProcessEnded

if TYPE_CHECKING:
    from collections.abc import Callable

    from .request import Request
    from .route import Route
    from .tokens import Caller

_DUTY = "foreword.service.inspector:answers_requests"


class InspectionFailed(Exception):
    """A side process had an unexpected error. The message is its cause, as the log shows it."""


class Inspections:
    """The side processes of one process: one for each thread in the lanes of inspections and of large bodies, and one for questions.

    Questions use theirs while there are other callers, whose requests would otherwise wait for the interpreter again and again. If it is busy,
    the next question is answered in its thread.
    """

    def __init__(self) -> None:
        self._idle: dict[int, SimpleQueue[SideProcess]] = {}
        self._all: list[SideProcess] = []
        for lane, number in ((QUESTIONS, 1), (INSPECTIONS, INSPECTORS), (BODIES, DECODERS)):
            self._idle[lane] = SimpleQueue()
            for _ in range(number):
                self._all.append(SideProcess(_DUTY))
                self._idle[lane].put(self._all[-1])

    def answer(
        self, route: Route, request: Request, caller: Caller, has_others: Callable[[], bool], lane: int
    ) -> Response | int | None:
        """Return the response to a request from a side process, the lane in which to run it instead, or None if this process must answer."""
        if lane not in self._idle or (lane == QUESTIONS and not has_others()):
            return None
        try:
            process = self._idle[lane].get(block=lane != QUESTIONS)
        except Empty:
            return None
        try:
            answer, counts = process.ask(
                (lane, route.method, route.path, request, caller), may_kill=lane == INSPECTIONS
            )
        except SideProcessEnded:
            raise Problem("busy", "the process that was working on this has ended; try again later") from None
        finally:
            self._idle[lane].put(process)
        sandbox.add_counts(*counts)
        if answer is None and route.body is not None:
            request.decode_large_body(route.body)
        if answer is None or isinstance(answer, Response | int):
            return answer
        kind, *fields = answer
        if kind == "failed":
            raise InspectionFailed(*fields)
        kind, detail, headers, reason, more = fields
        raise Problem(kind, detail, headers, reason=reason, **more)

    def close(self) -> None:
        """End the side processes."""
        for process in self._all:
            process.end()
