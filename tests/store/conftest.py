"""One suite for every store: the fixtures `store` and `url` run each test on SQLite and PostgreSQL.

PostgreSQL is a real server: the one in TEST_DATABASE_URL, or one that is started here. If it cannot start, the tests fail.
"""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
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


@pytest.fixture
def postgres_url(postgres):
    """Return the URL of an empty store, in a new schema of the database."""
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
        yield f"{postgres}{'&' if '?' in postgres else '?'}options=-csearch_path%3D{name}"
        connection.execute(f"DROP SCHEMA {name} CASCADE")


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
    store = open_store(urls.get(request.param) or request.getfixturevalue("postgres_url"))
    yield store
    store.close()


def make_edition(number=1, word="word", **other):
    """Return an edition whose texts are all different."""
    texts = {name: f"{name} {word} " * 40 for name in ("system", "tools", "account", "inputs", "layout", "built_for")}
    return Edition(**{"number": number, **texts, "created": "2026-03-07T08:55:05.123-06:00", **other})


@pytest.fixture(scope="session")
def edition():
    return make_edition
