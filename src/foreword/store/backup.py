"""Save a SQLite store in one file, and restore it, while other processes use it. A copy is verified before it replaces anything."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, contextmanager

from ..errors import CallError, StoreError
from . import local_path
from .file import file_id, quote
from .sqlite import SqliteStore
from .sqlite_connection import BUSY_TIMEOUT, busy_error, checkpoint, connect, failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_FOR_POSTGRES = {
    "backup": "PGOPTIONS='-c foreword.team=*' pg_dump --enable-row-security --format=custom --table='foreword_*' --file=FILE URL",
    "restore": "pg_restore --clean --if-exists --single-transaction --dbname=URL FILE",
}


def back_up(url: str, path: str) -> dict[str, int]:
    """Save the store at a URL in a new file, and return how much it contains. Raises a CallError if the file exists."""
    source = _file_of(url, "backup")
    if os.path.lexists(path):
        raise CallError(f"the file {quote(path)} exists already; choose another name, or remove it first")
    with _copy_of(source, path) as (copy, stats):
        _use_one_file(copy)
        try:
            os.link(copy, path)  # unlike a rename, this never replaces a file that has appeared in the meantime
        except FileExistsError:
            raise CallError(f"the file {quote(path)} exists already; choose another name, or remove it first") from None
        except OSError:  # the file system has no links
            os.rename(copy, path)
    return stats


def restore(url: str, path: str) -> dict[str, int]:
    """Make the store at a URL contain what was saved in a file, and return how much that is.

    A backup of an older version is migrated first. Other processes can go on using the store.
    """
    target = _file_of(url, "restore")
    path = os.path.abspath(path)
    if file_id(path) is None:
        raise CallError(f"there is no file {quote(path)}")
    if os.path.exists(target) and os.path.samefile(path, target):
        raise CallError(f"{quote(path)} is the store itself; pass the file that foreword store backup has written")
    with _copy_of(path, target) as (copy, stats):
        if file_id(target) is None:
            _use_one_file(copy)
            os.rename(copy, target)
        else:
            with closing(_open(copy)) as backup, closing(_open(target)) as store:
                _copy(backup, store, target)
                checkpoint(store)
    return stats


def _file_of(url: str, command: str) -> str:
    path = local_path(url)
    if path is None:
        raise CallError(
            f"foreword store {command} is for SQLite; PostgreSQL has its own programs, with the store's URL and without our"
            f" parameters such as pool_size: {_FOR_POSTGRES[command]}"
        )
    if not path:
        raise CallError("a store in memory is lost when its process ends, and cannot be saved or restored")
    return os.path.abspath(path)


@contextmanager
def _copy_of(source: str, target: str) -> Iterator[tuple[str, dict[str, int]]]:
    """Make a verified copy of a store in the folder of `target`. Yields its path, and how much it contains."""
    copy = f"{os.path.abspath(target)}.{os.getpid()}.part"
    try:
        os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise StoreError(f"the file {quote(copy)} cannot be created: {error.strerror}") from None
    try:
        with closing(_open(source)) as store, closing(_open(copy)) as new:
            _copy(store, new, source)
        with closing(SqliteStore(copy)) as opened:
            problems = opened.verify()
            if problems:
                more = f", and {len(problems) - 1} more problems" if len(problems) > 1 else ""
                raise StoreError(f"{quote(source)} is damaged, and nothing was changed: {problems[0]}{more}")
            stats = opened.stats()
        yield copy, stats
    finally:
        for suffix in ("", "-wal", "-shm"):
            try:
                os.unlink(copy + suffix)
            except FileNotFoundError:
                pass


def _open(path: str) -> sqlite3.Connection:
    return connect(path, must_exist=True)


def _copy(source: sqlite3.Connection, target: sqlite3.Connection, path: str) -> None:
    """Copy a whole database in one step, which reads it as it is at one moment. Waits a few seconds for other writers."""
    deadline = time.monotonic() + BUSY_TIMEOUT

    def give_up(status: int, _left: int, _total: int) -> None:
        if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) and time.monotonic() > deadline:
            raise busy_error(path)

    try:
        source.backup(target, pages=-1, progress=give_up, sleep=0.05)
    except sqlite3.Error as error:
        raise failure(path, error) from error


def _use_one_file(path: str) -> None:
    """Turn off the write-ahead log of a copy, so that the file is complete without it, and wait until it is on the disk."""
    with closing(_open(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
