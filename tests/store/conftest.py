"""One suite for every store: the fixtures `store` and `url` run each test on SQLite and PostgreSQL.

PostgreSQL is a real server: the one in TEST_DATABASE_URL, or one that is started here. If it cannot start, the tests fail.
"""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest

from foreword.store import open_store
from foreword.vocabulary import Edition

HERE = Path(__file__).parent
POSTGRES = pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))


class Server:
    """A PostgreSQL server in a separate process, which ends with this one."""

    def __init__(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen([sys.executable, str(HERE / "server.py")], text=True, **pipes)
        self.url = self.process.stdout.readline().strip()
        assert self.url, "PostgreSQL did not start; see above for why"

    def command(self, word):
        """Send the command `stop`, `start`, `freeze` or `thaw`."""
        print(word, file=self.process.stdin, flush=True)
        assert self.process.stdout.readline().strip() == word

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture(scope="session")
def postgres():
    """Return the URL of a database for the tests."""
    if url := os.environ.get("TEST_DATABASE_URL"):
        yield url
        return
    server = Server()
    yield server.url
    server.close()


@pytest.fixture
def own_server():
    """A server for a single test, which may stop and start it."""
    server = Server()
    yield server
    server.close()


def _url_of(postgres, schema):
    return f"{postgres}{'&' if '?' in postgres else '?'}options=-csearch_path%3D{schema}"


@pytest.fixture
def postgres_url(postgres):
    """Return the URL of an empty store, in a new schema of the database."""
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
        yield _url_of(postgres, name)
        connection.execute(f"DROP SCHEMA {name} CASCADE")


# Everything that a test could change except rows.
_DEFINITIONS = """
    SELECT relname, relkind, relrowsecurity, relforcerowsecurity, reloptions, relowner, relacl::text,
        ARRAY(SELECT (attname, atttypid, attnotnull, attisdropped, attacl, attstattarget, attcollation)::text FROM pg_attribute
            WHERE attrelid = pg_class.oid ORDER BY attnum),
        ARRAY(SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = pg_class.oid ORDER BY adnum),
        ARRAY(SELECT (conname, convalidated)::text || pg_get_constraintdef(oid) FROM pg_constraint
            WHERE conrelid = pg_class.oid ORDER BY conname),
        ARRAY(SELECT (polname, polcmd, polroles)::text || coalesce(pg_get_expr(polqual, polrelid), '')
            || coalesce(pg_get_expr(polwithcheck, polrelid), '') FROM pg_policy WHERE polrelid = pg_class.oid ORDER BY polname),
        ARRAY(SELECT (tgname, tgenabled)::text FROM pg_trigger WHERE tgrelid = pg_class.oid AND NOT tgisinternal ORDER BY tgname),
        ARRAY(SELECT (indisvalid, indisunique)::text || pg_get_indexdef(indexrelid) FROM pg_index WHERE indexrelid = pg_class.oid)
    FROM pg_class WHERE relnamespace = %(schema)s::regnamespace
    UNION ALL
    SELECT proname, 'f', false, false, NULL, proowner, proacl::text, ARRAY[pg_get_functiondef(oid)], '{}', '{}', '{}', '{}', '{}'
    FROM pg_proc WHERE pronamespace = %(schema)s::regnamespace
    ORDER BY 1, 2
"""
_TABLES_WITH_ROWS = """
    SELECT relname FROM pg_class
    WHERE relnamespace = %(schema)s::regnamespace AND relkind = 'r' AND relname <> 'foreword_schema' AND pg_relation_size(oid) > 0
"""


class ReusedSchema:
    """A schema with the tables of a store, for one test after the other: to create and drop tables takes three times as long.

    After each test its tables are emptied, and if anything but rows has changed, the next test gets a new schema.
    """

    def __init__(self, postgres):
        self.postgres, self.schema = postgres, ""

    @contextmanager
    def url(self):
        """Yield the URL of an empty store with all tables."""
        with psycopg.connect(self.postgres, autocommit=True) as connection:
            if not self.schema:
                self.create(connection)
            yield _url_of(self.postgres, self.schema)
            if self.definitions(connection) == self.original:
                self.empty(connection)
            else:
                self.drop(connection)

    def create(self, connection):
        self.schema = f"test_{uuid.uuid4().hex}"
        connection.execute(f"CREATE SCHEMA {self.schema}")
        with closing(open_store(_url_of(self.postgres, self.schema))) as store:
            assert store.current("none") is None
        self.original = self.definitions(connection)
        assert self.tables_with_rows(connection) == [], "emptied tables would not be those of a new store"

    def definitions(self, connection):
        return connection.execute(_DEFINITIONS, {"schema": self.schema}).fetchall()

    def tables_with_rows(self, connection):
        return [name for (name,) in connection.execute(_TABLES_WITH_ROWS, {"schema": self.schema})]

    def empty(self, connection):
        if names := self.tables_with_rows(connection):
            tables = ", ".join(f"{self.schema}.{name}" for name in names)
            connection.execute(f"TRUNCATE {tables} RESTART IDENTITY CASCADE")

    def drop(self, connection):
        connection.execute(f"DROP SCHEMA {self.schema} CASCADE")
        self.schema = ""


@pytest.fixture(scope="session")
def reused_schema(postgres):
    reused = ReusedSchema(postgres)
    yield reused
    if reused.schema:
        with psycopg.connect(postgres, autocommit=True) as connection:
            reused.drop(connection)


@pytest.fixture
def emptied_url(reused_schema):
    """Return the URL of an empty store that already has its tables."""
    with reused_schema.url() as url:
        yield url


@pytest.fixture(params=["sqlite", POSTGRES])
def url(request, tmp_path):
    """Return the URL of an empty store that other processes can open too."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    return request.getfixturevalue("postgres_url")


@pytest.fixture(params=["memory", "sqlite", POSTGRES])
def store(request, tmp_path):
    """An empty store."""
    urls = {"memory": ":memory:", "sqlite": f"sqlite:///{tmp_path}/store.db"}
    store = open_store(urls.get(request.param) or request.getfixturevalue("emptied_url"))
    yield store
    store.close()


def make_edition(number=1, word="word", **other):
    """Return an edition whose texts are all different."""
    texts = {name: f"{name} {word} " * 40 for name in ("system", "tools", "account", "inputs", "layout", "built_for")}
    return Edition(**{"number": number, **texts, "created": "2026-03-07T08:55:05.123-06:00", **other})


@pytest.fixture(scope="session")
def edition():
    return make_edition
