"""Read the body of a request, within limits of size and time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from .fairness import FairStart
from .memory import Reservation
from .responses import Problem
from .uvicorn_adapter import CONNECTION, Connection

_LARGE_BYTES = 256 * 1024
_LARGE_AT_ONCE = 4
MAX_BODY_BYTES = 8 * 1024 * 1024
_MAX_DRAINED_BYTES = 8 * MAX_BODY_BYTES


class Disconnected(Exception):
    """The client disconnected before it got a response."""


class LargeBodies:
    """Decides how many large bodies of each caller arrive at the same time. The others wait, and their clients with them."""

    def __init__(self) -> None:
        self._slots: dict[str, asyncio.Semaphore] = {}
        self._users: Counter[str] = Counter()

    @asynccontextmanager
    async def slot(self, caller: str) -> AsyncIterator[None]:
        self._users[caller] += 1
        try:
            async with self._slots.setdefault(caller, asyncio.Semaphore(_LARGE_AT_ONCE)):
                yield
        finally:
            self._users[caller] -= 1
            if not self._users[caller]:
                del self._users[caller], self._slots[caller]


async def read_body(
    scope: Any,
    receive: Any,
    reservation: Reservation,
    time_limit: float,
    large: LargeBodies,
    caller: str,
    fair_start: FairStart,
) -> bytearray:
    """Read the body. While there are several callers, the parts of large ones wait for the caller's turn.

    Raises a Problem if it is too large or arrives too slowly.
    """
    by_name: dict[bytes, bytes] = dict(scope["headers"])
    declared = by_name.get(b"content-length", b"")
    length = int(declared) if declared.isdigit() and len(declared) < 20 else 0
    if length > (MAX_BODY_BYTES if b"expect" in by_name else _MAX_DRAINED_BYTES):
        raise _too_large()
    connection: Connection | None = scope.get(CONNECTION)
    if connection is not None and connection.has_whole_body:
        return await _read_all(receive, reservation)
    try:
        async with asyncio.timeout(time_limit):
            if not declared or length > _LARGE_BYTES:
                async with large.slot(caller):
                    in_turn = partial(_receive_in_turn, receive, caller, fair_start)
                    return await _read_all(in_turn, reservation, _LARGE_BYTES)
            return await _read_all(receive, reservation)
    except TimeoutError:
        raise Problem(
            "slow-request", f"the body was not complete after {time_limit:g} seconds", {"Connection": "close"}
        ) from None


async def _receive_in_turn(receive: Any, caller: str, fair_start: FairStart) -> Any:
    """Receive the next part of a large body. The connection reads no further meanwhile."""
    if fair_start.has_several():
        await fair_start.wait(caller)
    message = await receive()
    fair_start.note(caller)
    return message


async def _read_all(receive: Any, reservation: Reservation, at_first: int = 0) -> bytearray:
    """Read a body. If it is refused, the rest is drained up to a limit, because many clients read the response only after sending it.

    The block for it has some bytes `at_first`: one that is large from the beginning grows without leaving gaps that stay in use (glibc).
    """
    content = bytearray(at_first)
    size, has_more = 0, True
    refusal: Problem | None = None
    while has_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        chunk, has_more = message.get("body", b""), message.get("more_body", False)
        size += len(chunk)
        if size <= MAX_BODY_BYTES and refusal is None:
            try:
                reservation.take(len(chunk))
                content[size - len(chunk) : size] = chunk
            except Problem as problem:
                refusal = problem
                content.clear()
                reservation.free()
        elif size > _MAX_DRAINED_BYTES:
            break
        else:
            content.clear()
            reservation.free()
    if size > MAX_BODY_BYTES:
        raise _too_large()
    try:
        if refusal is not None:
            raise refusal
        del content[size:]
        return content
    finally:
        del refusal  # it keeps this function's variables


def _too_large() -> Problem:
    return Problem("too-large", f"the body must not exceed {MAX_BODY_BYTES:,} bytes", {"Connection": "close"})
