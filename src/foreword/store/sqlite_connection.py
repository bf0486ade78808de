"""Connections to a SQLite store: opening and creating files, migrating their tables, and the errors that SQLite reports."""

from __future__ import annotations

import os
import sqlite3
import time

from ..errors import StoreBusyError, StoreError
from .file import quote
from .pool import fork_count
from .upgrade import convert_time, to_version_4
from .versions import LATEST, LOWEST, SchemaVersion, expanded, must_migrate, schema, steps_of_new

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    T = TypeVar("T")

BUSY_TIMEOUT = 5.0
_LOG_TIMEOUT = 1.0
_LOWEST = 1000
# "FwdS", which marks a database file as ours.
_APPLICATION_ID = 0x46776453


def open_file(path: str, must_exist: bool = False) -> sqlite3.Connection:
    """Open a store and migrate its tables. Unless `must_exist`, a missing file and its directories are created."""
    try:
        if path and not must_exist:
            _make_directory(os.path.dirname(path))
        is_new = bool(path) and not os.path.exists(path)
        connection = connect(path, must_exist)
        try:
            if is_new:
                # Do not use a file descriptor here: closing it would release this process's locks on the file.
                os.chmod(path, 0o600)
            migrate(connection)
        except BaseException as error:
            connection.close()
            if isinstance(error, StoreError):
                raise StoreError(f"the store {quote(path)} cannot be used: {error}") from None
            raise
        return connection
    except OSError as error:
        raise StoreError(f"the store {quote(path)} cannot be created: {error.strerror or error}") from error
    except sqlite3.Error as error:
        raise failure(path, error) from error


def _make_directory(path: str) -> None:
    """Create a directory and its parents with access only for the user: prompts may reveal more than their source files."""
    if os.path.isdir(path):
        return
    _make_directory(os.path.dirname(path))
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            raise


class _ClosingConnection(sqlite3.Connection):
    """A connection that closes itself when it is deleted. Python may delete it before its pool and would otherwise print a warning."""

    _forks = -1  # if `__init__` fails

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._forks = fork_count()

    def __del__(self) -> None:
        if self._forks == fork_count():  # a parent's connection must not be closed in its child
            self.close()


def connect(path: str, must_exist: bool = False, timeout: float | None = None) -> sqlite3.Connection:
    """Connect to the file at a path. Unless `must_exist`, a missing file is created."""
    timeout = BUSY_TIMEOUT if timeout is None else timeout
    database = _uri(path) if must_exist else path or ":memory:"
    connection = None
    try:
        connection = sqlite3.connect(
            database,
            timeout=timeout,
            isolation_level=None,
            check_same_thread=False,
            uri=must_exist,
            factory=_ClosingConnection,
        )
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")  # otherwise forgotten text would remain in the file
        return connection
    except sqlite3.Error as error:
        if connection is not None:
            connection.close()
        raise failure(path, error) from error


def without_waiting(work: Callable[[sqlite3.Connection], T]) -> Callable[[sqlite3.Connection], T]:
    """Return the same work, but failing immediately if another process is writing."""

    def fail_if_busy(connection: sqlite3.Connection) -> T:
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            return work(connection)
        finally:
            connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT * 1000:.0f}")

    return fail_if_busy


def checkpoint(connection: sqlite3.Connection) -> None:
    """Move the content of the write-ahead log into the file, unless another process is using it."""
    try:
        connection.execute("PRAGMA busy_timeout = 1000")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error:
        pass


def empty_log(connection: sqlite3.Connection) -> bool:
    """Move the content of the write-ahead log into the file, and cut the log to nothing. Returns False if it is in use elsewhere."""
    connection.execute(f"PRAGMA busy_timeout = {_LOG_TIMEOUT * 1000:.0f}")
    try:
        return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    finally:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT * 1000:.0f}")


def _uri(path: str) -> str:
    """Return a URI that makes SQLite open the file at a path without creating it."""
    for character in "%?#":
        path = path.replace(character, f"%{ord(character):02x}")
    return f"file://{'' if path.startswith('/') else '/'}{path}?mode=rw"


