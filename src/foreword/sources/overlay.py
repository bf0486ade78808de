"""A repository's shared files as a disk, with changes that exist only in memory.

`SharedFiles` are the files that git tracks or would offer to add: everybody who clones the repository can have them. On an `Overlay`,
nothing else exists, neither ignored files nor anything outside the repository, so that what a reader finds does not depend on the
machine. It has the functions of the operating system that a reader calls.
"""

from __future__ import annotations

import os
import stat
from errno import ENOENT, ENOTDIR

from .paths import is_inside
from .places import OPEN_FLAGS, Folders, real_path
from .reader import LIMIT
from .tree_listings import join, resolve_links

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import TracebackType

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_OUTSIDE = "/".join([".."] * 100)  # an absolute link leads elsewhere on every machine


class SharedFiles:
    """The names of a repository's files, relative to the root, and their content, which is read once. `links` have their targets."""

    def __init__(self, root: str, names: Iterable[str], links: Iterable[str] = (), is_repository: bool = True) -> None:
        self.root, self.is_repository = root, is_repository
        self._real_root, self._places = real_path(root), Folders()
        self.names = frozenset(names)
        self.children = _children(self.names)
        self.links = {link: target for link in links for target in [self._target(link)] if target}
        self._contents: dict[str, tuple[bytes, int]] = {}
        self._numbers: dict[str, int] = {}

    def read(self, name: str) -> tuple[bytes, int]:
        """Return the start of a file, at most one byte more than a reader's limit, and its size. Raises OSError if it cannot be read."""
        if name not in self._contents:
            path = os.path.join(self.root, name)
            descriptor = os.open(path, OPEN_FLAGS | _NOFOLLOW)
            try:
                status = os.fstat(descriptor)
                # What git calls a folder may be a link on this disk, and lead out of the repository.
                if not stat.S_ISREG(status.st_mode) or not is_inside(
                    self._places.real_path_of(descriptor, path), self._real_root
                ):
                    raise FileNotFoundError(ENOENT, os.strerror(ENOENT), name)
                self._contents[name] = os.read(descriptor, LIMIT + 1), status.st_size
            finally:
                os.close(descriptor)
        return self._contents[name]

    def text(self, name: str) -> str | None:
        """Return a file's text with its line endings and BOM, or None if it is not a file with UTF-8 text below the reader's limit."""
        try:
            data, size = self.read(self.resolve(name))
            return data.decode() if size <= LIMIT else None
        except (OSError, UnicodeDecodeError):
            return None

    def resolve(self, name: str) -> str:
        """Return a name without links."""
        return resolve_links(name, self.links)

    def number(self, name: str) -> int:
        """Return a number that is the same for the same name."""
        return self._numbers.setdefault(name, len(self._numbers) + 2)

    def _target(self, link: str) -> str:
        try:
            target = os.readlink(os.path.join(self.root, link))
        except OSError:  # git has a link here, but on this disk it is a file
            return ""
        return _OUTSIDE if os.path.isabs(target) else target


class Asked:
    """What readers have asked for: the names of missing files and folders, and those of folders that were listed."""

    def __init__(self) -> None:
        self.missing: set[str] = set()
        self.listed: set[str] = set()


