"""Told by the system that something changed: which directories have to be watched, and what an event there means.

From the paths that were looked at follows every directory in which a name was looked up on the way to them, links resolved step by
step: what comes, goes or changes under one of these names may change what is found. Those directories are watched, each without
what is below it, so that neither `node_modules` nor a whole home directory is. A path that is not there is noticed in the nearest
directory that is. A directory that was made again is another one, by its number on the disk or, as the disk may give that number
again, because it was told to have gone.
"""

from __future__ import annotations

import os
import stat
import time

from ..errors import CallError
from ..vocabulary import value
from .stamps import above

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any, Protocol

    class Flag(Protocol):
        """Says whether to stop; a `threading.Event` is one."""

        def is_set(self) -> bool: ...


DEBOUNCE, STEP = 50, 5
# So many events at once may be more than the system could tell of.
_MANY = 5_000
_MODIFIED = 2
# Stands for whatever happened that the system could not tell.
UNTOLD = ""
_HOPS = 40
_TRIES = 5
# How long a file that is gone or empty may be in the middle of a save, and how long git's lock is believed, in seconds.
_SAVE, _LOCK = 0.03, 5.0


@value
class Ways:
    """What the paths that were looked at depend on.

    `spots` are the names that were looked up, as real paths, each with the path that was meant; `folders` the directories they
    are in, with their numbers on the disk; `listed` those of which every entry counts.
    """

    spots: Mapping[str, str]
    folders: Mapping[str, tuple[int, int]]
    listed: frozenset[str]

    def is_relevant(self, kind: int, path: str) -> bool:
        """Whether an event may change what is found. What is only modified matters if it was looked at itself."""
        return path in self.spots or (kind != _MODIFIED and above(path) in self.listed)


def ways(paths: Iterable[str]) -> Ways:
    """The ways to these paths, as the disk has them now."""
    trace = _Trace()
    ends = {trace.real(path if os.path.isabs(path) else os.path.abspath(path)) for path in paths}
    folders = {path: number for path in sorted({*trace.folders, *ends}) if (number := _number(path))}
    return Ways(trace.spots, folders, frozenset(ends & folders.keys()))


class _Trace:
    """Resolves paths step by step, and remembers each name that is looked up."""

    def __init__(self) -> None:
        self.spots: dict[str, str] = {}
        self.folders: set[str] = set()
        self._known: dict[str, str] = {}

    def real(self, path: str, meant: str = "", hops: int = 0) -> str:
        """Where a path leads; one that leads nowhere, or in a circle, as far as it goes."""
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
        """Where one more name leads from a directory."""
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
        return spot if hops >= _HOPS else self.real(os.path.join(folder, target), meant, hops + 1)


def _number(path: str) -> tuple[int, int] | None:
    """Which directory this is; None for one that cannot be watched: not there, not to be read, or of a name that is no UTF-8."""
    try:
        path.encode()
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    is_watchable = stat.S_ISDIR(status.st_mode) and os.access(path, os.R_OK)
    return (status.st_dev, status.st_ino) if is_watchable else None


class Notices:
    """The system's notices of changes on the ways that are followed."""

    def __init__(self) -> None:
        self.ways = Ways({}, {}, frozenset())
        self._armed: Mapping[str, tuple[int, int]] = {}
        self._notify: Any = None
        self._make, self._broken = _notify()

    def __enter__(self) -> Notices:
        return self

    def __exit__(self, *_: object) -> None:
        if self._notify is not None:
            self._notify.close()

    def follow(self, paths: Iterable[str]) -> bool:
        """Watch the ways to these paths. True if directories came in anew: what happened there before went unnoticed."""
        wanted = list(paths)
        self.ways = ways(wanted)
        if self.ways.folders.items() <= self._armed.items():
            return False
        for _ in range(_TRIES):
            if self._arm():
                return True
            self.ways = ways(wanted)
        return True

    def _arm(self) -> bool:
        """Watch the directories; False if one of them vanished meanwhile."""
        folders = self.ways.folders
        try:
            notify = self._make(list(folders), False, False, 300, False, True)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise CallError(
                f"{len(folders):,} directories cannot be watched: {error}; on Linux fs.inotify.max_user_watches and"
                " max_user_instances say how many can"
            ) from None
        self.__exit__()
        self._notify, self._armed = notify, folders
        return True

    def wait(self, stop: Flag | None = None, tick: int = 0, lock: str = "") -> dict[str, bool] | None:
        """The paths that something happened to, each with whether it was looked at; None when it is to stop.

        A path is told by the name that was meant; what cannot be told is "". With `tick`, nothing after so many milliseconds.
        While a save is half done, or git holds its `lock`, it waits on.
        """
        seen: dict[str, bool] = {}
        while not seen:
            events = self._events(tick, stop)
            if events is None:
                return None
            if not events and tick:
                return {}
            self._note(events, seen)
        start = time.monotonic()
        while _is_saving(seen, start) or _is_locked(lock):
            events = self._events(10, stop)
            if events is None:
                return None
            self._note(events, seen)
        return seen

    def _note(self, events: Iterable[tuple[int, str]], seen: dict[str, bool]) -> None:
        """Add what happened on the ways, and whether it did to a path that was looked at."""
        for kind, path in sorted(events):
            if path == UNTOLD or self.ways.is_relevant(kind, path):
                seen[self.ways.spots.get(path, path)] = path in self.ways.spots

    def _events(self, timeout: int, stop: Flag | None) -> set[tuple[int, str]] | None:
        """What happened in the directories; of something that cannot be told, that it happened in one of them."""
        try:
            told = self._notify.watch(DEBOUNCE, STEP, timeout, stop)
        except self._broken:  # a name that is no UTF-8
            self._arm()
            return {(_MODIFIED, UNTOLD)}
        if told == "stop":
            return None
        if told == "signal":
            raise KeyboardInterrupt
        if told == "timeout":
            return set()
        events: set[tuple[int, str]] = told
        if len(events) > _MANY:
            events.add((_MODIFIED, UNTOLD))
            self._armed = {}
        self._forget({path for kind, path in events if kind != _MODIFIED and path in self.ways.spots})
        return events

    def _forget(self, gone: Collection[str]) -> None:
        """Of a directory that came or went nothing is told any more, nor of those below, even if they are there again."""
        if gone:
            self._armed = {path: number for path, number in self._armed.items() if not _is_below(path, gone)}


def _notify() -> tuple[Any, type[Exception]]:
    try:
        from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError
    except ImportError:
        raise CallError("watching takes the extra 'serve': pip install 'foreword[serve]'") from None
    return RustNotify, WatchfilesRustInternalError


def _is_below(path: str, folders: Collection[str]) -> bool:
    while path not in folders:
        path, under = above(path), path
        if path == under:
            return False
    return True


def _is_saving(seen: Mapping[str, bool], start: float) -> bool:
    """Whether one of the files is gone or empty, as in the middle of a save, and has not been for long."""
    if time.monotonic() - start > _SAVE:
        return False
    for path in (path for path, was_looked_at in seen.items() if was_looked_at):
        try:
            if os.stat(path).st_size == 0:
                return True
        except (OSError, ValueError):
            return True
    return False


def _is_locked(lock: str) -> bool:
    """Whether git is changing files just now. A lock that is old was left behind."""
    try:
        return bool(lock) and abs(time.time() - os.stat(lock).st_mtime) < _LOCK
    except (OSError, ValueError):
        return False
