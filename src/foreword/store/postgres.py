"""The PostgreSQL store, for many machines. Requires `psycopg` 3 (the `postgres` extra).

If a connection is lost, the call is repeated on a new connection. That is safe: reading changes nothing, and writing the same edition
or state twice has the same result as writing it once. A call that takes too long, such as one that waits for a locked row, fails alone.
"""

from __future__ import annotations

from ..errors import CallError, check_id
from ..sources.environment import install_command
from ..vocabulary import replace
from . import waits
from .reader import StoreReader
from .rows import (
    COLUMNS,
    MAX_NUMBER,
    check_newest,
    check_next,
    no_edition_error,
    state_column,
    texts_of,
)
from .texts import hash_of, pack, to_bytes
from .usage import ADD_USAGE, UsageRow, usage_parameters

try:
    import psycopg

    from .postgres_pool import PostgresPool
    from .postgres_server import parse_url
except ImportError as error:
    raise CallError(
        f"PostgreSQL needs packages that are not installed ({error}); run {install_command('postgres')}"
    ) from error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeVar

    from ..vocabulary import Edition
    from .postgres_batches import BatchReader
    from .psycopg_connection import TimedConnection
    from .reader import Rows
    from .rows import TemplateVersion
    from .texts import Packed
    from .usage import CallUsage

    T = TypeVar("T")

# Work that reads every row may take longer than other calls.
_SCAN_TIMEOUT = 60.0
_SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
# The other of two transactions has done its work, or the server is now a replica: a repeated call can succeed.
_REPEATABLE = (
    psycopg.errors.DeadlockDetected,
    psycopg.errors.SerializationFailure,
    psycopg.errors.ReadOnlySqlTransaction,
)

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
_SIZE = "SELECT sum(pg_total_relation_size(name)) FROM unnest(%s::regclass[]) AS name"
_TABLE_NAMES = [f"foreword_{name}" for name in ("texts", "prompts", "editions", "templates", "usage")]


class PostgresStore(StoreReader):
    """A `Store` in the database at `url`, connected on the first call. Safe to use from several threads."""

    SEARCH = "strpos"

    def __init__(self, url: str) -> None:
        super().__init__()
        self._pool = PostgresPool(parse_url(url))

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
            newest = _newest(connection, conversation)
            if number > newest[0]:
                raise no_edition_error(conversation, number)
            if before is not None and newest != (number, state_column(before)):
                return False
            connection.execute(_SAVE_STATE, (state_column(state), conversation, number))
            return True

        is_saved = self._write(update, {})
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
        return self._scan(lambda connection: list(self._faults(connection)))

    def stats(self) -> dict[str, int]:
        def read(connection: TimedConnection) -> dict[str, int]:
            ((size,),) = connection.execute(_SIZE, (_TABLE_NAMES,))
            return self._counts(connection, int(size))

        return self._scan(read)

    def batch_reader(self) -> BatchReader:
        from .postgres_batches import BatchReader  # asyncio is slow to import, and only services need it

        return BatchReader(self._pool.options, self._editions)

    def close(self) -> None:
        self._pool.close()

    # Running statements

    def _run(self, work: Callable[[TimedConnection], T], is_repeatable: bool = True) -> T:
        def run(connection: TimedConnection) -> T:
            if connection.is_shared:
                return self._in_transaction(connection, work)
            return work(connection)

        return self._call(run, is_repeatable)

    def _scan(self, work: Callable[[TimedConnection], T]) -> T:
        return self._call(lambda connection: self._in_transaction(connection, work, _SCAN_TIMEOUT, _SNAPSHOT))

    def _in_transaction(
        self, connection: TimedConnection, work: Callable[[TimedConnection], T], timeout: float = 0, begin: str = ""
    ) -> T:
        result = connection.in_transaction(work, timeout or connection.timeout, begin)
        return result  # type: ignore[return-value]  # None only if the work rolls back

    def _call(self, work: Callable[[TimedConnection], T], is_repeatable: bool = True) -> T:
        """Call `work` with a connection. If the connection is lost, or another transaction was in the way, try once more."""
        pool = self._pool
        waits.announce("read")
        connection = pool.take()
        try:
            return work(connection)
        except psycopg.Error as error:
            failure = pool.server.failure(error)
            if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
                connection.close()
            if connection.closed:
                pool.drop()
            elif not isinstance(error, _REPEATABLE):
                raise failure from error
            if connection.has_timed_out:
                pool.server.check()
                raise pool.server.busy_error(str(error)) from error
            if not is_repeatable:
                raise failure from error
        finally:
            pool.give_back(connection)
        return self._call(work, False)

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
            if not work(connection):
                raise psycopg.Rollback
            return True

        waits.announce("write")
        is_committed = bool(self._call(lambda connection: self._in_transaction(connection, write), is_repeatable))
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