class Overlay:
    """The shared files with changes: new content by name, or None for a file that is deleted. `links` are new ones, with their targets.

    `asked` receives what readers ask for.
    """

    def __init__(
        self,
        files: SharedFiles,
        changes: Mapping[str, bytes | None],
        links: Mapping[str, str] | None = None,
        asked: Asked | None = None,
    ) -> None:
        self.files, self.asked = files, asked or Asked()
        self.links = {**files.links, **links} if links else files.links
        self._changes = {files.resolve(name): content for name, content in changes.items()}
        self._children = _with_changes(files, {**self._changes, **dict.fromkeys(links or (), b"")})
        self._open: dict[int, tuple[str, bytes]] = {}
        self._above = set(_folders_above(files.root))
        self._last = -1

    def open(self, path: str, flags: int) -> int:
        name = self._find(path)
        self._last -= 1  # negative, so that it is never the number of a file that is really open
        self._open[self._last] = path, b"" if self._is_folder(path, name) else self._content(name, path)[0]
        return self._last

    def read(self, descriptor: int, count: int) -> bytes:
        path, data = self._open[descriptor]
        self._open[descriptor] = path, data[count:]
        return data[:count]

    def close(self, descriptor: int) -> None:
        del self._open[descriptor]

    def fstat(self, descriptor: int) -> os.stat_result:
        return self.stat(self._open[descriptor][0])

    def stat(self, path: str) -> os.stat_result:
        name = self._find(path)
        if self._is_folder(path, name):
            return _status(stat.S_IFDIR | 0o755, self.files.number(path if name is None else name), 0)
        return _status(stat.S_IFREG | 0o644, self.files.number(name or ""), self._content(name, path)[1])

    def lstat(self, path: str) -> os.stat_result:
        folder, last = os.path.split(path)
        name = join(self._find(folder) or "", last)
        if name in self.links and self._find(folder) is not None:
            return _status(stat.S_IFLNK | 0o777, self.files.number(f"link {name}"), 0)
        return self.stat(path)

    def scandir(self, folder: str | int) -> _Entries:
        path = self._open[folder][0] if isinstance(folder, int) else folder
        name = self._find(path)
        if not self._is_folder(path, name):
            raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR), path)
        self.asked.listed.add(name or "")
        return _Entries(() if name is None else self._children[name])

    def has_folder(self, name: str) -> bool:
        """Whether there is a folder with this name, relative to the root."""
        return self.resolve(name) in self._children

    def resolve(self, name: str) -> str:
        """Return a name without links."""
        return resolve_links(name, self.links)

    def real_path(self, path: str) -> str:
        """Return a path without links."""
        name = self._find(path)
        return path if name is None else os.path.join(self.files.root, name).rstrip("/")

    def _find(self, path: str) -> str | None:
        """Return a path relative to the root and without links, or None if it is not below the root."""
        root = self.files.root
        if path == root:
            return ""
        return self.resolve(path[len(root) + 1 :]) if path.startswith(root + "/") else None

    def _is_folder(self, path: str, name: str | None) -> bool:
        if name is None:
            return path in self._above
        return name in self._children or (name == ".git" and self.files.is_repository)

    def _content(self, name: str | None, path: str) -> tuple[bytes, int]:
        content = self._changes.get(name) if name is not None else None
        if content is not None:
            return content, len(content)
        if name is None or name in self._changes or name not in self.files.names:
            self.asked.missing.add(name or "")
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT), path)
        return self.files.read(name)


class _Entry:
    """One name in a folder."""

    def __init__(self, name: str) -> None:
        self.name = name


class _Entries:
    """The names in a folder, in the form of `os.scandir`."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = names

    def __enter__(self) -> Iterator[_Entry]:
        return map(_Entry, self._names)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        pass


def _children(names: Iterable[str]) -> dict[str, set[str]]:
    """Return the names in each folder. The root's name is empty."""
    children: dict[str, set[str]] = {"": set()}
    for name in names:
        folder, _, last = name.rpartition("/")
        while last not in children.setdefault(folder, set()):
            children[folder].add(last)
            if not folder:
                break
            folder, _, last = folder.rpartition("/")
    return children


def _with_changes(files: SharedFiles, changes: Mapping[str, bytes | None]) -> dict[str, set[str]]:
    """Return the names in each folder after changes. Folders that stay the same are shared, not copied."""
    created = _children(name for name, content in changes.items() if content is not None and name not in files.names)
    children = dict(files.children)
    for folder, names in created.items():
        children[folder] = children.get(folder, set()) | names
    for name in (name for name, content in changes.items() if content is None):
        folder, _, last = name.rpartition("/")
        children[folder] = children.get(folder, set()) - {last}
    return children


def _status(mode: int, number: int, size: int) -> os.stat_result:
    times = {"st_atime_ns": 0, "st_mtime_ns": 0, "st_ctime_ns": 0}
    return os.stat_result((mode, number, 1, 1, 0, 0, size, 0, 0, 0), times)


def _folders_above(path: str) -> Iterator[str]:
    while path != (path := os.path.dirname(path)):
        yield path
