"""The PostgreSQL store, for many machines. Requires `psycopg` 3 (the `postgres` extra).

If a connection is lost, the call is retried on a new connection. That is safe: reading changes nothing, and writing the same edition
or state twice has the same result as writing it once. Other writes are retried only if the server has not committed them. A call that
takes too long, such as one that waits for a locked row, fails without affecting other calls.
"""

from __future__ import annotations

from zlib import crc32

from ..errors import CallError, StoreError
from ..sources.environment import install_command
from . import waits
from .leasing import LeasingStore
from .rows import ALL_TEAMS
from .spans import span
from .texts import pack

try:
    import psycopg

    from .postgres_pool import PostgresPool
    from .postgres_schema import drop_old_tables, version_of
    from .postgres_server import MIGRATION_TIMEOUT, parse_url
except ImportError as error:
    raise CallError(
        f"PostgreSQL needs packages that are not installed ({error}); run {install_command('postgres')}"
    ) from error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    from .postgres_batches import BatchReader
    from .psycopg_connection import TimedConnection
    from .team_store import Rows
    from .texts import Packed
    from .versions import SchemaVersion

    T = TypeVar("T")

# Work that reads every row may take longer than other calls.
_SCAN_TIMEOUT = 60.0
_SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
# The other of two transactions has done its work, or the server is now a replica: a second attempt can succeed.
_RETRYABLE = (
    psycopg.errors.DeadlockDetected,
    psycopg.errors.SerializationFailure,
    psycopg.errors.ReadOnlySqlTransaction,
)

# The unique index allows each number only once per conversation: of two concurrent publishers, one waits and then loses. Writers spread
# over several rows of the counts, so that they rarely wait for each other.
_SHARD = "mod(pg_backend_pid(), 16)"
_PUBLISH_KNOWN = f"""
    WITH content AS (
        SELECT id, kind FROM foreword_contents WHERE team = %s AND hash = %s FOR KEY SHARE
    ), won AS (
        INSERT INTO foreword_editions (team, conversation, number, content, kind, created, created_text, state)
        SELECT %s, %s, 1, content.id, content.kind, %s, %s::bytea, %s::bytea FROM content
        WHERE NOT EXISTS (SELECT 1 FROM foreword_editions WHERE team = %s AND conversation = %s)
        ON CONFLICT DO NOTHING RETURNING team, kind
    ), counted AS (
        INSERT INTO foreword_counts AS known (team, kind, shard, conversations, editions)
        SELECT team, kind, {_SHARD}, 1, 1 FROM won
        ON CONFLICT (team, kind, shard) DO UPDATE SET conversations = known.conversations + 1, editions = known.editions + 1
    )
    SELECT (SELECT count(*) FROM content), (SELECT count(*) FROM won)
"""
# NULL if the transaction has not changed anything.
_TRANSACTION = "SELECT txid_current_if_assigned()"
_OUTCOME = "SELECT txid_status(%s)"
_LOCK_TEMPLATES = "LOCK TABLE foreword_templates IN SHARE ROW EXCLUSIVE MODE"
_USE_INDEXES = "; ".join(f"SET LOCAL enable_{plan} = off" for plan in ("seqscan", "hashjoin", "mergejoin"))
_REMOVAL_LOCK = 0x466F7265
_LOCK_FORGOTTEN = "LOCK TABLE foreword_forgotten IN SHARE ROW EXCLUSIVE MODE"
_SELECT_ROW_IDS = "SELECT hash, id FROM foreword_texts WHERE team = %s AND hash = ANY(%s) ORDER BY id FOR KEY SHARE"
_ADD_TEXTS = """
    INSERT INTO foreword_texts (team, hash, form, body)
    SELECT %s, added.* FROM unnest(%s::bytea[], %s::smallint[], %s::bytea[]) AS added
    ON CONFLICT DO NOTHING
"""
# True of a standby as well, and of a server whose sessions are read-only by default.
_IS_READ_ONLY = "SELECT current_setting('transaction_read_only')"
_SIZE = "SELECT sum(pg_total_relation_size(name)) FROM unnest(%s::regclass[]) AS name"
_TABLE_NAMES = [
    f"foreword_{name}"
    for name in ("texts", "contents", "kinds", "editions", "counts", "templates", "labels", "moves", "usage", "unused")
]


