"""A store works behind PgBouncer in transaction mode, where each transaction may use another connection."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from foreword.errors import StoreBusyError
from foreword.store import open_store
from foreword.store.listing import ConversationQuery
from foreword.store.rows import TemplateVersion

pytestmark = pytest.mark.xdist_group("postgres")
PROGRAM = os.environ.get("PGBOUNCER") or shutil.which("pgbouncer")
CONFIGURATION = """
[databases]
* = {server} user={user}
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = 2
"""


@contextmanager
def bouncer(url, user="foreword"):
    """Yield the URL of a PgBouncer with two connections to the server at a URL, as this role."""
    parts = urlsplit(url)
    folder = Path(tempfile.mkdtemp(prefix="foreword-pgbouncer-"))
    server = f"host={parse_qs(parts.query)['host'][0]}" if parts.query else f"host={parts.hostname} port={parts.port}"
    (folder / "pgbouncer.ini").write_text(CONFIGURATION.format(server=server, folder=folder, user=user))
    identity = {}
    if os.getuid() == 0:
        nobody = pwd.getpwnam("nobody")
        identity = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen([PROGRAM, folder / "pgbouncer.ini"], cwd=folder, stdout=log, stderr=log, **identity)
    try:
        address = f"postgresql://foreword@{parts.path}?host={folder}&port=6432"
        for _ in range(3000):
            try:
                psycopg.connect(address).close()
                break
            except psycopg.OperationalError:
                assert process.poll() is None, (folder / "log").read_text()
                time.sleep(0.02)
        yield address
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def bouncer_url(postgres):
    """Return the URL of an empty store behind PgBouncer in transaction mode."""
    name = f"bouncer_{uuid.uuid4().hex}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        with bouncer(postgres.replace("/postgres?", f"/{name}?")) as url:
            yield url
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.skipif(PROGRAM is None, reason="pgbouncer is not installed (Debian, Ubuntu: apt install pgbouncer)")
def test_a_store_works_behind_pgbouncer_in_transaction_mode(bouncer_url, edition):
    store = open_store(f"{bouncer_url}&call_timeout=4")

    def talk(number):
        id = f"chat {number}"
        store.publish(id, edition(1, str(number)), 0)
        for again in range(8):  # psycopg would prepare the statement by now, on a connection that belongs to others
            assert store.current(id).number == 1
            assert store.save_state(id, 1, f'{{"x": {again}}}')
        return store.publish(id, edition(2, str(number)), 1).number

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(talk, range(16))) == [2] * 16
    assert store.add_template(TemplateVersion(0, "Hello")).version == 1
    assert (store.verify(), len(store.conversations(ConversationQuery(prefix="chat 1")).rows)) == ([], 7)
    with psycopg.connect(bouncer_url) as other:
        other.execute("SELECT 1 FROM foreword_editions WHERE conversation = 'chat 1' FOR UPDATE")
        with pytest.raises(StoreBusyError, match="canceling statement due to lock timeout"):
            store.save_state("chat 1", 2, "{}")
        assert store.current("chat 1").number == 2
    with psycopg.connect(bouncer_url, autocommit=True) as other:
        assert {other.execute("SHOW statement_timeout").fetchone() for _ in range(4)} == {("0",)}
    store.close()


@pytest.fixture
def plain_bouncer_url(postgres):
    """Return the URL of an empty store behind PgBouncer, whose role is neither a superuser nor may bypass row-level security."""
    name = f"plain_{uuid.uuid4().hex}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN NOSUPERUSER NOBYPASSRLS")
        connection.execute(f"CREATE DATABASE {name} OWNER {name}")
        parts = urlsplit(postgres)
        with bouncer(parts._replace(path=f"/{name}").geturl(), name) as url:
            yield url
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
        connection.execute(f"DROP ROLE {name}")


@pytest.mark.skipif(not PROGRAM, reason="PgBouncer is not installed")
def test_teams_that_share_connections_never_see_each_other(plain_bouncer_url, edition):
    """Each of two connections serves the transactions of both teams in turn; the setting of one must not stay for the other."""
    store = open_store(plain_bouncer_url)
    teams = {name: store.for_team(name) for name in ("a", "b")}

    def work(name):
        team = teams[name]
        for number in range(30):
            id = f"chat {number}"
            assert (
                team.publish(id, edition(1, f"{name} {number}", created="2020-01-01T00:00:00.000+00:00"), 0).number == 1
            )
            assert team.current(id).system == edition(1, f"{name} {number}").system
            seen = team._run(lambda connection: team._select(connection, "SELECT DISTINCT team FROM foreword_editions"))
            assert seen == [(name,)]
        return len(team.conversations(ConversationQuery(limit=100)).rows)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(work, ("a", "b"))) == [30, 30]
    assert teams["a"].forget("chat 0")
    *_, total = teams["a"].prune(1.7e9, 0)
    assert (total.conversations, len(teams["b"].conversations().rows)) == (29, 30)
    assert (store.stats()["conversations"], store.verify()) == (30, [])
    assert store.take_lease("job", "one", 15, 600)
    store.close()
