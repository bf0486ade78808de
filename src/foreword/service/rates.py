"""Limit the number of requests per second that one caller may send. Each process counts separately."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from socket import AF_INET6, inet_pton
from time import monotonic

from .responses import Problem

_MAX_CALLERS = 10_000


_MAPPED = bytes(10) + b"\xff\xff"


def network_of(address: str) -> str:
    """Return what counts as one sender: an IPv4 address, or the first half of an IPv6 address, because a client has many with the same half."""
    if ":" not in address:
        return address
    try:
        packed = inet_pton(AF_INET6, address.partition("%")[0])
    except OSError:
        return address
    return packed[12:].hex() if packed.startswith(_MAPPED) else packed[:8].hex()


class RateLimit:
    """Allows each caller `rate` requests per second on average, and that many at once."""

    def __init__(self, rate: float, clock: Callable[[], float] = monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._burst = max(rate, 1.0)
        # For each caller: the requests that are left, and when that was computed. The caller seen last comes last.
        self._callers: dict[str, tuple[float, float]] = {}

    def check(self, caller: str) -> None:
        """Count a request. Raises a Problem if the caller has sent too many."""
        now = self._clock()
        left, counted_at = self._callers.pop(caller, (self._burst, now))
        left = min(self._burst, left + (now - counted_at) * self._rate)
        if len(self._callers) >= _MAX_CALLERS:
            del self._callers[next(iter(self._callers))]
        self._callers[caller] = (left - 1 if left >= 1 else left, now)
        if left < 1:
            seconds = ceil((1 - left) / self._rate)
            raise Problem(
                "too-many-requests",
                f"you may send {self._rate:g} request{'s' * (self._rate != 1)} per second; try again in {seconds} s",
                {"Retry-After": str(seconds)},
            )
