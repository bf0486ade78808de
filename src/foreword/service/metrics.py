"""Prometheus metrics. Every series is known in advance, so each process stores its counts in an array of numbers.

Each process maps a file in a shared folder, and the one that handles `/metrics` adds them all up. A process's counts remain after it
ends.
"""

from __future__ import annotations

import mmap
import os
import platform
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from .. import __version__
from ..findings import CODES
from .gauges import GAUGES, LATEST, STARTED
from .responses import PROBLEMS
from .route import Route

_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_STATUSES = (200, 304, *sorted({status for status, _ in PROBLEMS.values()}))
COUNTS = {
    "builds": "Turns that built a new edition",
    "reuses": "Turns that reused an edition",
    "drift": "Responses that reported drift",
    "store_errors": "Failed store operations",
    "store_busy": "Store operations that were not completed in time because of a lock, or because all connections were in use",
    "pruned_conversations": "Conversations that were removed because they were older than their team keeps them",
    "pruned_editions": "Editions that were removed with them, and earlier ones",
    "input_tokens": "Recorded input tokens, cached or not",
    "read_tokens": "Recorded input tokens that were read from the provider's cache",
    "written_tokens": "Recorded input tokens that were written to the provider's cache",
    "output_tokens": "Recorded output tokens",
    "unreported_tokens": "Recorded input tokens of calls that did not report how much of them was cached",
    "cache_collapses": "Recorded calls that read much less from the cache than the previous call",
}
_NOTHING: Mapping[str, float] = {}
# The array begins with the counts, then the findings by code, the gauges, and a row for each route.
_CODES_START = len(COUNTS)
_GAUGES_START = _CODES_START + len(CODES)
_ROUTES_START = _GAUGES_START + len(GAUGES)


class Metrics:
    """Counts this process's requests, and adds up the counts of all processes that share its folder."""

    def __init__(self, routes: Sequence[Route], folder: str = "") -> None:
        self._routes = [*((route.method, route.path) for route in routes), ("", "other")]
        self._rows = {key: index for index, key in enumerate(self._routes)}
        self._width = len(_STATUSES) + len(_BUCKETS) + 2
        size = _ROUTES_START + len(self._routes) * self._width
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
        codes: Sequence[str] = (),
    ) -> None:
        """Count a request."""
        values = self._values
        for name in counts:
            values[_COUNT_INDEX[name]] += 1
        for name, amount in amounts.items():
            values[_COUNT_INDEX[name]] += amount
        for code in codes:
            if code in _CODE_INDEX:  # extensions report findings of their own
                values[_CODE_INDEX[code]] += 1
        index = _ROUTES_START + self._rows[(route.method, route.path) if route else ("", "other")] * self._width
        values[index + _STATUS_INDEX.get(status, 0)] += 1
        index += len(_STATUSES)
        bucket = bisect_left(_BUCKETS, seconds)
        if bucket < len(_BUCKETS):
            values[index + bucket] += 1
        values[index + len(_BUCKETS)] += 1
        values[index + len(_BUCKETS) + 1] += seconds

    def add(self, name: str, amount: float) -> None:
        """Add to one of the counts."""
        self._values[_COUNT_INDEX[name]] += amount

    def set_gauges(self, figures: Mapping[str, float]) -> None:
        """Record this process's figures."""
        for index, name in enumerate(GAUGES, _GAUGES_START):
            self._values[index] = figures.get(name, 0)

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
                if not _is_running(int(name)):
                    row[_GAUGES_START:_ROUTES_START] = array("d", bytes(8 * len(GAUGES)))
                rows.append(row)
        values = [sum(column) for column in zip(*rows, strict=True)]
        for name in LATEST:
            values[_GAUGES[name]] = max(row[_GAUGES[name]] for row in rows)
        return values

    def _lines(self, values: Sequence[float]) -> Iterator[str]:
        for index, (name, about) in enumerate(COUNTS.items()):
            yield from _header(f"foreword_{name}_total", about, "counter")
            yield f"foreword_{name}_total {values[index]:.0f}"
        if tokens := values[_COUNT_INDEX["input_tokens"]] - values[_COUNT_INDEX["unreported_tokens"]]:
            yield from _header(
                "foreword_hit_rate",
                "Share of the recorded input tokens that was read from the cache, over the calls that reported it",
                "gauge",
            )
            yield f"foreword_hit_rate {values[_COUNT_INDEX['read_tokens']] / tokens:.4f}"
        yield from _header("foreword_findings_total", "Findings reported in turns, by code", "counter")
        for code, index in _CODE_INDEX.items():
            if count := values[index]:
                yield f'foreword_findings_total{{code="{code}"}} {count:.0f}'
        for index, (name, kind, about) in enumerate(GAUGES.values(), _GAUGES_START):
            if about:
                yield from _header(name.partition("{")[0], about, kind)
            yield f"{name} {values[index]:.15g}"
        yield from _header(
            "process_start_time_seconds", "When the process that answers this request was started", "gauge"
        )
        yield f"process_start_time_seconds {STARTED:.3f}"
        yield from _header("foreword_build_info", "The versions of Foreword and Python", "gauge")
        yield f'foreword_build_info{{version="{__version__}",python="{platform.python_version()}"}} 1'
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
            yield f'method="{method}",route="{path}"', _ROUTES_START + row * self._width


_CODE_INDEX = {code: _CODES_START + index for index, code in enumerate(CODES)}
_GAUGES = {name: index for index, name in enumerate(GAUGES, _GAUGES_START)}
_COUNT_INDEX = {name: index for index, name in enumerate(COUNTS)}
_STATUS_INDEX = {status: offset for offset, status in enumerate(_STATUSES)}


def _header(name: str, about: str, kind: str) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True
