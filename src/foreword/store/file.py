"""The file of a SQLite store: whether it can be one, and whether it is still the one that is open.

A file that was removed or replaced stays open for whoever has it, and takes writes that nobody will ever read. So each use of
the store looks once whether its path still leads to the file that was opened.
"""

from __future__ import annotations

import os
import stat

from ..errors import StoreError
from ..text.lines import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    Stamp = tuple[int, int]

_LOG, _INDEX = "-wal", "-shm"
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def shown(path: str) -> str:
    """A path as a message shows it."""
    return f"'{printable(path)}'"


def stamp(path: str) -> Stamp | None:
    """Which file a path leads to; None where there is none. A StoreError for what can be no store."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"the store {shown(path)} cannot be used: {error.strerror}") from None
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "no file")
        raise StoreError(f"the store {shown(path)} cannot be used: it is {kind}, and a store is a file")
    return found.st_dev, found.st_ino


def is_same(path: str, known: Stamp | None) -> bool:
    """Whether a path leads to the file that is known. The one look at the disk that each use of a store has."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == known


def log_stamp(path: str) -> Stamp | None:
    """Which file the write-ahead log beside a store is."""
    return stamp(path + _LOG)


def gone(path: str) -> StoreError:
    return StoreError(
        f"the store {shown(path)} cannot be used: its file is gone; put it back, or start again to make a new one"
    )


def set_log_aside(path: str, log: Stamp | None) -> None:
    """Take the log of the file that was open before out of the way: SQLite would read it into the one that is there now.

    One that still holds something is kept as `.old`: it belongs to the old file, wherever that is.
    """
    if log is None or log_stamp(path) != log:
        return
    try:
        if os.stat(path + _LOG).st_size:
            os.replace(path + _LOG, f"{path}{_LOG}.old")
        else:
            os.unlink(path + _LOG)
        os.unlink(path + _INDEX)
    except FileNotFoundError:
        pass