def migrate(
    connection: sqlite3.Connection,
    steps: Callable[[int], list[str]] = lambda version: schema("sqlite", version),
    latest: int = LATEST,
    lowest: int = LOWEST,
) -> None:
    """Expand the tables to the latest version in one transaction. If several processes try at the same time, only one does it."""
    connection.execute("BEGIN")
    found = version_of(connection)
    connection.execute("ROLLBACK")
    if not must_migrate(found, latest):
        if connection.execute("PRAGMA journal_mode").fetchone()[0] == "delete":
            _use_wal(connection)  # another program has turned it off, so readers would wait for writers
        return
    _use_wal(connection)
    connection.execute("BEGIN IMMEDIATE")
    found = version_of(connection)
    for version in range(found.version + 1, latest + 1) if must_migrate(found, latest) else ():
        for statement in [*steps(version), *steps_of_new("sqlite", version, found)]:
            connection.execute(statement)
        if version == 4:
            connection.create_function("foreword_time", 1, convert_time)
            to_version_4(lambda statement, key: connection.execute(statement, key).fetchall(), "foreword_time")
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    _record(connection, expanded(found, latest, lowest) if found.version < latest else found)
    connection.execute("COMMIT")


def drop_old_tables(
    connection: sqlite3.Connection,
    steps: Callable[[int], list[str]] = lambda version: schema("sqlite", version, is_contract=True),
) -> SchemaVersion:
    """Remove what only an older Foreword needs, in one transaction. Returns the version."""
    connection.execute("BEGIN IMMEDIATE")
    found = version_of(connection)
    for version in range(found.lowest + 1, found.version + 1):
        for statement in steps(version):
            connection.execute(statement)
    contracted = _record(connection, SchemaVersion(found.version, found.version))
    connection.execute("COMMIT")
    return contracted


def _record(connection: sqlite3.Connection, version: SchemaVersion) -> SchemaVersion:
    """Store both numbers in the only one that SQLite has room for. If they are equal, it is just the version."""
    lowest = version.lowest if version.lowest != version.version else 0
    connection.execute(f"PRAGMA user_version = {lowest * _LOWEST + version.version}")
    return version


def version_of(connection: sqlite3.Connection) -> SchemaVersion:
    """Return the version of the file's tables. Raises a StoreError if another program wrote it."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    is_empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if application != _APPLICATION_ID and not (is_empty and version == 0):
        raise StoreError("the file is another program's database; choose a different file")
    lowest, version = divmod(version, _LOWEST)
    return SchemaVersion(version, lowest or version)


def _use_wal(connection: sqlite3.Connection) -> None:
    """Turn on the write-ahead log permanently. Retries, because SQLite's busy timeout does not apply to this."""
    deadline = time.monotonic() + BUSY_TIMEOUT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


# Errors

_FAILURES = {
    "SQLITE_FULL": "the disk is full; nothing was written, and stored data is intact",
    "SQLITE_IOERR": "the disk failed to read or write; nothing was written",
    "SQLITE_READONLY": "it is read-only",
    "SQLITE_CANTOPEN": "it cannot be opened or created there",
    "SQLITE_PERM": "permission to open it was denied",
    "SQLITE_NOTADB": "the file is not a SQLite database",
    "SQLITE_CORRUPT": "the file is damaged; verify the store to find out where, if it can still be read",
}


def failure(path: str, error: sqlite3.Error) -> StoreError:
    if is_busy_error(error):
        return busy_error(path)
    name = getattr(error, "sqlite_errorname", "")
    reason = next((message for code, message in _FAILURES.items() if name.startswith(code)), str(error))
    return StoreError(f"the store {quote(path or ':memory:')} cannot be used: {reason}")


def busy_error(path: str) -> StoreBusyError:
    """Return the error for a call that another process prevented, although the file can be used."""
    return StoreBusyError(
        f"the store {quote(path or ':memory:')} did not complete the call: another process has locked it"
        f" for {BUSY_TIMEOUT:.0f} seconds"
    )


def is_busy_error(error: BaseException | None) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY")


def is_damage_error(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))


def roll_back(connection: sqlite3.Connection) -> None:
    """Roll back the transaction. If that fails, SQLite has already rolled back, or will when the file is next opened."""
    try:
        connection.execute("ROLLBACK")
    except sqlite3.Error:
        pass
