"""Check whether a SQLite store's file can be used, and whether it is still the file that was opened.

If a file is deleted or replaced, a process that has it open continues to use the old file, and its writes are lost without an error.
So every use of the store first checks that the path still leads to the same file.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager

from ..errors import StoreError
from ..text.lines import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    FileId = tuple[int, int]

_WAL, _INDEX = "-wal", "-shm"
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def quote(path: str) -> str:
    """Return a path as it is shown in error messages."""
    return f"'{printable(path)}'"


def file_id(path: str) -> FileId | None:
    """Return a file's device and inode, or None if it does not exist. Raises a StoreError if it cannot be a store."""
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"the store {quote(path)} cannot be used: {error.strerror}") from None
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "a special file")
        raise StoreError(f"the store {quote(path)} cannot be used: it is {kind}, not a regular file")
    return status.st_dev, status.st_ino


def is_same_file(path: str, expected: FileId | None) -> bool:
    """Whether a path leads to the file with this id. Takes one `stat` call, because every use of a store checks this."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == expected


def wal_id(path: str) -> FileId | None:
    """Return the id of a store's write-ahead log, or None if there is none."""
    return file_id(path + _WAL)


def index_id(path: str) -> FileId | None:
    """Return the id of the index of a store's write-ahead log, which processes share, or None if there is none."""
    return file_id(path + _INDEX)


@contextmanager
def only_one_process(path: str) -> Iterator[None]:
    """Make other processes that replace the log of this store wait. The lock is on the directory: SQLite's own are on the file."""
    try:
        import fcntl

        directory = os.open(os.path.dirname(path), os.O_RDONLY)
    except (ImportError, OSError):  # a file that is open cannot be removed on Windows
        yield
        return
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        yield
    finally:
        os.close(directory)


def remove_index(path: str, expected: FileId | None) -> None:
    """Remove the index of a log that is gone, unless another process has already made a new one. A new log must not be read with it."""
    if expected is not None and index_id(path) == expected:
        os.unlink(path + _INDEX)


def missing_file_error(path: str) -> StoreError:
    return StoreError(
        f"the store {quote(path)} cannot be used: its file is gone; put it back, or restart to create a new one"
    )


def replaced_wal_error(path: str) -> StoreError:
    return StoreError(
        f"the store {quote(path)} cannot be used: its write-ahead log was replaced while it was open, and the last writes may be lost;"
        " verify the store, then try again"
    )


def move_wal_aside(path: str, wal: FileId | None) -> None:
    """Remove the write-ahead log of a replaced file, which SQLite would otherwise apply to its replacement.

    A log that is not empty is renamed to `.old`, because the old file may still need it.
    """
    if wal is None or wal_id(path) != wal:
        return
    try:
        if os.stat(path + _WAL).st_size:
            os.replace(path + _WAL, f"{path}{_WAL}.old")
        else:
            os.unlink(path + _WAL)
        os.unlink(path + _INDEX)
    except FileNotFoundError:
        pass
