"""Stamps: what `stat` returned for each path, so that a single loop can check whether anything has changed since.

For a missing file, the nearest existing directory is stamped. A path that may change without a new time or size, such as a file that
changed a moment ago, gets the stamp `UNSTABLE`, which equals no other stamp.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any

    Stamp = tuple[int, int, int, int, int] | None

UNSTABLE = (0, 0, 0, 0, -1)
# File systems have coarse clocks: a file that changed within this time, in nanoseconds, may change again without a new timestamp.
_CLOCK_TICK = 50_000_000
_COARSE_CLOCK_TICK = 2_100_000_000
# `stat` calls per recheck. A SQLite store makes one more, and a touch should make at most three in total.
MAX_CALLS = 2
MAX_STAMPS = 100_000
MAX_CHECKED = 200  # how many paths a complete recheck looks at, apart from those that it must look at


def changed_paths(stamps: Iterable[tuple[str, Stamp]], disk: Any = os) -> set[str]:
    """Return the stamped paths that have changed. Calls `stat` once for each and reads nothing."""
    stat = disk.stat
    changed = set()
    for path, stamp in stamps:
        try:
            s = stat(path)
        except (OSError, ValueError):
            if stamp is not None:
                changed.add(path)
        else:
            if stamp != (s.st_mtime_ns, s.st_ctime_ns, s.st_size, s.st_ino, s.st_dev):
                changed.add(path)
    return changed


def stamp_of(status: os.stat_result) -> Stamp:
    """Return the stamp for a stat result, or `UNSTABLE` if the file changed a moment ago."""
    changed = max(status.st_mtime_ns, status.st_ctime_ns)
    tick = _CLOCK_TICK if changed % 1_000_000_000 else _COARSE_CLOCK_TICK
    if changed > time.time_ns() - tick:
        return UNSTABLE
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev


class Rechecks:
    """Remembers how paths looked, and checks whether they still do, a few at a time."""

    def __init__(self, disk: Any = os) -> None:
        self._disk = disk
        self._stamps: dict[str, Stamp] = {}
        self._all: Rotation | None = None

    def remember(self, stamps: Iterable[tuple[str, Stamp]]) -> bool:
        """Remember how these paths look. Returns whether one of them looked different before; the others are then forgotten."""
        new = {path: self._stamp(path) if stamp == UNSTABLE else stamp for path, stamp in stamps}
        is_changed = len(self._stamps) > MAX_STAMPS or any(
            self._stamps.get(path, stamp) != stamp for path, stamp in new.items()
        )
        count = len(self._stamps)
        self._stamps = new if is_changed else self._stamps | new
        if is_changed or len(self._stamps) != count:
            self._all = Rotation(tuple(self._stamps))
        return is_changed

    def is_unchanged(self, important: Rotation) -> bool:
        """Whether a few paths look the same, with at most two `stat` calls.

        If two or more paths are important, the first check and every second one after it look only at those. All other calls cycle
        through the remaining paths, so if there are many, a change is noticed only after several checks.
        """
        paths = important.take(MAX_CALLS - important.count % 2)
        others = self._all.take(MAX_CALLS - len(paths)) if self._all else ()
        return self._are_unchanged((*paths, *others))

    def are_all_unchanged(self, important: Collection[str]) -> bool:
        """Whether all paths, or if there are many, the important ones, look the same."""
        return self._are_unchanged(self._stamps if len(self._stamps) <= MAX_CHECKED else important)

    def _are_unchanged(self, paths: Iterable[str]) -> bool:
        return all(self._stamps.get(path) == self._stamp(path) for path in paths)

    def _stamp(self, path: str) -> Stamp:
        try:
            s = self._disk.stat(path)
        except (OSError, ValueError):
            return None
        return s.st_mtime_ns, s.st_ctime_ns, s.st_size, s.st_ino, s.st_dev


class Rotation:
    """Paths that are taken in turn."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths, self.count, self._next = paths, 0, 0

    def take(self, number: int) -> list[str]:
        """Return the next paths, or all of them if there are fewer, starting where the last call ended."""
        self.count += 1
        number = min(number, len(self.paths))
        taken = [self.paths[(self._next + index) % len(self.paths)] for index in range(number)]
        self._next = (self._next + number) % len(self.paths) if self.paths else 0
        return taken
