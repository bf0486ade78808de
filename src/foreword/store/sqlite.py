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

from ..errors import StoreError, check_id
from ..vocabulary import replace
from . import waits
from .file import file_id, is_same_file, missing_file_error, move_wal_aside, quote, wal_id
from .pool import ConnectionPool, fork_count
from .reader import StoreReader
from .rows import (
    COLUMNS,
    LATEST,
    MAX_NUMBER,
    check_newest,
    check_next,
    check_version,
    no_edition_error,
    schema,
    state_column,
    texts_of,
)
from .texts import hash_of, pack, to_bytes
from .usage import ADD_USAGE, UsageRow, usage_parameters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeVar

    from ..vocabulary import Edition
    from .file import FileId
    from .reader import Rows
    from .rows import TemplateVersion
    from .texts import Packed
    from .usage import CallUsage

    T = TypeVar("T")

_BUSY_TIMEOUT = 5.0
# For this many seconds after a write has timed out, other writes fail immediately instead of waiting.
_BUSY_PAUSE = 2.0
# "FwdS", which marks a database file as ours.
_APPLICATION_ID = 0x46776453

_NEWEST = "SELECT number, state FROM foreword_editions WHERE conversation = ? ORDER BY number DESC LIMIT 1"
_ADD_EDITION = f"INSERT INTO foreword_editions (conversation, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ADD_PROMPT = "INSERT OR IGNORE INTO foreword_prompts (system, account) VALUES (?, ?)"
_SAVE_STATE = "UPDATE foreword_editions SET state = ? WHERE conversation = ? AND number = ?"
_NEWEST_TEMPLATE = "SELECT coalesce(max(version), 0) FROM foreword_templates"
_ADD_TEMPLATE = (
    "INSERT INTO foreword_templates (version, template, author, time, note, syntax) VALUES (?, ?, ?, ?, ?, ?)"
)
_DATA_VERSION = "PRAGMA data_version"
_SELECT_ROW_ID = "SELECT id FROM foreword_texts WHERE hash = ?"
_ADD_TEXT = "INSERT INTO foreword_texts (hash, form, body) VALUES (?, ?, ?)"


