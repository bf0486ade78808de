"""The disk without certain files, which look as if they did not exist."""

from __future__ import annotations

import os
from errno import ENOENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType
    from typing import Any


class DiskWithout:
    """The functions of the operating system that a reader calls, for a disk without these files."""

    read, fstat = staticmethod(os.read), staticmethod(os.fstat)

    def __init__(self, paths: Iterable[str]) -> None:
        self._names: dict[str, set[str]] = {}
        for path in paths:
            folder, name = os.path.split(path)
            self._names.setdefault(folder, set()).add(name)
        self._open_folders: dict[int, str] = {}

    def open(self, path: str, flags: int) -> int:
        self._check(path)
        descriptor = os.open(path, flags)
        if path in self._names:
            self._open_folders[descriptor] = path
        return descriptor

    def close(self, descriptor: int) -> None:
        self._open_folders.pop(descriptor, None)
        os.close(descriptor)

    def stat(self, path: str) -> os.stat_result:
        self._check(path)
        return os.stat(path)

    def lstat(self, path: str) -> os.stat_result:
        self._check(path)
        return os.lstat(path)

    def scandir(self, folder: Any) -> Any:
        path = self._open_folders.get(folder, "") if isinstance(folder, int) else folder
        return _Listing(os.scandir(folder), self._names.get(path, set()))

    def _check(self, path: str) -> None:
        folder, name = os.path.split(path)
        if name in self._names.get(folder, ()):
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT), path)


class _Listing:
    """The entries of a folder, without those with certain names."""

    def __init__(self, listing: Any, names: set[str]) -> None:
        self._listing, self._names = listing, names

    def __enter__(self) -> Iterator[os.DirEntry[str]]:
        self._listing.__enter__()
        return (entry for entry in self._listing if entry.name not in self._names)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._listing.close()
