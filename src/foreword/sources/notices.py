"""Change notices from the system: which directories to watch, and what an event there means.

Each path that was examined depends on every directory in which a name was looked up on the way to it, with links resolved step by
step. Whatever appears, disappears or changes under one of these names may change the prompt. Those directories are watched, each
without the ones below it, so a `node_modules` or a home directory is never watched as a whole. A missing path is noticed in the nearest
directory that exists. A directory that was removed and created again counts as another one: its inode differs or, since the disk may
reuse the number, the system reported its removal.
"""

from __future__ import annotations

import os
import stat
import time

from ..errors import CallError
from ..vocabulary import value
from .stamps import above
from .watchfiles_adapter import MODIFIED, Lost, Watcher, require_watchfiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from .watchfiles_adapter import Flag

# With this many events at once, the system may have dropped others.
_MANY = 5_000
# The path of an event that the system did not describe.
UNKNOWN = ""
_MAX_LINKS = 40
_TRIES = 5
# In seconds: how long a missing or empty file may be in the middle of a save, and how old git's lock may be.
_SAVE, _LOCK = 0.03, 5.0


@value
class Dependencies:
    """The directories and names that the examined paths depend on.

    `spots` maps each name that was looked up, as a real path, to the path as it was written; `folders` maps the directories they are in
    to their identities; every entry of the directories in `listed` matters.
    """

    spots: Mapping[str, str]
    folders: Mapping[str, tuple[int, int]]
    listed: frozenset[str]

    def is_relevant(self, kind: int, path: str) -> bool:
        """Whether an event may change the prompt. A modification matters only for a path that was examined itself."""
        return path in self.spots or (kind != MODIFIED and above(path) in self.listed)


def dependencies_of(paths: Iterable[str]) -> Dependencies:
    """What these paths depend on, on the disk as it is now."""
    trace = _Trace()
    ends = {trace.real(path if os.path.isabs(path) else os.path.abspath(path)) for path in paths}
    folders = {path: identity for path in sorted({*trace.folders, *ends}) if (identity := _identity(path))}
    return Dependencies(trace.spots, folders, frozenset(ends & folders.keys()))


class _Trace:
    """Resolves paths step by step, and records each name that is looked up."""

    def __init__(self) -> None:
        self.spots: dict[str, str] = {}
        self.folders: set[str] = set()
        self._known: dict[str, str] = {}

    def real(self, path: str, meant: str = "", hops: int = 0) -> str:
        """The real path; for a dangling link or a circle, as far as it can be resolved."""
        unknown = []
        head = path
        while head not in self._known and head != above(head):
            unknown.append(head)
            head = above(head)
        folder = self._known.setdefault(head, head)
        for each in reversed(unknown):
            folder = self._known[each] = self._resolved(folder, each, meant if each == path and meant else each, hops)
        return folder

    def _resolved(self, folder: str, path: str, meant: str, hops: int) -> str:
        """The real path of one more name in a directory."""
        name = os.path.basename(path)
        if name in ("", ".", ".."):
            return above(folder) if name == ".." else folder
        self.folders.add(folder)
        spot = os.path.join(folder, name)
        self.spots.setdefault(spot, meant)
        try:
            target = os.readlink(spot)
        except (OSError, ValueError):
            return spot
        return spot if hops >= _MAX_LINKS else self.real(os.path.join(folder, target), meant, hops + 1)


def _identity(path: str) -> tuple[int, int] | None:
    """The device and inode of a directory; None if it cannot be watched: it is missing, unreadable, or its name is not UTF-8."""
    try:
        path.encode()
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    is_watchable = stat.S_ISDIR(status.st_mode) and os.access(path, os.R_OK)
    return (status.st_dev, status.st_ino) if is_watchable else None


