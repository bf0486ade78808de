"""Migrate the tables of a PostgreSQL store."""

from __future__ import annotations

from .rows import LATEST, check_version, schema
from .upgrade import to_version_4

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

_MIGRATION_LOCK = 0x466F7265776F7264
# Queries the catalog directly: for the whole transaction, `to_regclass` would remember that the table did not exist before the lock.
_HAS_TABLES = """
    SELECT count(*) > 0 FROM pg_class JOIN pg_namespace AS space ON space.oid = relnamespace
    WHERE relname = 'foreword_schema' AND space.nspname = ANY(current_schemas(false))
"""


def migrate(
    connection: Connection,
    steps: Callable[[int], list[str]] = lambda version: schema("postgres", version),
    latest: int = LATEST,
) -> None:
    """Migrate the tables to the latest version in one transaction. If several processes try at the same time, only one does it."""
    if version_of(connection, latest) == latest:
        return
    with connection.transaction():
        connection.execute("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,))
        for version in range(version_of(connection, latest) + 1, latest + 1):
            for statement in steps(version):
                connection.execute(statement.encode())
            if version == 4:
                to_version_4(lambda statement, key: _rows(connection, statement, key), "pg_temp.foreword_time")
        connection.execute("DELETE FROM foreword_schema")
        connection.execute("INSERT INTO foreword_schema (version) VALUES (%s)", (latest,))


def version_of(connection: Connection, latest: int) -> int:
    """Return the version of the tables, or 0 if there are none. Raises a StoreError if a newer version of Foreword created them."""
    if connection.execute(_HAS_TABLES).fetchone() == (False,):
        return 0
    ((version,),) = connection.execute("SELECT coalesce(max(version), 0) FROM foreword_schema").fetchall()
    check_version(version, latest)
    return int(version)


def _rows(connection: Connection, statement: str, key: Sequence[object]) -> list[tuple[Any, ...]]:
    """Run a statement, and return its rows if it has any."""
    cursor = connection.execute(statement.replace("?", "%s").encode(), key)
    return cursor.fetchall() if cursor.description else []
