"""The SQLite store, in one file or in memory.

The file is in WAL mode, so readers never wait for a writer, with synchronous=NORMAL: committed data survives a crash of the process,
and a power failure may lose the last commits but never damages the file. An edition that is lost this way is built again. A version of
the template is a person's work, so its commit waits for the disk.
"""

from __future__ import annotations

import os
import sqlite3
import time
from _thread import allocate_lock

from ..errors import StoreError
from . import waits
from .file import (
    file_id,
    index_id,
    is_same_file,
    missing_file_error,
    move_wal_aside,
    only_one_process,
    remove_index,
    replaced_wal_error,
    wal_id,
)
from .leasing import LeasingStore
from .pool import ConnectionPool, fork_count
from .spans import span
from .sqlite_connection import (
    BUSY_TIMEOUT,
    busy_error,
    checkpoint,
    connect,
    drop_old_tables,
    empty_log,
    failure,
    is_busy_error,
    is_damage_error,
    open_file,
    roll_back,
    version_of,
    without_waiting,
)
from .texts import pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeVar

    from .file import FileId
    from .team_store import Rows
    from .texts import Packed
    from .versions import SchemaVersion

    T = TypeVar("T")

# For this many seconds after a write has timed out, other writes fail immediately instead of waiting.
_BUSY_PAUSE = 2.0
_DATA_VERSION = "PRAGMA data_version"
_SELECT_ROW_ID = "SELECT id FROM foreword_texts WHERE team = ? AND hash = ?"
_PUBLISH_KNOWN = """
    INSERT INTO foreword_editions (team, conversation, number, content, kind, created, created_text, state)
    SELECT ?, ?, 1, id, kind, ?, ?, ? FROM foreword_contents
    WHERE team = ? AND hash = ? AND NOT EXISTS (SELECT 1 FROM foreword_editions WHERE team = ? AND conversation = ?)
    RETURNING kind
"""
_ADD_TEXT = "INSERT INTO foreword_texts (team, hash, form, body) VALUES (?, ?, ?, ?)"


