"""Change notices from the operating system: which directories to watch, and what their events mean.

An examined path depends on every directory in which a name was looked up while resolving it, link by link. If anything with one of
these names appears, disappears or changes, the prompt may change. Those directories are watched without their subdirectories, so a
`node_modules` or a home directory is never watched as a whole. For a missing path, the nearest existing directory is watched. A
directory that was removed and created again counts as a new one: its inode differs or, because the disk may reuse the number, the
system reported its removal.
"""

from __future__ import annotations

import os
import stat
import time

from ..errors import CallError
from ..vocabulary import value
from .places import parent_folder
from .watchfiles_adapter import MODIFIED, EventsLost, Watcher, require_watchfiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from .watchfiles_adapter import Flag

# With this many events at once, the system may have dropped others.
_MAX_RELIABLE_EVENTS = 5_000
# The path of an event that the system could not report.
UNKNOWN_PATH = ""
_MAX_LINKS = 40
_MAX_TRIES = 5
# In seconds: how long a file that is being saved may be missing or empty, and how old a git lock may be.
_SAVE_SECONDS, _MAX_LOCK_AGE = 0.03, 5.0


@value
class Dependencies:
    """The directories and names that the examined paths depend on.

    `entries` maps the real path of each name that was looked up to the path as it was written. `folders` maps the directories that
    contain them to their identities. In the directories in `listed_folders`, every entry matters.
    """

    entries: Mapping[str, str]
    folders: Mapping[str, tuple[int, int]]
    listed_folders: frozenset[str]

    def is_relevant(self, kind: int, path: str) -> bool:
        """Whether an event may change the prompt. A modification matters only for a path that was examined itself."""
        return path in self.entries or (kind != MODIFIED and parent_folder(path) in self.listed_folders)


def dependencies_of(paths: Iterable[str]) -> Dependencies:
    """Return what these paths depend on at the moment."""
    resolver = _Resolver()
    real_paths = {resolver.real(path if os.path.isabs(path) else os.path.abspath(path)) for path in paths}
    folders = {path: identity for path in sorted({*resolver.folders, *real_paths}) if (identity := _identity(path))}
    return Dependencies(resolver.entries, folders, frozenset(real_paths & folders.keys()))


class _Resolver:
    """Resolves paths step by step, and records each name that is looked up."""

    def __init__(self) -> None:
        self.entries: dict[str, str] = {}
        self.folders: set[str] = set()
        self._real_paths: dict[str, str] = {}

    def real(self, path: str, written_path: str = "", hops: int = 0) -> str:
        """Return the real path. Dangling and circular links are resolved as far as possible."""
        unknown_prefixes = []
        known_prefix = path
        while known_prefix not in self._real_paths and known_prefix != parent_folder(known_prefix):
            unknown_prefixes.append(known_prefix)
            known_prefix = parent_folder(known_prefix)
        folder = self._real_paths.setdefault(known_prefix, known_prefix)
        for prefix in reversed(unknown_prefixes):
            folder = self._real_paths[prefix] = self._resolve_name(
                folder, prefix, written_path if prefix == path and written_path else prefix, hops
            )
        return folder

    def _resolve_name(self, folder: str, path: str, written_path: str, hops: int) -> str:
        """Return the real path of a name in a directory that is already resolved."""
        name = os.path.basename(path)
        if name in ("", ".", ".."):
            return parent_folder(folder) if name == ".." else folder
        self.folders.add(folder)
        entry = os.path.join(folder, name)
        self.entries.setdefault(entry, written_path)
        try:
            target = os.readlink(entry)
        except (OSError, ValueError):
            return entry
        return entry if hops >= _MAX_LINKS else self.real(os.path.join(folder, target), written_path, hops + 1)


def _identity(path: str) -> tuple[int, int] | None:
    """Return a directory's device and inode, or None if it cannot be watched (it is missing or unreadable, or its name is not UTF-8)."""
    try:
        path.encode()
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    is_watchable = stat.S_ISDIR(status.st_mode) and os.access(path, os.R_OK)
    return (status.st_dev, status.st_ino) if is_watchable else None