class PostgresStore(LeasingStore):
    """A `Store` in the database at `url`, connected on the first call. Safe to use from several threads."""

    SHARD = _SHARD
    KEY_SHARE = " FOR KEY SHARE"
    FOR_CHANGE = " FOR NO KEY UPDATE"
    FOR_UPDATE = " FOR UPDATE"
    SKIP_LOCKED = " FOR UPDATE SKIP LOCKED"
    AMONG = "= ANY(?)"
    NOW = "extract(epoch FROM now())::bigint"
    ROW = "ctid"
    DELETE_ROWS = "DELETE FROM foreword_editions WHERE team = ? AND ctid = ANY(ARRAY({}))"

    def __init__(self, url: str) -> None:
        super().__init__()
        self._pool = PostgresPool(parse_url(url))

    def _publish_known(self, conversation: str, hash: bytes, row: Sequence[object]) -> bool | None:
        key = (self.team, hash, self.team, conversation, *row, self.team, conversation)
        waits.announce("write")
        ((known, won),) = self._run(lambda connection: connection.execute(_PUBLISH_KNOWN, key, binary=True).fetchall())
        return bool(won) if known else None

    def verify(self) -> list[str]:
        everything = self.for_team(ALL_TEAMS)
        return everything._scan(lambda connection: list(everything._faults(connection)))

    def stats(self) -> dict[str, int]:
        def read_counts(connection: TimedConnection) -> dict[str, int]:
            ((size,),) = connection.execute(_SIZE, (_TABLE_NAMES,))
            return self._counts(connection, int(size))

        return self.for_team(ALL_TEAMS)._scan(read_counts)

    def migrate(self, contract: bool = False) -> SchemaVersion:
        def read_or_contract(connection: TimedConnection) -> SchemaVersion:
            if not contract:
                return version_of(connection)
            default_timeout, connection.timeout = connection.timeout, MIGRATION_TIMEOUT
            try:
                return drop_old_tables(connection)
            finally:
                connection.timeout = default_timeout

        return self._call(read_or_contract)

    def check_writable(self) -> None:
        def check(connection: TimedConnection) -> None:
            if connection.execute(_IS_READ_ONLY).fetchone() != ("off",):
                raise psycopg.errors.ReadOnlySqlTransaction  # as a write would

        self._call(check)

    def batch_reader(self) -> BatchReader:
        from .postgres_batches import BatchReader  # asyncio is slow to import, and only services need it

        return BatchReader(self._pool.options, self._editions, self._pool.suspect)

    def pool_counts(self) -> Mapping[str, int]:
        return self._pool.counts()

    def close(self) -> None:
        self._pool.close()

    # Running statements

    def _run(self, work: Callable[[TimedConnection], T]) -> T:
        def in_transaction_if_shared(connection: TimedConnection) -> T:
            if connection.is_shared:
                return self._in_transaction(connection, work)
            return work(connection)

        return self._call(in_transaction_if_shared)

    def _scan(self, work: Callable[[TimedConnection], T]) -> T:
        return self._call(lambda connection: self._in_transaction(connection, work, _SCAN_TIMEOUT, _SNAPSHOT))

    def _in_transaction(
        self, connection: TimedConnection, work: Callable[[TimedConnection], T], timeout: float = 0, begin: str = ""
    ) -> T:
        result = connection.in_transaction(work, timeout or connection.timeout, begin)
        return result  # type: ignore[return-value]  # None only if the work rolls back

    def _call(self, work: Callable[[TimedConnection], T], can_retry: Callable[[], bool] = lambda: True) -> T:
        """Call `work` with a connection. If the connection is lost, or the transaction conflicts with another one, try once more."""
        pool = self._pool
        waits.announce("read")
        connection = pool.take()
        try:
            with span("store", "db.system.name", "postgresql"):
                connection.use_team(self.team)
                return work(connection)
        except psycopg.Error as error:
            failure = pool.server.failure(error)
            if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
                connection.close()
            if connection.is_abandoned:
                raise failure from error
            if connection.closed:
                pool.drop()
            elif not isinstance(error, _RETRYABLE):
                raise failure from error
            if connection.has_timed_out:
                pool.server.check()
                raise pool.server.busy_error(str(error)) from error
            if not can_retry():
                raise failure from error
        finally:
            pool.give_back(connection)
        return self._call(work, lambda: False)

    def _interrupt(self, connection: TimedConnection) -> None:
        connection.is_abandoned = True

    def _select(self, connection: TimedConnection, statement: str, key: Sequence[object] = ()) -> Rows:
        return connection.execute(statement.replace("?", "%s"), key, binary=True).fetchall()

    def _stream(self, connection: TimedConnection, statement: str, key: Sequence[object]) -> Iterable[tuple[Any, ...]]:
        with connection.cursor(name="foreword_rows", binary=True) as cursor:
            yield from cursor.execute(statement.replace("?", "%s"), key)

    def _execute(self, connection: TimedConnection, statement: str, key: Sequence[object] = ()) -> int:
        return connection.execute(statement.replace("?", "%s"), key).rowcount

    def _write(self, work: Callable[[TimedConnection], bool], packed: dict[str, Packed]) -> bool:
        def commit_or_roll_back(connection: TimedConnection) -> bool:
            if not work(connection):
                raise psycopg.Rollback
            return True

        waits.announce("write")
        is_committed = bool(self._call(lambda connection: self._in_transaction(connection, commit_or_roll_back)))
        if is_committed:
            self._cache_texts(packed)
        return is_committed

    def _write_once(self, work: Callable[[TimedConnection], object], packed: dict[str, Packed]) -> None:
        transaction: int | None = None

        def note_transaction(connection: TimedConnection) -> None:
            nonlocal transaction
            transaction = None
            work(connection)
            ((transaction,),) = connection.execute(_TRANSACTION)

        waits.announce("write")
        try:
            self._call(
                lambda connection: self._in_transaction(connection, note_transaction), lambda: transaction is None
            )
        except StoreError as error:
            if transaction is None or not self._is_committed(transaction, error):
                raise
        self._cache_texts(packed)

    def _is_committed(self, transaction: int, error: StoreError) -> bool:
        """Whether a transaction whose connection was lost has been committed. Raises a StoreError if that is unknown."""
        try:
            ((outcome,),) = self._run(lambda connection: connection.execute(_OUTCOME, (transaction,)).fetchall())
        except StoreError:
            outcome = None
        if outcome not in ("committed", "aborted"):
            raise StoreError(f"{error}; the change may have been saved, so check before you try again") from error
        return bool(outcome == "committed")

    def _run_write(self, work: Callable[[TimedConnection], T]) -> T:
        results: list[T] = []

        def keep_result(connection: TimedConnection) -> None:
            results[:] = [work(connection)]

        self._write_once(keep_result, {})
        return results[0]

    def _lock_templates(self, connection: TimedConnection) -> None:
        connection.execute(_LOCK_TEMPLATES)

    def _begin_removal(self, connection: TimedConnection) -> None:
        key = crc32(self.team.encode()) - 2**31
        connection.execute(f"{_USE_INDEXES}; SELECT pg_advisory_xact_lock({_REMOVAL_LOCK}, {key})".encode())

    def _list(self, values: Sequence[int] | Sequence[str]) -> object:
        return list(values)

    def _lock_forgotten(self, connection: TimedConnection) -> None:
        connection.execute(_LOCK_FORGOTTEN)

    def _row_ids(self, connection: TimedConnection, texts: Iterable[str], packed: dict[str, Packed]) -> dict[str, int]:
        hashes = {text: self._hash(text, packed) for text in texts}
        row_ids = self._ids_by_hash(connection, hashes.values())
        # A row that another transaction is deleting is missing afterwards, so this may take several attempts.
        while missing := [text for text, hash in hashes.items() if hash not in row_ids]:
            # The rows are sorted, so that two transactions that add the same texts cannot deadlock.
            rows = sorted(packed.get(text) or pack(text) for text in missing)
            connection.execute(_ADD_TEXTS, [self.team, *(list(column) for column in zip(*rows, strict=True))])
            row_ids = self._ids_by_hash(connection, hashes.values())
        return {text: row_ids[hash] for text, hash in hashes.items()}

    def _ids_by_hash(self, connection: TimedConnection, hashes: Iterable[bytes]) -> dict[bytes, int]:
        return dict(connection.execute(_SELECT_ROW_IDS, (self.team, list(hashes)), binary=True).fetchall())
