"""How everything here is measured: contenders take turns in one run, so that noise hits all alike; medians count."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter_ns
from typing import NamedTuple


class Row(NamedTuple):
    """One comparison: our median beside another's, and how many times as long ours may take (None: no bar)."""

    name: str
    ours: float
    beside: float
    bar: float | None
    ours_is: str
    beside_is: str

    @property
    def ratio(self) -> float:
        return self.ours / self.beside

    @property
    def verdict(self) -> str:
        if self.bar is None:
            return ""
        return "pass" if self.ratio <= self.bar else "OVER"


def take_turns(contenders: dict[str, Callable[[], object]], rounds: int = 60) -> dict[str, float]:
    """The median milliseconds of each contender, called round-robin; one round before the first is not counted."""
    times: dict[str, list[int]] = {name: [] for name in contenders}
    for _ in range(rounds + 1):
        for name, call in contenders.items():
            start = perf_counter_ns()
            call()
            times[name].append(perf_counter_ns() - start)
    return {name: median(taken[1:]) / 1e6 for name, taken in times.items()}
