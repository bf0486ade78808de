"""From a save to the callback: a watch of the fixture, beside the same notices with nothing done on them."""

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
# What the save of a file may take until the callback has the new prompt, in milliseconds.
BAR = 100.0


def rows(place: fixture.Fixture) -> list[Row]:
    """The median, and the slowest of a hundred."""
    changed = place.cwd / "AGENTS.md"
    original = changed.read_text()
    ours = through_watch(place, changed, original)
    beside = through_notices(changed, original)
    changed.write_text(original)
    told = f"save of one file to on_change(prompt), of {ROUNDS} saves"
    alone = "save of the same file to its notice, nothing read"
    return [
        Row(
            "a save to the new prompt, median; the bar is 100 ms",
            median(ours),
            median(beside),
            _bar(beside, 50),
            told,
            alone,
        ),
        Row("a save to the new prompt, p99; the bar is 100 ms", p99(ours), p99(beside), _bar(beside, 99), told, alone),
    ]


def _bar(beside: list[float], percent: int) -> float:
    """The bar as a ratio, so that it stands in the same column as all others."""
    return BAR / (median(beside) if percent == 50 else p99(beside))


def p99(times: list[float]) -> float:
    return quantiles(times, n=100)[98]


def through_watch(place: fixture.Fixture, changed: Path, original: str) -> list[float]:
    arrived: queue.Queue[tuple[int, str]] = queue.Queue()
    workspace = Workspace(str(place.cwd), home=str(place.home))
    with watch(workspace, Agent(), "", lambda prompt: arrived.put((perf_counter_ns(), prompt.text))):
        arrived.get()

        def wait(number: int) -> int:
            while True:
                at, text = arrived.get(timeout=10)
                if f"Rule {number}\n" in text:
                    return at

        return saves(changed, original, wait)


def through_notices(changed: Path, original: str) -> list[float]:
    with Notices() as notices:
        notices.follow([str(changed)])

        def wait(_: int) -> int:
            notices.wait()
            return perf_counter_ns()

        return saves(changed, original, wait)


def saves(changed: Path, original: str, wait: Callable[[int], int]) -> list[float]:
    """Save again and again; the milliseconds from the end of each save to its news."""
    times = []
    for number in range(ROUNDS):
        time.sleep(0.02)
        changed.write_text(f"{original}Rule {number}\n")
        start = perf_counter_ns()
        times.append((wait(number) - start) / 1e6)
    return times