class Notices:
    """The system's notices of changes to the paths that are followed."""

    def __init__(self) -> None:
        self.dependencies = Dependencies({}, {}, frozenset())
        self._armed: Mapping[str, tuple[int, int]] = {}
        self._watcher: Watcher | None = None
        require_watchfiles()

    def __enter__(self) -> Notices:
        return self

    def __exit__(self, *_: object) -> None:
        if self._watcher is not None:
            self._watcher.close()

    def follow(self, paths: Iterable[str]) -> bool:
        """Watch everything that these paths depend on. True if new directories are watched: earlier changes there went unnoticed."""
        wanted = list(paths)
        self.dependencies = dependencies_of(wanted)
        if self.dependencies.folders.items() <= self._armed.items():
            return False
        for _ in range(_TRIES):
            if self._arm():
                return True
            self.dependencies = dependencies_of(wanted)
        return True

    def _arm(self) -> bool:
        """Watch the directories; False if one of them disappeared meanwhile."""
        folders = self.dependencies.folders
        try:
            watcher = Watcher(folders)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise CallError(
                f"cannot watch {len(folders):,} directories: {error}; on Linux, raise fs.inotify.max_user_watches or"
                " fs.inotify.max_user_instances"
            ) from None
        self.__exit__()
        self._watcher, self._armed = watcher, folders
        return True

    def wait(self, stop: Flag | None = None, tick: int = 0, lock: str = "") -> dict[str, bool] | None:
        """The paths that have changed, as they were written, each with whether it was examined; None if it should stop.

        The path of an event that the system could not report is "". With `tick`, returns nothing after that many milliseconds. Keeps
        waiting while a save is in progress or git holds its `lock`.
        """
        seen: dict[str, bool] = {}
        while not seen:
            events = self._events(tick, stop)
            if events is None:
                return None
            if not events and tick:
                return {}
            self._add(events, seen)
        start = time.monotonic()
        while _is_saving(seen, start) or _is_locked(lock):
            events = self._events(10, stop)
            if events is None:
                return None
            self._add(events, seen)
        return seen

    def _add(self, events: Iterable[tuple[int, str]], seen: dict[str, bool]) -> None:
        """Add the relevant events, each with whether its path was examined."""
        for kind, path in sorted(events):
            if path == UNKNOWN or self.dependencies.is_relevant(kind, path):
                seen[self.dependencies.spots.get(path, path)] = path in self.dependencies.spots

    def _events(self, timeout: int, stop: Flag | None) -> set[tuple[int, str]] | None:
        """The next events in the directories; an unknown one if the system lost some."""
        assert self._watcher is not None, "follow comes first"
        try:
            events = self._watcher.events(timeout, stop)
        except Lost:
            self._arm()
            return {(MODIFIED, UNKNOWN)}
        if not events:
            return events
        if len(events) > _MANY:
            events.add((MODIFIED, UNKNOWN))
            self._armed = {}
        self._forget({path for kind, path in events if kind != MODIFIED and path in self.dependencies.spots})
        return events

    def _forget(self, gone: Collection[str]) -> None:
        """Forget directories that were created or removed, and those below: the system stops reporting their events."""
        if gone:
            self._armed = {path: identity for path, identity in self._armed.items() if not _is_below(path, gone)}


def _is_below(path: str, folders: Collection[str]) -> bool:
    while path not in folders:
        path, under = above(path), path
        if path == under:
            return False
    return True


def _is_saving(seen: Mapping[str, bool], start: float) -> bool:
    """Whether one of the files has just become missing or empty, as in the middle of a save."""
    if time.monotonic() - start > _SAVE:
        return False
    for path in (path for path, was_examined in seen.items() if was_examined):
        try:
            if os.stat(path).st_size == 0:
                return True
        except (OSError, ValueError):
            return True
    return False


def _is_locked(lock: str) -> bool:
    """Whether git is changing files now. An old lock is a leftover."""
    try:
        return bool(lock) and abs(time.time() - os.stat(lock).st_mtime) < _LOCK
    except (OSError, ValueError):
        return False
