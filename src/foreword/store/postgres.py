"""The PostgreSQL store, for many machines. Requires `psycopg` 3 (the `postgres` extra).

If a connection was lost while idle, the call is repeated on a new connection. That is safe: reading changes nothing, and writing the
same edition or state twice has the same result as writing it once. Error messages never contain the password.
"""

from __future__ import annotations

from ..errors import CallError, StoreError, check_id
from ..sources.environment import install_command
from ..vocabulary import replace
from . import waits
from .pool import ConnectionPool
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

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.pq import TransactionStatus

    from .psycopg_connection import TimedConnection
except ImportError as error:
    raise CallError(
        f"PostgreSQL needs packages that are not installed ({error}); run {install_command('postgres')}"
    ) from error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeVar

    from ..vocabulary import Edition
    from .reader import Rows
    from .rows import TemplateVersion
    from .texts import Packed
    from .usage import CallUsage

    T = TypeVar("T")

# A turn must not hang if the server does not answer: conversations that this process has seen continue without it.
_DEFAULTS = {"connect_timeout": "5", "tcp_user_timeout": "10000", "application_name": "foreword"}
_TIMEOUT = 5.0
_SCAN_TIMEOUT = 60.0
_MIGRATION_LOCK = 0x466F7265776F7264
_MAX_REASON = 300

# The primary key allows each number only once per conversation: of two concurrent publishers, one waits and then loses.
_PUBLISH = f"""
    WITH won AS (
        INSERT INTO foreword_editions (conversation, {COLUMNS})
        SELECT %s, %s, %s, %s, %s, %s, %s, %s, %s, %s::bytea
        WHERE %s = (SELECT coalesce(max(number), 0) FROM foreword_editions WHERE conversation = %s)
        ON CONFLICT DO NOTHING RETURNING system, account
    ), added AS (
        INSERT INTO foreword_prompts (system, account) SELECT system, account FROM won ON CONFLICT DO NOTHING
    )
    SELECT count(*) FROM won
"""
# Serializes all writers after the first edition, so that later reads in the transaction see what the other writers wrote.
_LOCK_CONVERSATION = "SELECT 1 FROM foreword_editions WHERE conversation = %s AND number = 1 FOR UPDATE"
_NEWEST = "SELECT number, state FROM foreword_editions WHERE conversation = %s ORDER BY number DESC LIMIT 1"
_SAVE_STATE = "UPDATE foreword_editions SET state = %s WHERE conversation = %s AND number = %s"
_LOCK_TEMPLATES = "LOCK TABLE foreword_templates IN SHARE ROW EXCLUSIVE MODE"
_NEWEST_TEMPLATE = "SELECT coalesce(max(version), 0) FROM foreword_templates"
_ADD_TEMPLATE = (
    "INSERT INTO foreword_templates (version, template, author, time, note, syntax) VALUES (%s, %s, %s, %s, %s, %s)"
)
_SELECT_ROW_IDS = "SELECT hash, id FROM foreword_texts WHERE hash = ANY(%s)"
_ADD_TEXTS = """
    INSERT INTO foreword_texts (hash, form, body) SELECT * FROM unnest(%s::bytea[], %s::smallint[], %s::bytea[])
    ON CONFLICT DO NOTHING
"""
# Queries the catalog directly: for the whole transaction, `to_regclass` would remember that the table did not exist before the lock.
_HAS_TABLES = """
    SELECT count(*) > 0 FROM pg_class JOIN pg_namespace AS space ON space.oid = relnamespace
    WHERE relname = 'foreword_schema' AND space.nspname = ANY(current_schemas(false))
"""
_SIZE = "SELECT sum(pg_total_relation_size(name)) FROM unnest(%s::regclass[]) AS name"
_TABLE_NAMES = [f"foreword_{name}" for name in ("texts", "prompts", "editions", "templates", "usage")]


