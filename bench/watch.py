"""Compare the time from a save to the callback of `watch` with the file notification alone."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter_ns

import fixture
from foreword import Agent, Workspace, watch
from foreword.sources.notices import Notices
from measure import Row

ROUNDS = 200
# The longest acceptable time from a save until the callback gets the new prompt, in milliseconds.
MAX_MILLISECONDS = 100.0


def rows(project: fixture.Fixture) -> list[Row]:
    """Compare the median and the 99th percentile of both times."""
    path = project.cwd / "AGENTS.md"
    original = path.read_text()
    ours = times_with_watch(project, path, original)
    baseline = times_with_notices(path, original)
    path.write_text(original)
    ours_label = f"from saving a file to on_change(prompt), {ROUNDS} saves"
    baseline_label = "from saving the same file to its notification, without reading it"
    return [
        Row(
            "from a save to the new prompt, median; limit 100 ms",
            median(ours),
            median(baseline),
            _limit(baseline, 50),
            ours_label,
            baseline_label,
        ),
        Row(
            "from a save to the new prompt, p99; limit 100 ms",
            p99(ours),
            p99(baseline),
            _limit(baseline, 99),
            ours_label,
            baseline_label,
        ),
    ]


def _limit(baseline: list[float], percent: int) -> float:
    """Return the limit as a ratio to the baseline, as in the other rows."""
    return MAX_MILLISECONDS / (median(baseline) if percent == 50 else p99(baseline))


def p99(times: list[float]) -> float:
    return quantiles(times, n=100)[98]


def times_with_watch(project: fixture.Fixture, path: Path, original: str) -> list[float]:
    arrived: queue.Queue[tuple[int, str]] = queue.Queue()
    workspace = Workspace(str(project.cwd), home=str(project.home))
    with watch(workspace, Agent(), "", lambda prompt: arrived.put((perf_counter_ns(), prompt.text))):
        arrived.get()

        def wait(number: int) -> int:
            while True:
                arrival, text = arrived.get(timeout=10)
                if f"Rule {number}\n" in text:
                    return arrival

        return time_saves(path, original, wait)


def times_with_notices(path: Path, original: str) -> list[float]:
    with Notices() as notices:
        notices.follow([str(path)])

        def wait(_: int) -> int:
            notices.wait()
            return perf_counter_ns()

        return time_saves(path, original, wait)


def time_saves(path: Path, original: str, wait: Callable[[int], int]) -> list[float]:
    """Save repeatedly, and return the milliseconds from the end of each save until `wait` returns."""
    times = []
    for number in range(ROUNDS):
        time.sleep(0.02)
        path.write_text(f"{original}Rule {number}\n")
        start = perf_counter_ns()
        times.append((wait(number) - start) / 1e6)
    return times
