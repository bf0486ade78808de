"""What files and directories contain, shared by readers that see the same moment of a disk.

Several layouts of one workspace look for the same files. With one `Contents`, each file is read once for all of them. Every reader
still decides for itself whether it may use a file: the real path that the file had when it was open is stored with it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import stat_result


class Contents:
    """The bytes of files and the names in directories, by path."""

    def __init__(self) -> None:
        self.folders: dict[str, tuple[Sequence[str], str]] = {}
        self._files: dict[str, tuple[bytes, int, stat_result, str]] = {}

    def file(self, path: str, limit: int) -> tuple[bytes, stat_result, str] | None:
        """At most one byte more than the limit, the status and the real path of a file. None if as much was not read."""
        known = self._files.get(path)
        if known is None or (len(known[0]) > known[1] and limit > known[1]):
            return None
        data, _, status, real = known
        return data[: limit + 1], status, real

    def keep_file(self, path: str, data: bytes, limit: int, status: stat_result, real: str) -> None:
        """Store what was read of a file with a limit. A file that was replaced meanwhile has no real path."""
        if real:
            self._files[path] = data, limit, status, real