class PostgresStore(StoreReader):
    """A `Store` in the database at `url`, connected on the first call. Safe to use from several threads."""

    SEARCH = "strpos"

    def __init__(self, url: str) -> None:
        super().__init__()
        self._settings = settings = _settings(url)
        # The lambda does not refer to `self`, so that an unused store is garbage-collected immediately and closes its connections.
        self._connections = ConnectionPool(lambda: _connect(settings))

    def publish(self, conversation: str, edition: Edition, after: int, state: str | None = None) -> Edition:
        check_id(conversation)
        check_next(edition, after)
        texts = texts_of(edition)
        packed = self._pack_new(texts)

        def add(connection: TimedConnection) -> bool:
            row_ids = self._row_ids(connection, texts, packed)
            if after and state is not None and _newest(connection, conversation) != (after, state_column(state)):
                return False
            pointers = [row_ids[text] for text in texts]
            row = (conversation, edition.number, *pointers, to_bytes(edition.created), state_column(edition.state))
            count = connection.execute(_PUBLISH, (*row, after, conversation), binary=True).fetchone()
            return count == (1,)

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

        def update(connection: TimedConnection) -> bool:
            with connection.transaction():
                newest = _newest(connection, conversation)
                if number > newest[0]:
                    raise no_edition_error(conversation, number)
                if before is not None and newest != (number, state_column(before)):
                    return False
                connection.execute(_SAVE_STATE, (state_column(state), conversation, number))
                return True

        waits.announce("write")
        is_saved = self._run(update)
        if is_saved:
            self._cache_state(conversation, number, state)
        return is_saved

    def add_template(self, version: TemplateVersion, after: int | None = None) -> TemplateVersion:
        packed = self._pack_new([version.template])
        values = [to_bytes(value) for value in (version.author, version.time, version.note, version.syntax)]
        number = 0

        def add(connection: TimedConnection) -> bool:
            nonlocal number
            connection.execute(_LOCK_TEMPLATES)
            ((newest,),) = connection.execute(_NEWEST_TEMPLATE)
            check_newest(newest, after)
            number = newest + 1
            row_ids = self._row_ids(connection, [version.template], packed)
            connection.execute(_ADD_TEMPLATE, (number, row_ids[version.template], *values))
            return True

        # Repeating this would add two versions, so check the connection first and then try only once.
        self._run(lambda connection: connection.execute("SELECT 1"))
        self._write(add, packed, is_repeatable=False)
        return replace(version, version=number)

    def add_usage(self, conversation: str, number: int, call: CallUsage) -> UsageRow:
        check_id(conversation)
        parameters = usage_parameters(conversation, number, call)
        waits.announce("write")
        return UsageRow(*self._run(lambda connection: self._select(connection, ADD_USAGE, parameters))[0])

    def verify(self) -> list[str]:
        def read(connection: TimedConnection) -> list[str]:
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                return list(self._faults(connection))

        return self._scan(read)

    def stats(self) -> dict[str, int]:
        def read(connection: TimedConnection) -> dict[str, int]:
            ((size,),) = connection.execute(_SIZE, (_TABLE_NAMES,))
            return self._counts(connection, int(size))

        return self._scan(read)

    def close(self) -> None:
        self._connections.close()

    # Running statements

    def _run(self, work: Callable[[TimedConnection], T], is_repeatable: bool = True, timeout: float = _TIMEOUT) -> T:
        connection, is_used = self._connections.take()
        connection.timeout = timeout
        try:
            return work(connection)
        except psycopg.Error as error:
            if not connection.closed:
                raise _failure(self._settings, error) from error
            if connection.has_timed_out:
                self._connections.record_failure(_failure(self._settings, error), timeout)
            self._connections.drop()
            if not (is_used and is_repeatable):
                raise _failure(self._settings, error) from error
        finally:
            self._return_connection(connection)
        return self._run(work, False, timeout)

    def _scan(self, work: Callable[[TimedConnection], T]) -> T:
        return self._run(work, timeout=_SCAN_TIMEOUT)

    def _return_connection(self, connection: TimedConnection) -> None:
        if connection.closed or connection.info.transaction_status != TransactionStatus.IDLE:
            connection.close()
        else:
            self._connections.give_back(connection)

    def _select(self, connection: TimedConnection, statement: str, key: Sequence[object] = ()) -> Rows:
        return connection.execute(statement.replace("?", "%s"), key, binary=True).fetchall()

    def _stream(self, connection: TimedConnection, statement: str) -> Iterable[tuple[Any, ...]]:
        with connection.cursor(name="foreword_rows", binary=True) as cursor:
            yield from cursor.execute(statement)

    def _write(
        self, work: Callable[[TimedConnection], bool], packed: dict[str, Packed], is_repeatable: bool = True
    ) -> bool:
        """Run `work` in one transaction and return its result. If that is False, the transaction is rolled back."""

        def write(connection: TimedConnection) -> bool:
            is_committed = False
            with connection.transaction():
                is_committed = work(connection)
                if not is_committed:
                    raise psycopg.Rollback
            return is_committed

        waits.announce("write")
        is_committed = self._run(write, is_repeatable)
        if is_committed:
            self._cache_texts(packed)
        return is_committed

    def _row_ids(self, connection: TimedConnection, texts: Iterable[str], packed: dict[str, Packed]) -> dict[str, int]:
        """Return the row id of each text, found by hash. Texts that are not in the store are added."""
        hashes = {
            text: packed[text][0] if text in packed else self._texts.hash(text) or hash_of(text) for text in texts
        }
        row_ids = _row_ids_by_hash(connection, hashes.values())
        # The rows are sorted, so that two transactions that add the same texts cannot deadlock.
        rows = sorted(packed.get(text) or pack(text) for text, hash in hashes.items() if hash not in row_ids)
        if rows:
            connection.execute(_ADD_TEXTS, [list(column) for column in zip(*rows, strict=True)])
            row_ids = _row_ids_by_hash(connection, hashes.values())
        return {text: row_ids[hash] for text, hash in hashes.items()}


