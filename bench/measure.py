"""Time contenders. They take turns within one run, so that noise affects them equally, and their medians are compared."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter_ns
from typing import NamedTuple


class Row(NamedTuple):
    """One comparison: our median, the baseline's median, and the highest acceptable ratio (None if there is no limit)."""

    name: str
    ours: float
    baseline: float
    limit: float | None
    ours_label: str
    baseline_label: str

    @property
    def ratio(self) -> float:
        return self.ours / self.baseline

    @property
    def verdict(self) -> str:
        if self.limit is None:
            return ""
        return "pass" if self.ratio <= self.limit else "OVER"


def take_turns(contenders: dict[str, Callable[[], object]], rounds: int = 60) -> dict[str, float]:
    """Return each contender's median time in milliseconds. They are called in turn, after one warm-up round."""
    times: dict[str, list[int]] = {name: [] for name in contenders}
    for _ in range(rounds + 1):
        for name, call in contenders.items():
            start = perf_counter_ns()
            call()
            times[name].append(perf_counter_ns() - start)
    return {name: median(samples[1:]) / 1e6 for name, samples in times.items()}


def print_table(rows: list[Row]) -> None:
    """Print a line for each comparison that says whether it is within its limit."""
    width = max(len(row.name) for row in rows)
    print(f"{'':{width}}  {'ours':>9}  {'baseline':>9}  {'ratio':>6}  {'limit':>5}")
    for row in rows:
        limit = f"{row.limit:.1f}x" if row.limit else "-"
        numbers = f"{row.ours:9.3f}  {row.baseline:9.3f}  {row.ratio:5.2f}x  {limit:>5}"
        print(f"{row.name:{width}}  {numbers}  {row.verdict}".rstrip())