class SqliteStore(StoreReader):
    """A `Store` in the file at `path`, or in memory if that is empty. Safe to use from several threads."""

    def __init__(self, path: str) -> None:
        super().__init__()
        # The path is absolute, so that later connections find it after a chdir, and because SQLite treats `file:…` as a URI.
        self._path = path = os.path.abspath(path) if path else ""
        self._lock = allocate_lock()
        # SQLite allows one writer at a time. Threads queue here instead of polling SQLite.
        self._write_lock, self._forks = allocate_lock(), fork_count()
        self._busy_until = 0.0
        existing_id = file_id(path) if path else None
        connection = _open(path)
        self._connections, self._observers = _pool(path, connection), _pool(path, timeout=0)
        # An existing file's id is taken before it is opened, so that the next call notices if it is replaced in between.
        self._file, self._wal = (existing_id or file_id(path), wal_id(path)) if path else (None, None)

    def publish(self, conversation: str, edition: Edition, after: int, state: str | None = None) -> Edition:
        check_id(conversation)
        check_next(edition, after)
        texts = texts_of(edition)
        packed = self._pack_new(texts)

        def add(connection: sqlite3.Connection) -> bool:
            newest = connection.execute(_NEWEST, (conversation,)).fetchone() or (0, None)
            if newest[0] != after or (state is not None and newest[1] != state_column(state)):
                return False
            row_ids = self._row_ids(connection, texts, packed)
            pointers = [row_ids[text] for text in texts]
            row = (conversation, edition.number, *pointers, to_bytes(edition.created), state_column(edition.state))
            connection.execute(_ADD_EDITION, row)
            connection.execute(_ADD_PROMPT, (row_ids[edition.system], row_ids[edition.account]))
            return True

        if self._write(add, packed):
            self._cache_edition(conversation, edition)
            return edition
        winner = self.current(conversation)
        if winner is None:
            raise no_edition_error(conversation, after)
        return winner

    def save_state(self, conversation: str, number: int, state: str, before: str | None = None) -> bool:
        check_id(conversation)
        if not 0 < number <= MAX_NUMBER:
            raise no_edition_error(conversation, number)

        def update(connection: sqlite3.Connection) -> bool:
            connection.execute("BEGIN IMMEDIATE")
            newest = connection.execute(_NEWEST, (conversation,)).fetchone() or (0, None)
            if number > newest[0]:
                raise no_edition_error(conversation, number)
            if before is not None and newest != (number, state_column(before)):
                return False
            connection.execute(_SAVE_STATE, (state_column(state), conversation, number))
            connection.execute("COMMIT")
            return True

        is_saved = self._run_write(update)
        if is_saved:
            self._cache_state(conversation, number, state)
        return is_saved

    def add_template(self, version: TemplateVersion, after: int | None = None) -> TemplateVersion:
        packed = self._pack_new([version.template])
        values = [to_bytes(value) for value in (version.author, version.time, version.note, version.syntax)]
        number = 0

        def add(connection: sqlite3.Connection) -> bool:
            nonlocal number
            newest = connection.execute(_NEWEST_TEMPLATE).fetchone()[0]
            check_newest(newest, after)
            number = newest + 1
            row_ids = self._row_ids(connection, [version.template], packed)
            connection.execute(_ADD_TEMPLATE, (number, row_ids[version.template], *values))
            return True

        self._write(add, packed, is_durable=True)
        return replace(version, version=number)

    def add_usage(self, conversation: str, number: int, call: CallUsage) -> UsageRow:
        check_id(conversation)
        parameters = usage_parameters(conversation, number, call)
        return UsageRow(*self._run_write(lambda connection: self._select(connection, ADD_USAGE, parameters))[0])

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

        def read(connection: sqlite3.Connection) -> None:
            try:
                results = [row[0] for row in connection.execute("PRAGMA quick_check")]
                problems.extend(f"the file is damaged: {result}" for result in results if result != "ok")
                connection.execute("BEGIN")
                problems.extend(self._faults(connection))
            except sqlite3.DatabaseError as error:
                if not _is_damage_error(error):
                    raise
                problems.append(f"the file is damaged: {error}")

        self._run(read)
        return problems

    def stats(self) -> dict[str, int]:
        def read(connection: sqlite3.Connection) -> dict[str, int]:
            ((pages,),), ((size,),) = (
                self._select(connection, f"PRAGMA {result}") for result in ("page_count", "page_size")
            )
            return self._counts(connection, pages * size)

        return self._run(read)

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
        if not write_lock.acquire(timeout=_BUSY_TIMEOUT):
            raise _busy_error(self._path)
        try:
            is_busy = time.monotonic() < self._busy_until
            result = self._run(_without_waiting(work) if is_busy else work)
            self._busy_until = 0.0
            return result
        except StoreError as error:
            if _is_busy_error(error.__cause__):
                self._busy_until = time.monotonic() + _BUSY_PAUSE
            raise
        finally:
            write_lock.release()

    def _run_in(self, pool: ConnectionPool, work: Callable[[sqlite3.Connection], T]) -> T:
        connection, _ = pool.take()
        is_damaged = False
        try:
            return work(connection)
        except sqlite3.Error as error:
            is_damaged = _is_damage_error(error)
            raise _failure(self._path, error) from error
        finally:
            if connection.in_transaction:
                _roll_back(connection)
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

    def _reopen(self, current: FileId) -> None:
        """Switch to the file that has replaced the open one."""
        path, self._file = self._path, None
        self._observers.retire()
        self._connections.retire(_checkpoint)
        move_wal_aside(path, self._wal)
        self._connections, self._observers = _pool(path, _open(path, must_exist=True)), _pool(path, timeout=0)
        self._file, self._wal = current, wal_id(path)

    def _select(self, connection: sqlite3.Connection, statement: str, key: Sequence[object] = ()) -> Rows:
        return connection.execute(statement, key).fetchall()

    def _stream(self, connection: sqlite3.Connection, statement: str) -> sqlite3.Cursor:
        return connection.execute(statement)

    def _write(
        self, work: Callable[[sqlite3.Connection], bool], packed: dict[str, Packed], is_durable: bool = False
    ) -> bool:
        """Run `work` in one transaction and return its result. If that is False, the transaction is rolled back."""

        def write(connection: sqlite3.Connection) -> bool:
            if is_durable:
                connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            is_committed = work(connection)
            if is_committed:
                connection.execute("COMMIT")
            if is_durable:
                connection.execute("PRAGMA synchronous = NORMAL")
            return is_committed

        is_committed = self._run_write(write)
        if is_committed:
            self._cache_texts(packed)
        return is_committed

    def _row_ids(
        self, connection: sqlite3.Connection, texts: Iterable[str], packed: dict[str, Packed]
    ) -> dict[str, int]:
        """Return the row id of each text, found by hash. Texts that are not in the store are added."""
        row_ids: dict[str, int] = {}
        for text in texts:
            row = packed.get(text)
            hash = row[0] if row else self._texts.hash(text) or hash_of(text)
            existing_row = connection.execute(_SELECT_ROW_ID, (hash,)).fetchone()
            number = existing_row[0] if existing_row else connection.execute(_ADD_TEXT, row or pack(text)).lastrowid
            assert number is not None
            row_ids[text] = number
        return row_ids


# Opening


def _pool(path: str, connection: sqlite3.Connection | None = None, timeout: float | None = None) -> ConnectionPool:
    """Return a pool that starts with this connection. A store in memory can have no others."""
    pool = ConnectionPool(lambda: _connect(path, must_exist=True, timeout=timeout), single=None if path else connection)
    if path and connection:
        pool.give_back(connection)
    return pool


def _open(path: str, must_exist: bool = False) -> sqlite3.Connection:
    """Open a store and migrate its tables. Unless `must_exist`, a missing file and its directories are created."""
    try:
        if path and not must_exist:
            _make_directory(os.path.dirname(path))
        is_new = bool(path) and not os.path.exists(path)
        connection = _connect(path, must_exist)
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
        raise _failure(path, error) from error


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

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._forks = fork_count()

    def __del__(self) -> None:
        if self._forks == fork_count():  # a parent's connection must not be closed in its child
            self.close()


def _connect(path: str, must_exist: bool = False, timeout: float | None = None) -> sqlite3.Connection:
    """Connect to the file at a path. Unless `must_exist`, a missing file is created."""
    timeout = _BUSY_TIMEOUT if timeout is None else timeout
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
        return connection
    except sqlite3.Error as error:
        if connection is not None:
            connection.close()
        raise _failure(path, error) from error


def _without_waiting(work: Callable[[sqlite3.Connection], T]) -> Callable[[sqlite3.Connection], T]:
    """Return the same work, but failing immediately if another process is writing."""

    def run(connection: sqlite3.Connection) -> T:
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            return work(connection)
        finally:
            connection.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT * 1000:.0f}")

    return run


def _checkpoint(connection: sqlite3.Connection) -> None:
    """Move the content of the write-ahead log into the file, unless another process is using it."""
    try:
        connection.execute("PRAGMA busy_timeout = 1000")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error:
        pass


def _uri(path: str) -> str:
    """Return a URI that makes SQLite open the file at a path without creating it."""
    for character in "%?#":
        path = path.replace(character, f"%{ord(character):02x}")
    return f"file://{'' if path.startswith('/') else '/'}{path}?mode=rw"


def migrate(
    connection: sqlite3.Connection,
    steps: Callable[[int], list[str]] = lambda version: schema("sqlite", version),
    latest: int = LATEST,
) -> None:
    """Migrate the tables to the latest version in one transaction. If several processes try at the same time, only one does it."""
    connection.execute("BEGIN")
    version = _version(connection, latest)
    connection.execute("ROLLBACK")
    if version == latest:
        if connection.execute("PRAGMA journal_mode").fetchone()[0] == "delete":
            _use_wal(connection)  # another program has turned it off, so readers would wait for writers
        return
    _use_wal(connection)
    connection.execute("BEGIN IMMEDIATE")
    for version in range(_version(connection, latest) + 1, latest + 1):
        for statement in steps(version):
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {latest}")
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection, latest: int) -> int:
    """Return the file's schema version, or 0 if it is new. Raises a StoreError if another program or a newer version of Foreword wrote it."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    is_empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if application != _APPLICATION_ID and not (is_empty and version == 0):
        raise StoreError("the file is another program's database; choose a different file")
    check_version(version, latest)
    return version


def _use_wal(connection: sqlite3.Connection) -> None:
    """Turn on the write-ahead log permanently. Retries, because SQLite's busy timeout does not apply to this."""
    deadline = time.monotonic() + _BUSY_TIMEOUT
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
    "SQLITE_BUSY": f"another process has locked it for {_BUSY_TIMEOUT:.0f} seconds",
    "SQLITE_READONLY": "it is read-only",
    "SQLITE_CANTOPEN": "it cannot be opened or created there",
    "SQLITE_PERM": "permission to open it was denied",
    "SQLITE_NOTADB": "the file is not a SQLite database",
    "SQLITE_CORRUPT": "the file is damaged; run `foreword store verify` to find out where, if it can still be read",
}


def _failure(path: str, error: sqlite3.Error) -> StoreError:
    name = getattr(error, "sqlite_errorname", "")
    reason = next((message for code, message in _FAILURES.items() if name.startswith(code)), str(error))
    return StoreError(f"the store {quote(path or ':memory:')} cannot be used: {reason}")


def _busy_error(path: str) -> StoreError:
    return StoreError(f"the store {quote(path)} cannot be used: {_FAILURES['SQLITE_BUSY']}")


def _is_busy_error(error: BaseException | None) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY")


def _is_damage_error(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))


def _roll_back(connection: sqlite3.Connection) -> None:
    """Roll back the transaction. If that fails, SQLite has already rolled back, or will when the file is next opened."""
    try:
        connection.execute("ROLLBACK")
    except sqlite3.Error:
        pass
