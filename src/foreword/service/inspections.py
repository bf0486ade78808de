"""Inspections in side processes: the interpreter of the service stays free for turns, and their memory comes back.

`inspector.py` is what runs in a side process.
"""

from __future__ import annotations

from queue import SimpleQueue
from typing import TYPE_CHECKING

from .lanes import INSPECTORS
from .responses import Problem, Response
from .side_process import SideProcess, SideProcessEnded

if TYPE_CHECKING:
    from .request import Request
    from .route import Route
    from .tokens import Caller

_DUTY = "foreword.service.inspector:answers_requests"


class InspectionFailed(Exception):
    """A side process had an unexpected error. The message is its cause, as the log shows it."""


class Inspections:
    """The side processes of one process, at most as many as there are threads in their lane."""

    def __init__(self) -> None:
        self._all = [SideProcess(_DUTY) for _ in range(INSPECTORS)]
        self._idle: SimpleQueue[SideProcess] = SimpleQueue()
        for process in self._all:
            self._idle.put(process)

    def answer(self, route: Route, request: Request, caller: Caller) -> Response:
        """Return the response to a request, from a side process."""
        process = self._idle.get()
        try:
            answer = process.ask((route.method, route.path, request, caller))
        except SideProcessEnded:
            raise Problem("busy", "the process that was working on this has ended; try again later") from None
        finally:
            self._idle.put(process)
        if isinstance(answer, Response):
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
