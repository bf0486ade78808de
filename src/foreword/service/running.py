"""Run a request's job in the lanes, while its client waits for the response."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from .lanes import Cancelled
from .request_body import Disconnected
from .responses import Problem

if TYPE_CHECKING:
    from typing import Any

    from .lanes import Job, Lanes
    from .responses import Response
    from .uvicorn_adapter import Connection


async def run_while_connected(
    lanes: Lanes, job: Job, lane: int, connection: Connection | None, time_limit: float
) -> Response:
    """Run a job, within the time limit and only while the client is connected."""
    deadline = asyncio.get_running_loop().time() + time_limit
    try:
        while True:
            result = await _run_in_lane(lanes, job, lane, connection, deadline)
            if result is None:
                raise Problem("timeout", f"the work took longer than {time_limit:g} seconds; it may still complete")
            if not isinstance(result, int):
                return result
            lane = result
    finally:
        job.cancel()
        if connection is not None:
            connection.on_close = None


async def _run_in_lane(
    lanes: Lanes, job: Job, lane: int, connection: Connection | None, deadline: float
) -> Response | int | None:
    """Run a job in a lane. Returns the response, the lane in which to run it instead, or None if the deadline has passed."""
    if connection is not None and connection.is_closed:
        raise Disconnected
    work = lanes.submit(job, lane)
    if connection is not None:
        connection.on_close = partial(_cancel, job, work)
    timer = work.get_loop().call_at(deadline, work.cancel)
    try:
        result: Response | int = await work
        return result
    except (asyncio.CancelledError, Cancelled):
        if connection is not None and connection.is_closed:
            raise Disconnected from None
        if work.cancelled() and work.get_loop().time() >= deadline:
            return None
        raise
    finally:
        timer.cancel()
        del work  # it keeps its error, which keeps this function's variables, and so the request


def _cancel(job: Job, work: asyncio.Future[Any]) -> None:
    """Stop the work for a client that disconnected, or remove it from the queue."""
    job.cancel()
    work.cancel()
