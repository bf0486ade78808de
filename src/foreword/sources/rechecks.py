"""Check repeatedly whether many paths are unchanged, at a small fixed cost each time."""

from __future__ import annotations

import os

from .stamps import UNSTABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any

    from .stamps import Stamp

# `stat` calls per check. A SQLite store makes one more, and a touch should make at most three in total.
MAX_CALLS = 2
MAX_STAMPS = 100_000
MAX_CHECKED = 200  # how many paths a complete check looks at, apart from those that it must look at


class Rechecks:
    """Remembers how paths looked, and checks whether they still do, a few at a time."""

    def __init__(self, disk: Any = os) -> None:
        self._disk = disk
        self._stamps: dict[str, Stamp] = {}
        self._all = Rotation(())

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
        return self._are_unchanged((*paths, *self._all.take(MAX_CALLS - len(paths))))

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