class Notices:
    """Notices from the operating system about changes to the followed paths."""

    def __init__(self) -> None:
        self.dependencies = Dependencies({}, {}, frozenset())
        self._watched: Mapping[str, tuple[int, int]] = {}
        self._watcher: Watcher | None = None
        require_watchfiles()

    def __enter__(self) -> Notices:
        return self

    def __exit__(self, *_: object) -> None:
        if self._watcher is not None:
            self._watcher.close()

    def follow(self, paths: Iterable[str]) -> bool:
        """Watch everything that these paths depend on.

        Returns True if there are new directories, in which earlier changes may have been missed.
        """
        examined_paths = list(paths)
        self.dependencies = dependencies_of(examined_paths)
        if self.dependencies.folders.items() <= self._watched.items():
            return False
        for _ in range(_MAX_TRIES):
            if self._start_watcher():
                return True
            self.dependencies = dependencies_of(examined_paths)
        return True

    def _start_watcher(self) -> bool:
        """Start watching the directories. Returns False if one of them disappeared in the meantime."""
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
        self._watcher, self._watched = watcher, folders
        return True

    def wait(self, stop: Flag | None = None, tick: int = 0, lock: str = "") -> dict[str, bool] | None:
        """Wait for changes. Returns the changed paths as they were written, each with whether it was examined, or None if `stop` is set.

        If the system could not report an event's path, the path is "". With `tick`, returns an empty dict after that many
        milliseconds. Keeps waiting while a file is being saved or git's `lock` exists.
        """
        changes: dict[str, bool] = {}
        while not changes:
            events = self._next_events(tick, stop)
            if events is None:
                return None
            if not events and tick:
                return {}
            self._add_relevant_events(events, changes)
        start = time.monotonic()
        while _is_saving(changes, start) or _is_locked(lock):
            events = self._next_events(10, stop)
            if events is None:
                return None
            self._add_relevant_events(events, changes)
        return changes

    def _add_relevant_events(self, events: Iterable[tuple[int, str]], changes: dict[str, bool]) -> None:
        """Add the relevant events, each with whether its path was examined."""
        for kind, path in sorted(events):
            if path == UNKNOWN_PATH or self.dependencies.is_relevant(kind, path):
                changes[self.dependencies.entries.get(path, path)] = path in self.dependencies.entries

    def _next_events(self, timeout: int, stop: Flag | None) -> set[tuple[int, str]] | None:
        """Wait for the next events in the directories. If some were lost, includes an event with an unknown path."""
        assert self._watcher is not None, "call follow first"
        try:
            events = self._watcher.events(timeout, stop)
        except EventsLost:
            self._start_watcher()
            return {(MODIFIED, UNKNOWN_PATH)}
        if not events:
            return events
        if len(events) > _MAX_RELIABLE_EVENTS:
            events.add((MODIFIED, UNKNOWN_PATH))
            self._watched = {}
        self._forget({path for kind, path in events if kind != MODIFIED and path in self.dependencies.entries})
        return events

    def _forget(self, changed_folders: Collection[str]) -> None:
        """Forget directories that were created or removed and those below them: the system no longer reports their events."""
        if changed_folders:
            self._watched = {
                path: identity for path, identity in self._watched.items() if not _is_below(path, changed_folders)
            }


def _is_below(path: str, folders: Collection[str]) -> bool:
    while path not in folders:
        path, child = parent_folder(path), path
        if path == child:
            return False
    return True


def _is_saving(changes: Mapping[str, bool], start: float) -> bool:
    """Whether one of the files is missing or empty and may be in the middle of a save."""
    if time.monotonic() - start > _SAVE_SECONDS:
        return False
    for path in (path for path, was_examined in changes.items() if was_examined):
        try:
            if os.stat(path).st_size == 0:
                return True
        except (OSError, ValueError):
            return True
    return False


def _is_locked(lock: str) -> bool:
    """Whether git is changing files now. An old lock does not count, because it was left behind."""
    try:
        return bool(lock) and abs(time.time() - os.stat(lock).st_mtime) < _MAX_LOCK_AGE
    except (OSError, ValueError):
        return False
