"""Examines directories: whether they exist, what they contain, and why they cannot be listed."""

from __future__ import annotations

import os
import stat
from errno import EACCES, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, ENXIO, EPERM

from .stamps import Paths, parent_folder, real_path, stamp_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .contents import Contents
    from .stamps import ReadGuard, Refusal

OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
FOLDER_FLAGS = OPEN_FLAGS | getattr(os, "O_DIRECTORY", 0)
# Errors that mean the path is missing, and errors that persist until a stamp changes.
ABSENT_ERRORS = frozenset((ENOENT, ENOTDIR))
_PERMANENT_ERRORS = ABSENT_ERRORS | {EACCES, EPERM, ELOOP, ENAMETOOLONG, ENXIO}
_DELETED_SUFFIX = " (deleted)"
REPLACED_REASON = "it was replaced while it was being opened"


class Folders(Paths):
    """Examines directories."""

    def __init__(self, disk: Any = os, contents: Contents | None = None) -> None:
        super().__init__(disk)
        self.contents = contents
        self._folders: dict[str, bool] = {}
        self._problems: dict[str, str] = {}

    def is_folder(self, path: str) -> bool:
        """Whether a directory exists. Each path is looked up once; for a missing directory, its parent is stamped."""
        exists = self._folders.get(path)
        if exists is None and self.contents:
            exists = self._recall_folder(path, self.contents)
        if exists is None and parent_folder(path) not in self._folders and self._is_existing_folder(path):
            return True
        if exists is None:
            unknown_paths = [path]  # a loop, because a long path would exceed the recursion limit
            while unknown_paths[-1] != "/" and parent_folder(unknown_paths[-1]) not in self._folders:
                unknown_paths.append(parent_folder(unknown_paths[-1]))
            for unknown_path in reversed(unknown_paths):
                exists = self._folders[unknown_path] = self._look_for_folder(unknown_path)
        return bool(exists)

    def entries(self, path: str, guard: ReadGuard | None = None) -> tuple[list[str], Refusal | None]:
        """Return the names in a directory, sorted by code point, and the reason if they cannot be listed."""
        if not self.is_folder(path):
            problem = self.problem(path)
            return [], ("unreadable", problem, "file-unreadable") if problem else None
        self.stamp(path)
        refusal = guard.refusal(self, path, is_folder=True) if guard else None
        if refusal:
            return [], refusal
        try:
            if guard is None or os.scandir not in os.supports_fd:
                with self.disk.scandir(path) as listing:
                    return sorted(entry.name for entry in listing), None
            return self._guarded_entries(path, guard)
        except OSError as error:
            self.mark_unstable_if_temporary(path, error)
            return [], ("unreadable", explain(error), "file-unreadable")

    def _guarded_entries(self, path: str, guard: ReadGuard) -> tuple[list[str], Refusal | None]:
        """Return the names in the directory that is opened, even if its path leads to another one later, or why it may not be read."""
        cached = self.contents.folders.get(path) if self.contents else None
        if cached:
            refusal = guard.refusal(self, path, cached[1], is_folder=True)
            return ([], refusal) if refusal else (list(cached[0]), None)
        descriptor = self.disk.open(path, FOLDER_FLAGS)
        try:
            refusal = self.check_open_file(descriptor, path, guard, is_folder=True)
            if refusal:
                return [], refusal
            with self.disk.scandir(descriptor) as listing:
                names = sorted(entry.name for entry in listing)
            if self.contents and (real := self._real_path_of_open_file(descriptor, path)):
                self.contents.folders[path] = names, real
            return names, None
        finally:
            self.disk.close(descriptor)

    def check_open_file(self, descriptor: int, path: str, guard: ReadGuard, is_folder: bool = False) -> Refusal | None:
        """Return why an open file or directory may not be read, or None if it may."""
        real = self._real_path_of_open_file(descriptor, path)
        if not real:
            self.mark_unstable(path)
            return "unreadable", REPLACED_REASON, "file-unreadable"
        refusal = guard.refusal(self, path, real, is_folder)
        if refusal:
            self.mark_unstable(path)
        return refusal

    def _real_path_of_open_file(self, descriptor: int, path: str) -> str:
        """Return an open file's real path, or empty if it is unknown because the path now leads to another file."""
        real = path_of_open_file(descriptor)
        if real and not real.endswith(_DELETED_SUFFIX):
            return real
        try:
            status = self.disk.fstat(descriptor)
            if real:
                return real if status.st_nlink else real.removesuffix(_DELETED_SUFFIX)
            real = real_path(path)
            current = self.disk.lstat(real)
        except (OSError, ValueError):
            return ""
        return real if (current.st_dev, current.st_ino) == (status.st_dev, status.st_ino) else ""

    def problem(self, path: str) -> str:
        """Return why a directory, or one above it, could not be examined, or empty if it is only missing."""
        while self._problems and path not in self._problems and path != parent_folder(path):
            path = parent_folder(path)
        return self._problems.get(path, "")

    def has_entry(self, path: str) -> bool:
        """Whether a path exists, even as a dangling link or as something that cannot be examined.

        For a missing path, its directory is stamped.
        """
        if self._exists(path):
            return True
        folder = parent_folder(path)
        if folder not in self.stamps and self.is_folder(folder):
            self.stamp(folder)
            return self._exists(path)  # it may have been created before the stamp was taken
        return False

    def _exists(self, path: str) -> bool:
        try:
            self.disk.lstat(path)
        except OSError as error:
            return error.errno not in ABSENT_ERRORS
        except ValueError:
            return False
        return True

    def has_git(self, folder: str) -> bool:
        """Whether a directory is a repository's root: it has a `.git` folder, or the `.git` file of a worktree or submodule."""
        self.stamp(folder)
        path = os.path.join(folder, ".git")
        try:
            mode = self.disk.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                self.stamp(path)
                mode = self.disk.stat(path).st_mode
        except (OSError, ValueError):
            return False
        return stat.S_ISDIR(mode) or stat.S_ISREG(mode)

    def _is_existing_folder(self, path: str) -> bool:
        """Whether a directory exists, judging by a single `stat`: the directories above it need no checks if it does."""
        try:
            status = self.disk.stat(path)
        except (OSError, ValueError):
            return False
        if stat.S_ISDIR(status.st_mode):
            self._folders[path] = True
            self._identify(path, status)
        return path in self._folders

    def _recall_folder(self, path: str, contents: Contents) -> bool | None:
        """Return whether a directory exists, if another reader has looked for it, or None."""
        if path in contents.identities:
            self._identities[path] = contents.identities[path]
            self._folders[path] = True
        elif self._is_known_absent(path):
            self._folders[path] = False
        return self._folders.get(path)

    def _is_known_absent(self, path: str) -> bool:
        """Whether another reader has looked for a path in vain. The directory in which it would appear is stamped here too."""
        folder = self.contents.absent.get(path) if self.contents else None
        if folder:
            self.stamp(folder)
        return folder is not None

    def share_absence(self, path: str) -> None:
        """Let other readers know that a path is missing in an existing directory."""
        if self.contents:
            self.contents.absent[path] = parent_folder(path)

    def _look_for_folder(self, path: str) -> bool:
        if path != "/" and not self._folders[parent_folder(path)]:
            if self.contents and parent_folder(path) in self.contents.absent:
                self.contents.absent[path] = self.contents.absent[parent_folder(path)]
            return False
        try:
            status = self.disk.stat(path)
        except (OSError, ValueError) as error:
            self._record_missing(path, error)
            return False
        if stat.S_ISDIR(status.st_mode):
            self._identify(path, status)
            return True
        self.stamps[path] = stamp_of(status)
        return False

    def _identify(self, path: str, status: os.stat_result) -> None:
        self._identities[path] = status.st_dev, status.st_ino
        if self.contents:
            self.contents.identities[path] = status.st_dev, status.st_ino

    def _record_missing(self, path: str, error: OSError | ValueError) -> None:
        """Record a directory that cannot be examined. If it is only missing, its parent's stamp shows when it appears."""
        if getattr(error, "errno", ENOENT) not in ABSENT_ERRORS | {ELOOP}:
            self._problems[path] = explain(error)
        if self.has_entry(path):
            self.stamp(path)
            self.mark_unstable_if_temporary(path, error)
        elif path not in self._problems:
            self.share_absence(path)

    def mark_unstable_if_temporary(self, path: str, error: OSError | ValueError) -> None:
        """Mark a path as unstable after an error that may go away although its stamp stays the same, such as too many open files."""
        if getattr(error, "errno", ENOENT) not in _PERMANENT_ERRORS:
            self.mark_unstable(path)


def path_of_open_file(descriptor: int) -> str:
    """Return an open file's real path according to the operating system, or empty if it is not available."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return ""


def explain(error: OSError | ValueError) -> str:
    """Return a readable reason for a failed system call."""
    if getattr(error, "errno", None) == ELOOP:
        return "its links form a loop"
    if getattr(error, "errno", None) == ENAMETOOLONG:
        return "its name is too long"
    return (getattr(error, "strerror", None) or str(error)).lower()
