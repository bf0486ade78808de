"""Migrate the tables of a PostgreSQL store."""

from __future__ import annotations

import time
from functools import partial

import psycopg

from .upgrade import to_version_4
from .versions import LATEST, LOWEST, SchemaVersion, expanded, must_migrate, schema, steps_of_new

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    T = TypeVar("T")
    Connection = psycopg.Connection[tuple[Any, ...]]

_MIGRATION_LOCK = 0x466F7265776F7264
# Queries the catalog directly: for the whole transaction, `to_regclass` would remember that the table did not exist before the lock.
_HAS_TABLES = """
    SELECT count(*) > 0 FROM pg_class JOIN pg_namespace AS space ON space.oid = relnamespace
    WHERE relname = 'foreword_schema' AND space.nspname = ANY(current_schemas(false))
"""

# A migration may take long, and concerns every team.
_SETTINGS = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SET LOCAL foreword.team = '*'"
# While a migration waits for a table that a call uses, all later calls wait for the migration, and fail after 2 seconds.
_TABLE_WAIT = "SET LOCAL lock_timeout = '500ms'"
_TABLE_IN_USE = (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)
_MAX_ATTEMPTS = 500
_LONGEST_PAUSE = 2.0

# Version 3 and earlier have no column `lowest`.
_VERSION = """
    SELECT coalesce(max(version), 0), max((to_jsonb(foreword_schema) ->> 'lowest')::integer) FROM foreword_schema
"""


def migrate(
    connection: Connection,
    steps: Callable[[int], list[str]] = lambda version: schema("postgres", version),
    latest: int = LATEST,
    lowest: int = LOWEST,
) -> None:
    """Expand the tables to the latest version in one transaction. If several processes try at the same time, only one does it."""
    if not must_migrate(version_of(connection), latest):
        return

    def expand() -> None:
        found = version_of(connection)
        if not must_migrate(found, latest):
            return
        for version in range(found.version + 1, latest + 1):
            for statement in [*steps(version), *steps_of_new("postgres", version, found)]:
                connection.execute(statement.encode())
            if version == 4:
                to_version_4(lambda statement, key: _rows(connection, statement, key), "pg_temp.foreword_time")
        _record(connection, expanded(found, latest, lowest))

    _change_tables(connection, expand)


def drop_old_tables(
    connection: Connection,
    steps: Callable[[int], list[str]] = lambda version: schema("postgres", version, is_contract=True),
) -> SchemaVersion:
    """Remove what only an older Foreword needs. Returns the version.

    Each statement is a transaction, so that nobody waits for more than one, and can be repeated if this is interrupted.
    """
    found = version_of(connection)
    for version in range(found.lowest + 1, found.version + 1):
        for statement in steps(version):
            _change_tables(connection, partial(connection.execute, statement.encode()))
    return _change_tables(connection, lambda: _record(connection, SchemaVersion(found.version, found.version)))


def version_of(connection: Connection) -> SchemaVersion:
    """Return the version of the tables."""
    if connection.execute(_HAS_TABLES).fetchone() == (False,):
        return SchemaVersion(0, 0)
    ((version, lowest),) = connection.execute(_VERSION).fetchall()
    return SchemaVersion(version, lowest or version)


def _change_tables(connection: Connection, work: Callable[[], T]) -> T:
    """Do work that locks whole tables, in a transaction of its own. As long as others use the tables, it starts again after a pause."""
    attempt = 0
    while True:
        attempt += 1
        try:
            with connection.transaction():
                connection.execute(_SETTINGS.encode())
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,))
                connection.execute(_TABLE_WAIT)
                return work()
        except _TABLE_IN_USE:
            if attempt == _MAX_ATTEMPTS:
                raise
        time.sleep(min(0.1 * attempt, _LONGEST_PAUSE))


def _record(connection: Connection, version: SchemaVersion) -> SchemaVersion:
    connection.execute("ALTER TABLE foreword_schema ADD COLUMN IF NOT EXISTS lowest integer")
    connection.execute("DELETE FROM foreword_schema")
    connection.execute(
        "INSERT INTO foreword_schema (version, lowest) VALUES (%s, %s)", (version.version, version.lowest)
    )
    return version


def _rows(connection: Connection, statement: str, key: Sequence[object]) -> list[tuple[Any, ...]]:
    """Run a statement, and return its rows if it has any."""
    cursor = connection.execute(statement.replace("?", "%s").encode(), key)
    return cursor.fetchall() if cursor.description else []