class SqliteStore(LeasingStore):
    """A `Store` in the file at `path`, or in memory if that is empty. Safe to use from several threads."""

    NOW = "CAST(strftime('%s', 'now') AS INTEGER)"
    # The ids of conversations are random, so that even a small batch writes nearly every page of their indexes.
    BATCH_SIZE = 4000

    def __init__(self, path: str) -> None:
        super().__init__()
        # The path is absolute, so that later connections find it after a chdir, and because SQLite treats `file:…` as a URI.
        self._path = path = os.path.abspath(path) if path else ""
        self._lock = allocate_lock()
        # SQLite allows one writer at a time. Threads queue here instead of polling SQLite.
        self._write_lock, self._forks = allocate_lock(), fork_count()
        self._busy_until, self._has_failed = 0.0, False
        existing_id = file_id(path) if path else None
        connection = open_file(path)
        self._connections, self._observers = _pool(path, connection), _pool(path, timeout=0)
        # An existing file's id is taken before it is opened, so that the next call notices if it is replaced in between.
        self._file, self._wal, self._index = (
            (existing_id or file_id(path), wal_id(path), index_id(path)) if path else (None, None, None)
        )

    def moment(self) -> object:
        # data_version counts changes made by other connections, so the observer's own connection must never write.
        if not self._path:
            return None
        self._current_pool()
        return self._run_in(
            self._observers, lambda connection: (connection, connection.execute(_DATA_VERSION).fetchone())
        )

    def verify(self) -> list[str]:
        problems: list[str] = []

        def find_problems(connection: sqlite3.Connection) -> None:
            try:
                results = [row[0] for row in connection.execute("PRAGMA quick_check")]
                problems.extend(f"the file is damaged: {result}" for result in results if result != "ok")
                connection.execute("BEGIN")
                problems.extend(self._faults(connection))
            except sqlite3.DatabaseError as error:
                if not is_damage_error(error):
                    raise
                problems.append(f"the file is damaged: {error}")

        self._run(find_problems)
        return problems

    def stats(self) -> dict[str, int]:
        def read_counts(connection: sqlite3.Connection) -> dict[str, int]:
            ((pages,),), ((size,),) = (
                self._select(connection, f"PRAGMA {result}") for result in ("page_count", "page_size")
            )
            return self._counts(connection, pages * size)

        return self._run(read_counts)

    def migrate(self, contract: bool = False) -> SchemaVersion:
        return self._run_write(drop_old_tables) if contract else self._run(version_of)

    def check_writable(self) -> None:
        def check(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            if self._has_failed:  # a full disk fails only when something is written
                ((version,),) = connection.execute("PRAGMA user_version")
                connection.execute(f"PRAGMA user_version = {version}")
                connection.execute("COMMIT")
            self._has_failed = False

        self._run(without_waiting(check))

    def close(self) -> None:
        self._connections.close()
        self._observers.close()

    # Running statements

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return self._run_in(self._current_pool() if self._path else self._connections, work)

    def _run_write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run work that writes, one at a time in this process. Waits a few seconds for other processes."""
        waits.announce("write")
        if not self._path:
            return self._run(work)
        if self._forks != fork_count():  # one of the parent's threads may have held the lock during the fork
            self._write_lock, self._forks = allocate_lock(), fork_count()
        write_lock = self._write_lock
        if not write_lock.acquire(timeout=BUSY_TIMEOUT):
            raise busy_error(self._path)
        try:
            self._check_wal()
            is_busy = time.monotonic() < self._busy_until
            result = self._run(without_waiting(work) if is_busy else work)
            self._busy_until, self._has_failed = 0.0, False
            return result
        except StoreError as error:
            if is_busy_error(error.__cause__):
                self._busy_until = time.monotonic() + _BUSY_PAUSE
            elif isinstance(error.__cause__, sqlite3.Error):
                self._has_failed = True
            raise
        finally:
            write_lock.release()

    def _run_in(self, pool: ConnectionPool, work: Callable[[sqlite3.Connection], T]) -> T:
        connection, _ = pool.take()
        is_damaged = False
        try:
            with span("store", "db.system.name", "sqlite"):
                return work(connection)
        except sqlite3.Error as error:
            is_damaged = is_damage_error(error)
            raise failure(self._path, error) from error
        finally:
            if connection.in_transaction:
                roll_back(connection)
            pool.give_back(connection)
            if is_damaged and self._path:
                self._drop_idle_connections()

    def _drop_idle_connections(self) -> None:
        """Close idle connections, because they would still have a damaged file's content cached after its repair."""
        self._connections.drop()
        self._observers.drop()

    def _current_pool(self) -> ConnectionPool:
        """Return the pool of connections to the file that is now at the path. A missing file is not created again: it may come back."""
        if not is_same_file(self._path, self._file) and not self._connections.is_closed:
            current = file_id(self._path)
            if current is None:
                raise missing_file_error(self._path)
            with self._lock:
                if current != self._file:
                    self._reopen(current)
        return self._connections

    def _check_wal(self) -> None:
        """Notice before a write that the write-ahead log was removed: the write would go to a file that no other process can see.

        Its content is still open here. It is saved if nothing has taken its place; otherwise that would damage what others have written.
        """
        path = self._path
        if self._wal in (None, wal_id(path)) or file_id(path) != self._file:
            return
        with self._lock, only_one_process(path):
            wal = wal_id(path)
            if wal == self._wal or self._file is None:  # another thread was faster
                return
            is_replaced = wal is not None
            self._reopen(self._file, save=not is_replaced)
        if is_replaced:
            raise replaced_wal_error(path)

    def _reopen(self, current: FileId, save: bool = True) -> None:
        """Switch to the file that has replaced the open one, or open it again. With `save`, first save what the log still contains."""
        path, self._file = self._path, None
        self._observers.retire()
        self._connections.retire(checkpoint if save else lambda connection: None)
        move_wal_aside(path, self._wal)
        if wal_id(path) is None:
            remove_index(path, self._index)
        self._connections, self._observers = _pool(path, open_file(path, must_exist=True)), _pool(path, timeout=0)
        self._file, self._wal, self._index = current, wal_id(path), index_id(path)

    def drop_forgotten(self) -> None:
        if self._path:
            try:
                self._check_wal()  # a process that only reads would never notice
            except StoreError:
                pass  # what has taken the log's place is used from now on
        super().drop_forgotten()

    def _erase(self) -> bool:
        # The log contains every page that was written since it was last emptied, including the text of rows that are gone by now.
        try:
            return self._run_write(empty_log) if self._path else True
        except StoreError:
            return False

    def _interrupt(self, connection: sqlite3.Connection) -> None:
        connection.interrupt()

    def _select(self, connection: sqlite3.Connection, statement: str, key: Sequence[object] = ()) -> Rows:
        return connection.execute(statement, key).fetchall()

    def _stream(self, connection: sqlite3.Connection, statement: str, key: Sequence[object]) -> sqlite3.Cursor:
        return connection.execute(statement, key)

    def _execute(self, connection: sqlite3.Connection, statement: str, key: Sequence[object] = ()) -> int:
        return connection.execute(statement, key).rowcount

    def _write(self, work: Callable[[sqlite3.Connection], bool], packed: dict[str, Packed]) -> bool:
        def commit_if_done(connection: sqlite3.Connection) -> bool:
            connection.execute("BEGIN IMMEDIATE")
            is_committed = work(connection)
            if is_committed:
                connection.execute("COMMIT")
            return is_committed

        is_committed = self._run_write(commit_if_done)
        if is_committed:
            self._cache_texts(packed)
        return is_committed

    def _write_once(self, work: Callable[[sqlite3.Connection], bool], packed: dict[str, Packed]) -> None:
        def commit_to_disk(connection: sqlite3.Connection) -> None:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            work(connection)
            connection.execute("COMMIT")
            connection.execute("PRAGMA synchronous = NORMAL")

        self._run_write(commit_to_disk)
        self._cache_texts(packed)

    def _publish_known(self, conversation: str, hash: bytes, row: Sequence[object]) -> bool | None:
        key = (self.team, conversation, *row, self.team, hash, self.team, conversation)

        def add(connection: sqlite3.Connection) -> bool:
            added = self._select(connection, _PUBLISH_KNOWN, key)
            for (kind,) in added:
                self._count(connection, {kind: (1, 1)})
            return bool(added)

        return self._write(add, {}) or None

    def _row_ids(
        self, connection: sqlite3.Connection, texts: Iterable[str], packed: dict[str, Packed]
    ) -> dict[str, int]:
        """Return the row id of each text, found by hash. Texts that are not in the store are added."""
        row_ids: dict[str, int] = {}
        for text in texts:
            existing_row = connection.execute(_SELECT_ROW_ID, (self.team, self._hash(text, packed))).fetchone()
            row = (self.team, *(packed.get(text) or pack(text))) if existing_row is None else ()
            number = existing_row[0] if existing_row else connection.execute(_ADD_TEXT, row).lastrowid
            assert number is not None
            row_ids[text] = number
        return row_ids


def _pool(path: str, connection: sqlite3.Connection | None = None, timeout: float | None = None) -> ConnectionPool:
    """Return a pool that starts with this connection. A store in memory can have no others."""
    pool = ConnectionPool(lambda: connect(path, must_exist=True, timeout=timeout), single=None if path else connection)
    if path and connection:
        pool.give_back(connection)
    return pool