def _row_ids_by_hash(connection: TimedConnection, hashes: Iterable[bytes]) -> dict[bytes, int]:
    return dict(connection.execute(_SELECT_ROW_IDS, (list(hashes),), binary=True).fetchall())


def _newest(connection: TimedConnection, conversation: str) -> tuple[int, bytes | None]:
    """Return the number and state of the edition in use, locked until the transaction ends."""
    connection.execute(_LOCK_CONVERSATION, (conversation,))
    number, state = connection.execute(_NEWEST, (conversation,), binary=True).fetchone() or (0, None)
    return number, state


# Connecting


def _settings(url: str) -> dict[str, Any]:
    """Return the connection settings in a URL. An invalid URL is not shown, because it may contain a password."""
    try:
        parsed = conninfo_to_dict(url)
    except psycopg.Error:
        parsed = {"host": "@"}
    host, port, name = (str(parsed.get(key, "")) for key in ("host", "port", "dbname"))
    if "@" in host + port + name or (port and not port.replace(",", "").isdigit()):
        raise CallError(
            "the store's URL is not valid; use postgresql://user:password@host:5432/name,"
            " with %40 for @, %2F for / and %3A for : in the password"
        ) from None
    return {**_DEFAULTS, **parsed}


def _connect(settings: dict[str, Any]) -> TimedConnection:
    """Open a connection and migrate the tables to the current version."""
    try:
        connection = TimedConnection.connect(**settings, autocommit=True)
    except psycopg.Error as error:
        raise _failure(settings, error) from None
    connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
    try:
        migrate(connection)
    except BaseException as error:
        connection.close()
        if isinstance(error, psycopg.Error):
            raise _failure(settings, error) from error
        raise
    return connection


def migrate(
    connection: TimedConnection,
    steps: Callable[[int], list[str]] = lambda version: schema("postgres", version),
    latest: int = LATEST,
) -> None:
    """Migrate the tables to the latest version in one transaction. If several processes try at the same time, only one does it."""
    if _version(connection, latest) == latest:
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,))
        for version in range(_version(connection, latest) + 1, latest + 1):
            for statement in steps(version):
                connection.execute(statement)
        connection.execute("DELETE FROM foreword_schema")
        connection.execute("INSERT INTO foreword_schema (version) VALUES (%s)", (latest,))


def _version(connection: TimedConnection, latest: int) -> int:
    """Return the version of the tables, or 0 if there are none. Raises a StoreError if a newer version of Foreword created them."""
    if connection.execute(_HAS_TABLES).fetchone() == (False,):
        return 0
    ((version,),) = connection.execute("SELECT coalesce(max(version), 0) FROM foreword_schema").fetchall()
    check_version(version, latest)
    return int(version)


def _failure(settings: dict[str, Any], error: psycopg.Error) -> StoreError:
    """Return a StoreError that describes the error in one sentence, without the password."""
    reason = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, psycopg.errors.DiskFull):
        reason = "the server's disk is full; nothing was written, and stored data is intact"
    if password := settings.get("password"):
        reason = reason.replace(str(password), "…")
    host, name = (settings.get(key) or "" for key in ("host", "dbname"))
    return StoreError(f"the store 'postgresql://{host}/{name}' cannot be used: {reason[:_MAX_REASON]}")
