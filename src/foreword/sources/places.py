"""What is at a path: a file, a directory, a link or nothing. Each answer is remembered together with what would make it stale."""

from __future__ import annotations

import os
import stat
from errno import EACCES, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, ENXIO, EPERM

from ..vocabulary import digest
from .paths import is_inside
from .stamps import UNSTABLE, stamp_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any, Protocol

    from .readings import Reading, Refusal
    from .stamps import Stamp

    class Disk(Protocol):
        """The operating system functions that a reader calls; the `os` module has them all."""

        open: Any
        read: Any
        close: Any
        fstat: Any
        stat: Any
        lstat: Any
        scandir: Any

    class ReadGuard(Protocol):
        """Decides whether a path may be read: by its name before it is opened, then by the open file's real path."""

        def refusal(
            self, reader: Places, path: str, real: str | None = None, is_folder: bool = False
        ) -> Refusal | None: ...


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
# Opens a path without reading the file or its folder. Only Linux has this flag.
_PATH_ONLY = os.O_PATH | os.O_CLOEXEC if hasattr(os, "O_PATH") else 0
_MAX_TRIES = 4
_HAS_SLASHES = os.sep == "/"
_DELETED_SUFFIX = " (deleted)"
# Why an open file or directory without a real path may not be read.
REPLACED: Refusal = ("unreadable", "it was replaced while it was being opened", "file-unreadable")
_IMPOSSIBLE_PATH = "/\0"  # a path that cannot exist and contains nothing


class Walked:
    """The names that one walk has found in folders. They are in lower case, because some file systems ignore the case.

    Folders in `requested` are searched even if nothing is there.
    """

    def __init__(self) -> None:
        self._listings: dict[str, Collection[str]] = {}
        self._names: dict[str, frozenset[str]] = {}  # of the folders that were asked for: most never are
        self.requested: set[str] = set()

    def add(self, listings: Mapping[str, Collection[str]]) -> None:
        """Add the names in folders."""
        self._listings.update(listings)
        self._names.clear()

    def names(self, folder: str) -> frozenset[str] | None:
        """Return the names in a folder, or None if the walk has not listed it, or if nothing in it can be looked up."""
        known = self._names.get(folder)
        if known is None and folder in self._listings and os.access(folder, os.X_OK):
            known = self._names[folder] = frozenset(map(str.lower, self._listings[folder]))
        return known

    def folder_without(self, path: str) -> str | None:
        """Return the folder in which a path, or one above it, is missing, or None if that is not known."""
        folder = parent_folder(path)
        while folder not in self._listings and folder != path and self._listings:
            path, folder = folder, parent_folder(folder)
        name, names = path[path.rfind("/") + 1 :], self.names(folder)
        return None if names is None or name in ("", ".", "..") or name.lower() in names else folder

    def mixed(self, folder: str) -> frozenset[str]:
        """Return the names in a folder that several entries have in different cases."""
        listing = self._listings.get(folder, ())
        if len(listing) == len(self.names(folder) or ()):
            return frozenset()
        lower = sorted(map(str.lower, listing))
        return frozenset(name for number, name in enumerate(lower[1:]) if name == lower[number])

    def may_contain(self, folder: str, names: frozenset[str]) -> bool:
        """Whether a folder may contain one of these names, which are in lower case."""
        known = self.names(folder)
        return known is None or folder in self.requested or not known.isdisjoint(names)

    def has_one_case(self, folder: str, name: str) -> bool:
        """Whether no other entry of a folder has this name in a different case."""
        return folder in self._listings and name.lower() not in self.mixed(folder)


class Known:
    """What readers of the same state of the disk share: files, directories, missing paths, and what lookup rules chose (see `choose_files`).

    Several layouts look for the same files in a workspace; each is then read only once. Every reader still decides for itself whether
    it may use a file, by the real path that the file had while it was open.
    """

    def __init__(self) -> None:
        self.listings: dict[str, tuple[list[str], str]] = {}
        self.choices: dict[Any, list[tuple[Any, ...]]] = {}
        self.folders: dict[str, tuple[int, int]] = {}  # the identities of directories that exist
        self.absent: dict[str, str] = {}  # each missing path, and the directory whose stamp shows when it appears
        self.walked = Walked()
        self.decoded: dict[tuple[Any, ...], tuple[bytes, Reading]] = {}
        self._files: dict[str, tuple[bytes, int, os.stat_result, str]] = {}
        self._digests: dict[str, str] = {}

    def digest(self, text: str) -> str:
        """Return a text's hash. Texts that layouts read in different ways are mostly the same."""
        if text not in self._digests:
            self._digests[text] = digest(text)
        return self._digests[text]

    def folder_without(self, path: str) -> str | None:
        """Return the directory whose stamp shows when a path appears, if the path is known to be missing."""
        folder = self.absent.get(path)
        if folder is None and (folder := self.walked.folder_without(path)):
            self.absent[path] = folder
        return folder

    def forget(self, paths: set[str]) -> None:
        """Forget these files and directories, and every choice that depends on one of them."""
        for path in paths:
            self._files.pop(path, None)
            self.listings.pop(path, None)
            self.folders.pop(path, None)
        self.absent = {
            path: folder for path, folder in self.absent.items() if path not in paths and folder not in paths
        }
        for key, known in self.choices.items():
            self.choices[key] = [choice for choice in known if paths.isdisjoint(choice[-1])]  # the last are its stamps

    def find_file(self, path: str, limit: int) -> tuple[bytes, os.stat_result, str] | None:
        """Return a file's data (at most one byte more than the limit), status and real path, or None if too little of it is known."""
        known = self._files.get(path)
        if known is None or (len(known[0]) > known[1] and limit > known[1]):
            return None
        data, _, status, real = known
        return data[: limit + 1], status, real

    def add_file(self, path: str, data: bytes, limit: int, status: os.stat_result, real: str) -> None:
        """Add a file's data, read up to a limit, and the real path that it had while it was open."""
        self._files[path] = data, limit, status, real


