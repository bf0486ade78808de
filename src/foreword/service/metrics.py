"""Prometheus metrics. Every series is known in advance, so each process stores its counts in an array of numbers.

Each process maps a file in a shared folder, and the one that handles `/metrics` adds them all up. A process's counts remain after it
ends.
"""

from __future__ import annotations

import mmap
import os
from array import array
from collections.abc import Iterator, Mapping, Sequence

from .responses import PROBLEMS
from .route import Route

_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_STATUSES = (200, 304, *sorted({status for status, _ in PROBLEMS.values()}))
COUNTS = {
    "builds": "Turns that built a new edition",
    "reuses": "Turns that reused an edition",
    "drift": "Responses that reported drift",
    "store_errors": "Failed store operations",
    "input_tokens": "Recorded input tokens, cached or not",
    "read_tokens": "Recorded input tokens that were read from the provider's cache",
    "written_tokens": "Recorded input tokens that were written to the provider's cache",
    "output_tokens": "Recorded output tokens",
    "cache_collapses": "Recorded calls that read much less from the cache than the previous call",
}
_NOTHING: Mapping[str, float] = {}


class Metrics:
    """Counts this process's requests, and adds up the counts of all processes that share its folder."""

    def __init__(self, routes: Sequence[Route], folder: str = "") -> None:
        self._routes = [*((route.method, route.path) for route in routes), ("", "other")]
        self._rows = {key: index for index, key in enumerate(self._routes)}
        self._width = len(_STATUSES) + len(_BUCKETS) + 2
        size = len(COUNTS) + len(self._routes) * self._width
        self._folder = folder
        self._values: memoryview[float] = memoryview(array("d", bytes(8 * size))).cast("B").cast("d")
        if folder:
            file = os.open(os.path.join(folder, str(os.getpid())), os.O_RDWR | os.O_CREAT, 0o600)
            try:
                os.ftruncate(file, 8 * size)
                self._values = memoryview(mmap.mmap(file, 8 * size)).cast("d")
            finally:
                os.close(file)

    def request(
        self,
        route: Route | None,
        status: int,
        seconds: float,
        counts: Sequence[str],
        amounts: Mapping[str, float] = _NOTHING,
    ) -> None:
        """Count a request."""
        values = self._values
        for name in counts:
            values[_COUNT_INDEX[name]] += 1
        for name, amount in amounts.items():
            values[_COUNT_INDEX[name]] += amount
        index = len(COUNTS) + self._rows[(route.method, route.path) if route else ("", "other")] * self._width
        values[index + _STATUS_INDEX.get(status, 0)] += 1
        index += len(_STATUSES)
        for offset, limit in enumerate(_BUCKETS):
            if seconds <= limit:
                values[index + offset] += 1
                break
        values[index + len(_BUCKETS)] += 1
        values[index + len(_BUCKETS) + 1] += seconds

    def text(self) -> str:
        """Return all counts in Prometheus format."""
        return "\n".join(self._lines(self._sum())) + "\n"

    def _sum(self) -> Sequence[float]:
        if not self._folder:
            return self._values.tolist()
        rows = []
        for name in sorted(os.listdir(self._folder)):
            with open(os.path.join(self._folder, name), "rb") as file:
                row = array("d", file.read())
            if len(row) == len(self._values):
                rows.append(row)
        return [sum(column) for column in zip(*rows, strict=True)]

    def _lines(self, values: Sequence[float]) -> Iterator[str]:
        for index, (name, about) in enumerate(COUNTS.items()):
            yield from _header(f"foreword_{name}_total", about, "counter")
            yield f"foreword_{name}_total {values[index]:.0f}"
        if tokens := values[_COUNT_INDEX["input_tokens"]]:
            yield from _header(
                "foreword_hit_rate", "Share of the recorded input tokens that was read from the cache", "gauge"
            )
            yield f"foreword_hit_rate {values[_COUNT_INDEX['read_tokens']] / tokens:.4f}"
        yield from _header("foreword_requests_total", "Requests by route and status", "counter")
        for labels, index in self._series():
            for offset, status in enumerate(_STATUSES):
                if count := values[index + offset]:
                    yield f'foreword_requests_total{{{labels},status="{status}"}} {count:.0f}'
        yield from _header("foreword_request_seconds", "Time from request to response", "histogram")
        for labels, index in self._series():
            index += len(_STATUSES)
            if not (count := values[index + len(_BUCKETS)]):
                continue
            cumulative = 0.0
            for offset, limit in enumerate(_BUCKETS):
                cumulative += values[index + offset]
                yield f'foreword_request_seconds_bucket{{{labels},le="{limit}"}} {cumulative:.0f}'
            yield f'foreword_request_seconds_bucket{{{labels},le="+Inf"}} {count:.0f}'
            yield f"foreword_request_seconds_sum{{{labels}}} {values[index + len(_BUCKETS) + 1]:.6f}"
            yield f"foreword_request_seconds_count{{{labels}}} {count:.0f}"

    def _series(self) -> Iterator[tuple[str, int]]:
        for row, (method, path) in enumerate(self._routes):
            yield f'method="{method}",route="{path}"', len(COUNTS) + row * self._width


_COUNT_INDEX = {name: index for index, name in enumerate(COUNTS)}
_STATUS_INDEX = {status: offset for offset, status in enumerate(_STATUSES)}


def _header(name: str, about: str, kind: str) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"
