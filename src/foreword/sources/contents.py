"""A cache of files and directory listings, shared by readers that must see the same state of the disk.

Several layouts look for the same files in a workspace. With a shared `Contents`, each file is read only once. Every reader still
decides for itself whether it may use a file, by the real path that the file had while it was open.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence, Set
    from os import stat_result
    from typing import Any


class Contents:
    """The bytes of files and the names in directories, by path, and what lookup rules chose in a directory (see `choose_files`)."""

    def __init__(self) -> None:
        self.folders: dict[str, tuple[Sequence[str], str]] = {}
        self.choices: dict[Any, list[tuple[Any, ...]]] = {}
        self.identities: dict[str, tuple[int, int]] = {}  # of directories that exist
        self.absent: dict[str, str] = {}  # each missing path, and the directory whose stamp shows when it appears
        self._files: dict[str, tuple[bytes, int, stat_result, str]] = {}

    def forget(self, paths: Set[str]) -> None:
        """Forget these files and directories, and every choice that depends on one of them."""
        for path in paths:
            self._files.pop(path, None)
            self.folders.pop(path, None)
            self.identities.pop(path, None)
        self.absent = {
            path: folder for path, folder in self.absent.items() if path not in paths and folder not in paths
        }
        for key, known in self.choices.items():
            self.choices[key] = [choice for choice in known if paths.isdisjoint(choice[-1])]  # the last are its stamps

    def find_file(self, path: str, limit: int) -> tuple[bytes, stat_result, str] | None:
        """Return a file's data (at most one byte more than the limit), status and real path, or None if too little of it is cached."""
        cached = self._files.get(path)
        if cached is None or (len(cached[0]) > cached[1] and limit > cached[1]):
            return None
        data, _, status, real = cached
        return data[: limit + 1], status, real

    def store_file(self, path: str, data: bytes, limit: int, status: stat_result, real: str) -> None:
        """Store a file's data, read up to a limit. A file without a real path was replaced in the meantime and is not stored."""
        if real:
            self._files[path] = data, limit, status, real
