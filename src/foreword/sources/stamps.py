"""Stamps: what `stat` returned for each path, so that a single loop can check whether anything has changed since.

For a missing file, the nearest existing directory is stamped. A path that may change without a new time or size, such as a file that
changed a moment ago, gets the stamp `UNSTABLE`, which equals no other stamp.
"""

from __future__ import annotations

import os
import stat
import time

from ..vocabulary import value
from .paths import is_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol

    from ..vocabulary import Fate

    Stamp = tuple[int, int, int, int, int] | None
    # The fate of a path that may not be read, the reason, and the finding's code.
    Refusal = tuple[Fate, str, str]

    class ReadGuard(Protocol):
        """Decides whether a path may be read: by its name before it is opened, then by the open file's real path."""

        def refusal(
            self, reader: Paths, path: str, real: str | None = None, is_folder: bool = False
        ) -> Refusal | None: ...

    class TrustCheck(Protocol):
        """Decides whether a file of the workspace may be used, by its content."""

        untrusted: str

        def refusal(self, path: str, data: bytes, real: str = "") -> Refusal | None: ...

        def check_lines(self, path: str, data: bytes, real: str) -> LineCheck | None: ...

    class Disk(Protocol):
        """The operating system functions that the reader calls; the `os` module has them all."""

        open: Any
        read: Any
        close: Any
        fstat: Any
        stat: Any
        lstat: Any
        scandir: Any


@value
class LineCheck:
    """Which lines of a file are trusted, in order; how many lines of the trusted version are missing; and the ref.

    `is_front_changed` says whether lines of its front matter are missing.
    """

    lines: Sequence[bool]
    missing: int
    ref: str
    is_front_changed: bool = False


UNSTABLE = (0, 0, 0, 0, -1)
# File systems have coarse clocks: a file that changed within this time, in nanoseconds, may change again without a new timestamp.
_CLOCK_TICK = 50_000_000
_COARSE_CLOCK_TICK = 2_100_000_000
# Opens a path without reading the file or its folder. Only Linux has this flag.
_PATH_ONLY = os.O_PATH | os.O_CLOEXEC if hasattr(os, "O_PATH") else 0
_MAX_TRIES = 4
_HAS_SLASHES = os.sep == "/"
_IMPOSSIBLE_PATH = "/\0"  # a path that cannot exist and contains nothing


class Paths:
    """Examines paths without opening them, and stamps them."""

    def __init__(self, disk: Any = os) -> None:
        self.disk: Disk = disk
        self.stamps: dict[str, Stamp] = {}
        self._identities: dict[str, tuple[int, int]] = {}  # of directories
        self._links: dict[str, bool] = {}
        self._real: dict[str, str] = {}

    def stamp(self, path: str) -> Stamp:
        """Record the current state of a path and, if it is missing, of the directory it would be in.

        A dangling link is unstable, because its target may depend on another link, which is not known here.
        """
        missing = path
        while missing not in self.stamps:
            try:
                self.stamps[missing] = stamp_of(self.disk.stat(missing))
            except (OSError, ValueError):
                self.stamps[missing] = UNSTABLE if self.is_link(missing) else None
                missing = parent_folder(missing)
        return self.stamps[path]

    def stamp_up_to(self, path: str, top: str) -> None:
        """Stamp a path and every directory between it and `top`: any of them could become a link."""
        while is_inside(path, top) and path != top:
            self.stamp(path)
            path = parent_folder(path)

    def mark_unstable(self, path: str) -> None:
        """Make a path count as changed at the next check, regardless of its stamp."""
        self.stamps[path] = UNSTABLE

    def identity(self, path: str) -> tuple[int, int] | None:
        """Return the device and inode of a file or directory, which do not depend on its name, or None if it is missing."""
        identity = self._identities.get(path)
        if identity is None:
            try:
                status = self.disk.stat(path)
            except (OSError, ValueError):
                return None
            identity = status.st_dev, status.st_ino
        return identity

    def real(self, path: str) -> str:
        """Return the real path. It is resolved once, so that a link created later does not change it."""
        if path not in self._real:
            try:
                self._real[path] = real_path(path)
            except ValueError:
                self._real[path] = _IMPOSSIBLE_PATH
        return self._real[path]

    def is_link(self, path: str) -> bool:
        """Whether a path is itself a link."""
        try:
            return stat.S_ISLNK(self.disk.lstat(path).st_mode)
        except (OSError, ValueError):
            return False

    def is_linked(self, path: str, top: str) -> bool:
        """Whether a path below `top` is a link or goes through one."""
        while path != top and is_inside(path, top):
            if self.is_link(path):
                return True
            path = parent_folder(path)
        return False

    def has_link(self, path: str, top: str) -> bool:
        """Like `is_linked`, but each path is looked up only once."""
        unknown_paths = []
        while path != top and path not in self._links:
            if path == parent_folder(path):
                return False  # the path is not below `top`
            unknown_paths.append(path)
            path = parent_folder(path)
        has_link = path != top and self._links[path]
        for unknown_path in reversed(unknown_paths):
            has_link = self._links[unknown_path] = has_link or self.is_link(unknown_path)
        return has_link

    def leads_out(self, path: str, top: str) -> bool:
        """Whether the real path of a path below `top` is outside it because of a link."""
        if not is_inside(path, top) or not self.has_link(path, top):
            return False
        real, real_top = real_path(path), real_path(top)
        self.stamp_up_to(parent_folder(real), real_top)
        return not is_inside(real, real_top)


def parent_folder(path: str) -> str:
    """Return the parent of an absolute path. This is faster than `os.path.dirname`."""
    return path[: path.rfind("/")] or "/" if _HAS_SLASHES else os.path.dirname(path)


def real_path(path: str) -> str:
    """Return the path with links resolved. Retries if a link disappears in the meantime, and finally returns a path that cannot exist."""
    if _PATH_ONLY:
        resolved = _resolve_at_once(path)
        if resolved:
            return resolved
    for _ in range(_MAX_TRIES):
        try:
            return os.path.realpath(path)
        except OSError:
            continue
    return _IMPOSSIBLE_PATH


def _resolve_at_once(path: str) -> str:
    """Return the real path of an existing file from the kernel, which takes three calls instead of one for each folder, or empty."""
    try:
        descriptor = os.open(path, _PATH_ONLY)
    except OSError:
        return ""
    try:
        resolved = os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return resolved if resolved.startswith("/") and not resolved.endswith(" (deleted)") else ""


def is_unchanged(stamps: Sequence[tuple[str, Stamp]], disk: Any = os) -> bool:
    """Whether no stamped path has changed. Calls `stat` once for each and reads nothing."""
    stat = disk.stat
    for path, stamp in stamps:
        try:
            s = stat(path)
        except (OSError, ValueError):
            if stamp is not None:
                return False
        else:
            if stamp != (s.st_mtime_ns, s.st_ctime_ns, s.st_size, s.st_ino, s.st_dev):
                return False
    return True


def stamp_of(status: os.stat_result) -> Stamp:
    """Return the stamp for a stat result, or `UNSTABLE` if the file changed a moment ago."""
    changed = max(status.st_mtime_ns, status.st_ctime_ns)
    tick = _CLOCK_TICK if changed % 1_000_000_000 else _COARSE_CLOCK_TICK
    if changed > time.time_ns() - tick:
        return UNSTABLE
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev
