"""The store in one SQLite file, or in memory.

The file is in WAL mode, so that readers never wait for a writer, with synchronous=NORMAL: what was acknowledged survives the
death of the process, and a loss of power may take the last moments but never damages the file. An edition lost that way is
constructed again. A version of the template is a person's work, so its commit waits for the disk.
"""

from __future__ import annotations

import os
import sqlite3
import time
from _thread import allocate_lock

from ..errors import StoreError, check_id
from ..vocabulary import replace
from . import waits
from .connections import Connections, process_number
from .file import gone, is_same, log_stamp, set_log_aside, shown, stamp
from .reader import StoreReader
from .rows import (
    COLUMNS,
    LARGEST,
    LATEST,
    check_newest,
    check_next,
    check_version,
    no_edition,
    schema,
    state_column,
    texts_of,
)
from .texts import hash_of, pack, to_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeVar

    from ..vocabulary import Edition, TemplateVersion
    from .file import Stamp
    from .reader import Rows
    from .texts import Packed

    T = TypeVar("T")

_PATIENCE = 5.0
# After a write has waited that long in vain, others try once for a while instead of waiting in turn.
_PAUSE = 2.0
# "FwdS": by this a file says whose it is.
_APPLICATION = 0x46776453

_NEWEST = "SELECT number, state FROM foreword_editions WHERE conversation = ? ORDER BY number DESC LIMIT 1"
_ADD_EDITION = f"INSERT INTO foreword_editions (conversation, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ADD_PROMPT = "INSERT OR IGNORE INTO foreword_prompts (system, account) VALUES (?, ?)"
_KEEP_STATE = "UPDATE foreword_editions SET state = ? WHERE conversation = ? AND number = ?"
_NEWEST_TEMPLATE = "SELECT coalesce(max(version), 0) FROM foreword_templates"
_ADD_TEMPLATE = (
    "INSERT INTO foreword_templates (version, template, author, time, note, syntax) VALUES (?, ?, ?, ?, ?, ?)"
)
_CHANGES = "PRAGMA data_version"
_NUMBER_OF = "SELECT id FROM foreword_texts WHERE hash = ?"
_ADD_TEXT = "INSERT INTO foreword_texts (hash, form, body) VALUES (?, ?, ?)"


class SqliteStore(StoreReader):
    """A `Store` in the file at `path`; an empty path is a store in memory. May be used from several threads."""

    def __init__(self, path: str) -> None:
        super().__init__()
        # A later connection must find the same file, wherever the process has gone; and SQLite reads `file:…` as a URI.
        self._path = path = os.path.abspath(path) if path else ""
        self._lock = allocate_lock()
        # SQLite lets one write at a time; whoever waits here waits its turn, instead of asking again and again.
        self._writing, self._process = allocate_lock(), process_number()
        self._locked_until = 0.0
        found = stamp(path) if path else None
        connection = _opened(path)
        self._connections, self._looks = _pool(path, connection), _pool(path, patience=0)
        # Of a file that was there before it is known which one; if it was replaced at that moment, the next call sees it.
        self._file, self._log = (found or stamp(path), log_stamp(path)) if path else (None, None)

    def publish(self, conversation: str, edition: Edition, after: int, state: str | None = None) -> Edition:
        check_id(conversation)
        check_next(edition, after)
        texts = texts_of(edition)
        packed = self._pack_new(texts)

        def add(connection: sqlite3.Connection) -> bool:
            newest = connection.execute(_NEWEST, (conversation,)).fetchone() or (0, None)
            if newest[0] != after or (state is not None and newest[1] != state_column(state)):
                return False
            numbers = self._numbers(connection, texts, packed)
            pointers = [numbers[text] for text in texts]
            row = (conversation, edition.number, *pointers, to_bytes(edition.made), state_column(edition.state))
            connection.execute(_ADD_EDITION, row)
            connection.execute(_ADD_PROMPT, (numbers[edition.system], numbers[edition.account]))
            return True

        if self._write(add, packed):
            self._cache_edition(conversation, edition)
            return edition
        winner = self.current(conversation)
        if winner is None:
            raise no_edition(conversation, after)
        return winner

    def keep_state(self, conversation: str, number: int, state: str, before: str | None = None) -> bool:
        check_id(conversation)
        if not 0 < number <= LARGEST:
            raise no_edition(conversation, number)

        def keep(connection: sqlite3.Connection) -> bool:
            connection.execute("BEGIN IMMEDIATE")
            newest = connection.execute(_NEWEST, (conversation,)).fetchone() or (0, None)
            if number > newest[0]:
                raise no_edition(conversation, number)
            if before is not None and newest != (number, state_column(before)):
                return False
            connection.execute(_KEEP_STATE, (state_column(state), conversation, number))
            connection.execute("COMMIT")
            return True

        is_saved = self._run_alone(keep)
        if is_saved:
            self._cache_state(conversation, number, state)
        return is_saved

    def keep_template(self, version: TemplateVersion, after: int | None = None) -> TemplateVersion:
        packed = self._pack_new([version.template])
        others = [to_bytes(each) for each in (version.author, version.time, version.note, version.syntax)]
        kept = 0

        def add(connection: sqlite3.Connection) -> bool:
            nonlocal kept
            newest = connection.execute(_NEWEST_TEMPLATE).fetchone()[0]
            check_newest(newest, after)
            kept = newest + 1
            numbers = self._numbers(connection, [version.template], packed)
            connection.execute(_ADD_TEMPLATE, (kept, numbers[version.template], *others))
            return True

        self._write(add, packed, is_precious=True)
        return replace(version, version=kept)

    def moment(self) -> object:
        """What SQLite counts are the changes by others; so the connection that is asked makes none."""
        if not self._path:
            return None
        self._at_hand()
        return self._run_in(self._looks, lambda connection: (connection, connection.execute(_CHANGES).fetchone()))

    def verify(self) -> list[str]:
        wrong: list[str] = []

        def read(connection: sqlite3.Connection) -> None:
            try:
                told = [row[0] for row in connection.execute("PRAGMA quick_check")]
                wrong.extend(f"the file is damaged: {each}" for each in told if each != "ok")
                connection.execute("BEGIN")
                wrong.extend(self._faults(connection))
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
                wrong.append(f"the file is damaged: {error}")

        self._run(read)
        return wrong

    def stats(self) -> dict[str, int]:
        def read(connection: sqlite3.Connection) -> dict[str, int]:
            ((pages,),), ((size,),) = (
                self._select(connection, f"PRAGMA {each}") for each in ("page_count", "page_size")
            )
            return self._counts(connection, pages * size)

        return self._run(read)

    def close(self) -> None:
        self._connections.close()
        self._looks.close()

    # how it is done

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return self._run_in(self._at_hand() if self._path else self._connections, work)

    def _run_alone(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do something that writes, one at a time in this process. Another process that holds the file is waited for, but not for long."""
        waits.before("write")
        if not self._path:
            return self._run(work)
        if self._process != process_number():  # a thread of the parent may have held the lock during the fork
            self._writing, self._process = allocate_lock(), process_number()
        writing = self._writing
        if not writing.acquire(timeout=_PATIENCE):
            raise _locked(self._path)
        try:
            is_locked = time.monotonic() < self._locked_until
            done = self._run(_at_once(work) if is_locked else work)
            self._locked_until = 0.0
            return done
        except StoreError as error:
            if _is_locked(error.__cause__):
                self._locked_until = time.monotonic() + _PAUSE
            raise
        finally:
            writing.release()

    def _run_in(self, connections: Connections, work: Callable[[sqlite3.Connection], T]) -> T:
        connection, _ = connections.take()
        is_damaged = False
        try:
            return work(connection)
        except sqlite3.Error as error:
            is_damaged = _is_damage(error)
            raise _failure(self._path, error) from error
        finally:
            if connection.in_transaction:
                _roll_back(connection)
            connections.give(connection)
            if is_damaged and self._path:
                self._drop()

    def _drop(self) -> None:
        """Close all that is idle: what a connection has read of a damaged file would outlive its repair."""
        self._connections.drop()
        self._looks.drop()

    def _at_hand(self) -> Connections:
        """Connections to the file that is there now. One that is gone is not made anew: it may come back."""
        if not is_same(self._path, self._file) and not self._connections.is_closed:
            found = stamp(self._path)
            if found is None:
                raise gone(self._path)
            with self._lock:
                if found != self._file:
                    self._open_anew(found)
        return self._connections

    def _open_anew(self, found: Stamp) -> None:
        """Another file has taken the place of the one that was open: nothing that was known of that one counts any more."""
        path, self._file = self._path, None
        self._looks.retire()
        self._connections.retire(_empty_log)
        set_log_aside(path, self._log)
        self._connections, self._looks = _pool(path, _opened(path, is_there=True)), _pool(path, patience=0)
        self._file, self._log = found, log_stamp(path)

    def _select(self, connection: sqlite3.Connection, statement: str, key: Sequence[object] = ()) -> Rows:
        return connection.execute(statement, key).fetchall()

    def _stream(self, connection: sqlite3.Connection, statement: str) -> sqlite3.Cursor:
        return connection.execute(statement)

    def _write(
        self, work: Callable[[sqlite3.Connection], bool], packed: dict[str, Packed], is_precious: bool = False
    ) -> bool:
        """Do something in one transaction, which is rolled back if it is not to be, and say whether it was done."""

        def write(connection: sqlite3.Connection) -> bool:
            if is_precious:
                connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            is_done = work(connection)
            if is_done:
                connection.execute("COMMIT")
            if is_precious:
                connection.execute("PRAGMA synchronous = NORMAL")
            return is_done

        is_done = self._run_alone(write)
        if is_done:
            self._cache_texts(packed)
        return is_done

    def _numbers(
        self, connection: sqlite3.Connection, texts: Iterable[str], packed: dict[str, Packed]
    ) -> dict[str, int]:
        """The number of each text, looked up by its hash; what is not kept yet is kept now."""
        numbers: dict[str, int] = {}
        for text in texts:
            row = packed.get(text)
            hash = row[0] if row else self._texts.hash(text) or hash_of(text)
            known = connection.execute(_NUMBER_OF, (hash,)).fetchone()
            number = known[0] if known else connection.execute(_ADD_TEXT, row or pack(text)).lastrowid
            assert number is not None
            numbers[text] = number
        return numbers


# Opening and leaving


def _pool(path: str, connection: sqlite3.Connection | None = None, patience: float | None = None) -> Connections:
    """A connection and, unless it is to memory, the way to others like it."""
    connections = Connections(
        lambda: _connected(path, is_there=True, patience=patience), only=None if path else connection
    )
    if path and connection:
        connections.give(connection)
    return connections


def _opened(path: str, is_there: bool = False) -> sqlite3.Connection:
    """A connection to a store that has the tables of this version; its folder and file are made where there are none."""
    try:
        if path and not is_there:
            _make_folder(os.path.dirname(path))
        is_new = bool(path) and not os.path.exists(path)
        connection = _connected(path, is_there)
        try:
            if is_new:
                # By name and not through a file of our own: closing that would let go of locks that this process holds.
                os.chmod(path, 0o600)
            migrate(connection)
        except BaseException as error:
            connection.close()
            if isinstance(error, StoreError):
                raise StoreError(f"the store {shown(path)} cannot be used: {error}") from None
            raise
        return connection
    except OSError as error:
        raise StoreError(f"the store {shown(path)} cannot be made: {error.strerror or error}") from error
    except sqlite3.Error as error:
        raise _failure(path, error) from error


def _make_folder(folder: str) -> None:
    """Make a folder and those above it, for the user alone: prompts may tell more than the files they came from."""
    if os.path.isdir(folder):
        return
    _make_folder(os.path.dirname(folder))
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise


def _connected(path: str, is_there: bool = False, patience: float | None = None) -> sqlite3.Connection:
    """A connection to the file at a path, which is made unless it has to be there."""
    patience = _PATIENCE if patience is None else patience
    place = _uri(path) if is_there else path or ":memory:"
    connection = None
    try:
        connection = sqlite3.connect(
            place, timeout=patience, isolation_level=None, check_same_thread=False, uri=is_there
        )
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection
    except sqlite3.Error as error:
        if connection is not None:
            connection.close()
        raise _failure(path, error) from error


def _at_once(work: Callable[[sqlite3.Connection], T]) -> Callable[[sqlite3.Connection], T]:
    """The same work, on a connection that does not wait for others."""

    def hurry(connection: sqlite3.Connection) -> T:
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            return work(connection)
        finally:
            connection.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000:.0f}")

    return hurry


def _empty_log(connection: sqlite3.Connection) -> None:
    """Bring into the file what only its log holds, as far as nobody else is using it."""
    try:
        connection.execute("PRAGMA busy_timeout = 1000")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error:
        pass


def _uri(path: str) -> str:
    """A path as the address of a file that SQLite opens and does not make."""
    for each in "%?#":
        path = path.replace(each, f"%{ord(each):02x}")
    return f"file://{'' if path.startswith('/') else '/'}{path}?mode=rw"


def migrate(
    connection: sqlite3.Connection,
    steps: Callable[[int], list[str]] = lambda version: schema("sqlite", version),
    latest: int = LATEST,
) -> None:
    """Bring the tables to the latest version in one transaction. Of many processes that try at once, one does it."""
    connection.execute("BEGIN")
    version = _version(connection, latest)
    connection.execute("ROLLBACK")
    if version == latest:
        if connection.execute("PRAGMA journal_mode").fetchone()[0] == "delete":
            _use_wal(connection)  # another program has turned it off: readers would wait for writers
        return
    _use_wal(connection)
    connection.execute("BEGIN IMMEDIATE")
    for each in range(_version(connection, latest) + 1, latest + 1):
        for statement in steps(each):
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {latest}")
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection, latest: int) -> int:
    """The schema version of the file, 0 if it is new. A StoreError if another program or a newer Foreword wrote it."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    is_empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if application != _APPLICATION and not (is_empty and version == 0):
        raise StoreError("the file is a database of another program; name another file, or one that does not exist yet")
    check_version(version, latest)
    return version


def _use_wal(connection: sqlite3.Connection) -> None:
    """Turn on the write-ahead log, which the file remembers. SQLite does not wait its turn for this, so we do."""
    last = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > last:
                raise
            time.sleep(0.01)


# Failing

_FAILURES = {
    "SQLITE_FULL": "the disk is full; nothing of this was kept, and nothing that was kept before is lost",
    "SQLITE_IOERR": "the disk does not read or write; nothing of this was kept",
    "SQLITE_BUSY": f"another process has held it for {_PATIENCE:.0f} seconds",
    "SQLITE_READONLY": "it may not be written",
    "SQLITE_CANTOPEN": "it may not be opened or made there",
    "SQLITE_PERM": "it may not be opened",
    "SQLITE_NOTADB": "the file is no SQLite database",
    "SQLITE_CORRUPT": "the file is damaged; `foreword store verify` says where, if it can still be read",
}


def _failure(path: str, error: sqlite3.Error) -> StoreError:
    name = getattr(error, "sqlite_errorname", "")
    reason = next((told for code, told in _FAILURES.items() if name.startswith(code)), str(error))
    return StoreError(f"the store {shown(path or ':memory:')} cannot be used: {reason}")


def _locked(path: str) -> StoreError:
    return StoreError(f"the store {shown(path)} cannot be used: {_FAILURES['SQLITE_BUSY']}")


def _is_locked(error: BaseException | None) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY")


def _is_damage(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))


def _roll_back(connection: sqlite3.Connection) -> None:
    """Undo what was begun; where even that fails, SQLite has undone it already or will at the next start."""
    try:
        connection.execute("ROLLBACK")
    except sqlite3.Error:
        pass