class Places:
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

    def add_stamps(self, stamps: Mapping[str, Stamp]) -> None:
        """Add stamps that were taken apart. A path that changed between two of them counts as unstable."""
        for path, stamp in stamps.items():
            if self.stamps.setdefault(path, stamp) != stamp:
                self.mark_unstable(path)

    def mark_unstable(self, path: str) -> None:
        """Make a path count as changed at the next check, regardless of its stamp."""
        self.stamps[path] = UNSTABLE

    def stamp_after(self, path: str, error: OSError | ValueError) -> None:
        """Stamp a path that could not be examined. An error that may go away by itself, such as too many open files, makes it unstable."""
        self.stamp(path)
        if getattr(error, "errno", ENOENT) not in _PERMANENT_ERRORS:
            self.mark_unstable(path)

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

    def exists(self, path: str) -> bool:
        """Whether a path exists, even as a dangling link or as something that cannot be examined."""
        try:
            self.disk.lstat(path)
        except OSError as error:
            return error.errno not in ABSENT_ERRORS
        except ValueError:
            return False
        return True

    def is_link(self, path: str) -> bool:
        """Whether a path is itself a link."""
        try:
            return stat.S_ISLNK(self.disk.lstat(path).st_mode)
        except (OSError, ValueError):
            return False

    def has_link(self, path: str, top: str) -> bool:
        """Whether a path below `top` is a link or goes through one. Each path is looked up only once."""
        while path != top and is_inside(path, top):
            if path not in self._links:
                self._links[path] = self.is_link(path)
            if self._links[path]:
                return True
            path = parent_folder(path)
        return False

    def leads_out(self, path: str, top: str) -> bool:
        """Whether the real path of a path below `top` is outside it because of a link."""
        if not self.has_link(path, top):
            return False
        real, real_top = real_path(path), real_path(top)
        self.stamp_up_to(parent_folder(real), real_top)
        return not is_inside(real, real_top)


