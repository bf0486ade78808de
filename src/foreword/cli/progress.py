"""Show on a terminal how far long work is."""

from __future__ import annotations

import sys
import time

from ..programs import progress
from .terminal import is_terminal, terminal_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_DELAY, _INTERVAL = 1.0, 0.1


class ProgressLine:
    """One line on standard error that is replaced as the work goes on. In a pipe nothing is written."""

    def __init__(self) -> None:
        self._is_shown = is_terminal(sys.stderr)

    def show(self, text: str) -> None:
        if self._is_shown:
            sys.stderr.write(f"\r\x1b[K{text[: terminal_width(sys.stderr) - 1]}")
            sys.stderr.flush()

    def clear(self) -> None:
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class Counter:
    """Shows how many of the things that have to be done are done. Nothing is shown if that takes less than a second.

    with Counter("reading logs") as counter:
        for number in range(total):
            counter(number, total)
    """

    def __init__(self, label: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._label, self._clock, self._line = label, clock, ProgressLine()
        self._next = clock() + _DELAY
        self._has_shown = False

    def __call__(self, done: int, total: int) -> None:
        now = self._clock()
        if now >= self._next:
            self._next, self._has_shown = now + _INTERVAL, True
            self._line.show(f"{self._label}: {done:,} of {total:,}")

    def __enter__(self) -> Counter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._has_shown:
            self._line.clear()


class CountedWork(Counter):
    """Shows how far the loops of a program are that count their rows: see `programs/progress.py`."""

    def __enter__(self) -> CountedWork:
        progress.listen(self)
        return self

    def __exit__(self, *_: object) -> None:
        progress.listen(None)
        super().__exit__()
