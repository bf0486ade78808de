"""Counts and logs requests. Those of one iteration of the event loop are recorded together, which is much faster."""

from __future__ import annotations

import asyncio
from typing import Any

from .log import Log
from .metrics import Metrics
from .responses import Response
from .route import Route
from .store_watch import StoreWatch

# The key in a request's scope for the name of the token that it was sent with.
CALLER = "foreword.caller"


class Recorder:
    """The requests that were answered in this iteration of the event loop."""

    def __init__(self, log: Log, metrics: Metrics, store_watch: StoreWatch) -> None:
        self._log, self._metrics, self._store_watch = log, metrics, store_watch
        self._answered: list[tuple[Any, ...]] = []

    def add(self, *answered: Any) -> None:
        """Schedule a request to be counted and logged. The arguments are those of `_record`."""
        self._answered.append(answered)
        if len(self._answered) == 1:
            asyncio.get_running_loop().call_soon(self.record_all)

    def record_all(self) -> None:
        """Count and log all requests that were added."""
        answered, self._answered = self._answered, []
        with self._log.together():
            for row in answered:
                self._record(*row)

    def record_refusal(self, response: Response, id: str) -> None:
        """Count and log a request that the connection refused before it was complete."""
        self._metrics.request(None, response.status, 0.0, ())
        self._log.request("-", b"-", response.status, 0.0, id, response.problem, response.reason)

    def _record(
        self, scope: Any, route: Route | None, response: Response, seconds: float, id: str, cause: str, trace: str
    ) -> None:
        self._metrics.request(route, response.status, seconds, response.counts, response.amounts, response.codes)
        self._log.request(
            scope["method"],
            scope["raw_path"],
            response.status,
            seconds,
            id,
            response.problem,
            response.reason,
            cause,
            trace,
            scope.get(CALLER, ""),
        )
        if "store_errors" in response.counts:
            self._store_watch.report_failure(response.reason)
        if route is not None and route.audited and response.status < 300:
            version = response.headers.get("ETag", "")
            self._log.audit(scope["method"], scope["raw_path"], version, response.reason, _caller(scope), id)


def address_of(scope: Any) -> str:
    """Return the address of the client. A unix socket has none."""
    return (scope.get("client") or ("",))[0] or "this machine"


def _caller(scope: Any) -> str:
    """Return who sent a request: the name of the token, if tokens have names, otherwise the address."""
    name: str = scope.get(CALLER, "")
    return name or address_of(scope)