class Folders(Places):
    """Examines directories: whether they exist, what they contain, and why they cannot be listed. Each is looked up once."""

    def __init__(self, disk: Any = os, known: Known | None = None) -> None:
        super().__init__(disk)
        self.known = known
        self._folders: set[str] = set()  # those that exist
        self._missing: set[str] = set()
        self._problems: dict[str, str] = {}

    def is_folder(self, path: str) -> bool:
        """Whether a directory exists. For a missing directory, the nearest existing one above it is stamped."""
        exists = self._find_folder(path)
        if exists is None and self.known:
            exists = self._recall_folder(path, self.known)
        if exists is None and self._find_folder(parent_folder(path)) is None:
            # A single `stat` answers for an existing directory; those above it need no checks then.
            try:
                status = self.disk.stat(path)
                if stat.S_ISDIR(status.st_mode):
                    exists = self._add_folder(path, status)
            except (OSError, ValueError):
                pass
        if exists is None:
            unknown_paths = [path]  # a loop, because a long path would exceed the recursion limit
            while unknown_paths[-1] != "/" and self._find_folder(parent_folder(unknown_paths[-1])) is None:
                unknown_paths.append(parent_folder(unknown_paths[-1]))
            for unknown_path in reversed(unknown_paths):
                exists = self._look_for_folder(unknown_path)
                if not exists:
                    self._missing.add(unknown_path)
        return bool(exists)

    def _find_folder(self, path: str) -> bool | None:
        """Return whether a directory exists, or None if it has not been looked up."""
        return True if path in self._folders else False if path in self._missing else None

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
            self.stamp_after(path, error)
            return [], ("unreadable", explain(error), "file-unreadable")

    def _guarded_entries(self, path: str, guard: ReadGuard) -> tuple[list[str], Refusal | None]:
        """Return the names in the directory that is opened, even if its path leads to another one later, or why it may not be read."""
        known = self.known.listings.get(path) if self.known else None
        if known:
            refusal = guard.refusal(self, path, known[1], is_folder=True)
            return ([], refusal) if refusal else (list(known[0]), None)
        descriptor = self.disk.open(path, FOLDER_FLAGS)
        try:
            real = self.real_path_of(descriptor, path)
            refusal = guard.refusal(self, path, real, is_folder=True) if real else REPLACED
            if refusal:
                self.mark_unstable(path)
                return [], refusal
            with self.disk.scandir(descriptor) as listing:
                names = sorted(entry.name for entry in listing)
            if self.known:
                self.known.listings[path] = names, real
            return names, None
        finally:
            self.disk.close(descriptor)

    def real_path_of(self, descriptor: int, path: str) -> str:
        """Return an open file's real path, or empty if it is unknown because the path now leads to another file."""
        real = path_of_open_file(descriptor)
        if real and not real.endswith(_DELETED_SUFFIX):
            return real
        try:
            status = self.disk.fstat(descriptor)
            if real:
                return real if status.st_nlink else real.removesuffix(_DELETED_SUFFIX)
            real = getattr(self.disk, "real_path", real_path)(path)
            current = self.disk.lstat(real)
        except (OSError, ValueError):
            return ""
        return real if (current.st_dev, current.st_ino) == (status.st_dev, status.st_ino) else ""

    def problem(self, path: str) -> str:
        """Return why a directory, or one above it, could not be examined, or empty if it is only missing."""
        while self._problems and path not in self._problems and path != parent_folder(path):
            path = parent_folder(path)
        return self._problems.get(path, "")

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

    def _look_for_folder(self, path: str) -> bool:
        """Whether a directory exists, if the one above it has been looked up."""
        folder = parent_folder(path)
        if path != "/" and folder in self._missing:
            if self.known and folder in self.known.absent:
                self.known.absent[path] = self.known.absent[folder]
            return False
        while True:
            try:
                status = self.disk.stat(path)
            except (OSError, ValueError) as error:
                is_absent = getattr(error, "errno", ENOENT) in ABSENT_ERRORS
                if is_absent and folder not in self.stamps:
                    self.stamp(folder)
                    continue  # it may have been created before its parent was stamped
                self._note_failure(path, folder, error, is_absent)
                return False
            if stat.S_ISDIR(status.st_mode):
                return self._add_folder(path, status)
            self.stamps[path] = stamp_of(status)
            return False

    def _note_failure(self, path: str, folder: str, error: OSError | ValueError, is_absent: bool) -> None:
        """Remember that a path could not be looked up in its folder, and what would make that stale."""
        if not is_absent and getattr(error, "errno", None) != ELOOP:
            self._problems[path] = explain(error)
        if not is_absent or self.is_link(path):
            self.stamp_after(path, error)
        elif self.known:
            self.known.absent[path] = folder

    def _add_folder(self, path: str, status: os.stat_result) -> bool:
        self._folders.add(path)
        self._identities[path] = status.st_dev, status.st_ino
        if self.known:
            self.known.folders[path] = status.st_dev, status.st_ino
        return True

    def _recall_folder(self, path: str, known: Known) -> bool | None:
        """Return whether a directory exists, if another reader has looked for it, or None."""
        if path in known.folders:
            self._identities[path] = known.folders[path]
            self._folders.add(path)
        elif self._is_known_absent(path):
            self._missing.add(path)
        return self._find_folder(path)

    def _is_known_absent(self, path: str) -> bool:
        """Whether another reader has found a path missing. The directory in which it would appear is stamped here too."""
        folder = self.known.folder_without(path) if self.known else None
        if folder:
            self.stamp(folder)
        return folder is not None


def parent_folder(path: str) -> str:
    """Return the parent of an absolute path. This is faster than `os.path.dirname`."""
    return path[: path.rfind("/")] or "/" if _HAS_SLASHES else os.path.dirname(path)


def real_path(path: str) -> str:
    """Return the path with links resolved. Retries if a link disappears in the meantime, and finally returns a path that cannot exist."""
    if _PATH_ONLY:
        # The kernel knows the real path of an existing file, which takes three calls instead of one for each folder.
        try:
            descriptor = os.open(path, _PATH_ONLY)
            try:
                resolved = path_of_open_file(descriptor)
            finally:
                os.close(descriptor)
        except OSError:
            resolved = ""
        if resolved.startswith("/") and not resolved.endswith(_DELETED_SUFFIX):
            return resolved
    for _ in range(_MAX_TRIES):
        try:
            return os.path.realpath(path)
        except OSError:
            continue
    return _IMPOSSIBLE_PATH


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
    if getattr(error, "errno", None) == ENXIO:
        return "it is a socket or a device, not a file"
    return (getattr(error, "strerror", None) or str(error)).lower()
