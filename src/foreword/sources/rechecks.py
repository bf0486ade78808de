"""Checks again and again whether many paths are unchanged, at a small fixed price each time."""

from __future__ import annotations

import os

from .stamps import UNSTABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .stamps import Stamp

MOST_CALLS = 2  # a store in a file needs one more, and a touch should not need more than three


class Recheck:
    """Checks whether paths still look as they did, with at most two `stat` calls each time.

    Important paths come first: the first check and every second one are for them alone, if there are two or more. The remaining calls
    go through the other paths in turn. A change of one of many paths is noticed after some checks.
    """

    def __init__(
        self, important: Iterable[tuple[str, Stamp]], others: Iterable[tuple[str, Stamp]], disk: Any = os
    ) -> None:
        self._disk = disk
        self._important = _InTurn([self._row(*each) for each in important])
        self._others = _InTurn([self._row(*each) for each in others])
        self._count = 0

    def is_unchanged(self) -> bool:
        """Whether the paths that are checked this time look the same."""
        number = self._count
        self._count += 1
        slots = MOST_CALLS - number % 2 if self._others.rows else MOST_CALLS
        first = self._important.take(slots)
        rest = self._others.take(MOST_CALLS - len(first))
        return all(self._now(path) == stamp for path, stamp in (*first, *rest))

    def _row(self, path: str, stamp: Stamp) -> tuple[str, Stamp]:
        return path, self._now(path) if stamp == UNSTABLE else stamp

    def _now(self, path: str) -> Stamp:
        try:
            s = self._disk.stat(path)
        except (OSError, ValueError):
            return None
        return s.st_mtime_ns, s.st_ctime_ns, s.st_size, s.st_ino, s.st_dev


class _InTurn:
    """Rows that are taken in turn."""

    def __init__(self, rows: Sequence[tuple[str, Stamp]]) -> None:
        self.rows, self._next = rows, 0

    def take(self, count: int) -> list[tuple[str, Stamp]]:
        """So many rows, or all if there are fewer, beginning where the last call ended."""
        count = min(count, len(self.rows))
        taken = [self.rows[(self._next + number) % len(self.rows)] for number in range(count)]
        self._next = (self._next + count) % len(self.rows) if self.rows else 0
        return taken
