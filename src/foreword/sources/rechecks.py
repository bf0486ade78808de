"""Check repeatedly whether many paths are unchanged, at a small fixed cost each time."""

from __future__ import annotations

import os

from .stamps import UNSTABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .stamps import Stamp

# `stat` calls per check. A SQLite store makes one more, and a touch should make at most three in total.
MAX_CALLS = 2


class Recheck:
    """Checks whether paths are unchanged, with at most two `stat` calls each time.

    If there are two or more important paths, the first check and every second one after it look only at those. All other calls cycle
    through the remaining paths, so if there are many, a change is noticed only after several checks.
    """

    def __init__(
        self, important: Iterable[tuple[str, Stamp]], others: Iterable[tuple[str, Stamp]], disk: Any = os
    ) -> None:
        self._disk = disk
        self._important = _RoundRobin([self._row(*row) for row in important])
        self._others = _RoundRobin([self._row(*row) for row in others])
        self._count = 0

    def is_unchanged(self) -> bool:
        """Whether the paths that are checked this time are unchanged."""
        check = self._count
        self._count += 1
        slots = MAX_CALLS - check % 2 if self._others.rows else MAX_CALLS
        important = self._important.take(slots)
        others = self._others.take(MAX_CALLS - len(important))
        return all(self._stamp(path) == stamp for path, stamp in (*important, *others))

    def _row(self, path: str, stamp: Stamp) -> tuple[str, Stamp]:
        return path, self._stamp(path) if stamp == UNSTABLE else stamp

    def _stamp(self, path: str) -> Stamp:
        try:
            s = self._disk.stat(path)
        except (OSError, ValueError):
            return None
        return s.st_mtime_ns, s.st_ctime_ns, s.st_size, s.st_ino, s.st_dev


class _RoundRobin:
    """Rows that are taken in turn."""

    def __init__(self, rows: Sequence[tuple[str, Stamp]]) -> None:
        self.rows, self._next = rows, 0

    def take(self, count: int) -> list[tuple[str, Stamp]]:
        """Return the next `count` rows, or all of them if there are fewer, starting where the last call ended."""
        count = min(count, len(self.rows))
        taken = [self.rows[(self._next + offset) % len(self.rows)] for offset in range(count)]
        self._next = (self._next + count) % len(self.rows) if self.rows else 0
        return taken
