"""A store can be saved while it is used, and restored. What is restored was verified before."""

import os
import re
import shutil
import sqlite3
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from foreword.errors import CallError, StoreBusyError, StoreError
from foreword.store import open_store
from foreword.store.backup import back_up, restore
from foreword.store.rows import TemplateVersion

sys.path.insert(0, str(Path(__file__).parent))
from server import SETTINGS, Server


@pytest.fixture
def path(tmp_path, edition):
    store = open_store(f"{tmp_path}/store.db")
    store.publish("chat", edition(1), 0)
    store.add_template(TemplateVersion(0, "Hello."))
    store.close()
    return f"{tmp_path}/store.db"


def test_a_backup_is_one_file_with_everything(path, tmp_path, edition):
    stats = back_up(path, f"{tmp_path}/backup.db")
    assert (stats["conversations"], stats["versions"]) == (1, 1)
    assert (os.stat(f"{tmp_path}/backup.db").st_mode & 0o777, sorted(os.listdir(tmp_path))) == (
        0o600,
        ["backup.db", "store.db"],
    )
    with closing(open_store(f"{tmp_path}/backup.db")) as backup:
        assert (backup.current("chat"), backup.template().template, backup.verify()) == (edition(1), "Hello.", [])


def test_a_backup_during_writes_is_complete(path, tmp_path, edition):
    is_done, published = threading.Event(), []

    def write():
        with closing(open_store(path)) as store:
            while not is_done.is_set():
                store.publish(f"{len(published)}", edition(1, f"{len(published)}"), 0)
                published.append(1)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for number in range(5):
            least = len(published)
            assert back_up(path, f"{tmp_path}/{number}.db")["conversations"] > least  # and it was verified
    finally:
        is_done.set()
        thread.join()
    assert len(published) > 5, "otherwise the test proves nothing"


def test_a_backup_never_replaces_a_file(path, tmp_path):
    (tmp_path / "notes").write_text("mine")
    for name in ("notes", "store.db"):
        with pytest.raises(CallError, match="exists already"):
            back_up(path, f"{tmp_path}/{name}")
    assert ((tmp_path / "notes").read_text(), sorted(os.listdir(tmp_path))) == ("mine", ["notes", "store.db"])
    with pytest.raises(StoreError, match="cannot be created: No such file"):
        back_up(path, f"{tmp_path}/missing/backup.db")


@pytest.mark.parametrize("is_open", [False, True])
def test_a_restored_store_is_as_it_was(path, tmp_path, edition, is_open):
    back_up(path, f"{tmp_path}/backup.db")
    store = open_store(path)
    store.publish("chat", edition(2, "later"), 1)
    store.publish("new", edition(1, "new"), 0)
    if not is_open:
        store.close()
        os.unlink(path)
    assert restore(path, f"{tmp_path}/backup.db")["conversations"] == 1
    if not is_open:
        store = open_store(path)
    assert (store.current("chat"), store.current("new"), store.verify()) == (edition(1), None, [])
    assert store.publish("chat", edition(2), 1) == edition(2)
    store.close()
    assert (os.stat(path).st_mode & 0o777, sorted(os.listdir(tmp_path))) == (0o600, ["backup.db", "store.db"])


def test_paths_may_be_relative(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert back_up("store.db", "backup.db")["conversations"] == restore("store.db", "backup.db")["conversations"] == 1


def damage_text(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE foreword_texts SET body = x'6f74686572'")


def cut(path):
    with open(path, "r+b") as file:
        file.truncate(8192)


def create_table(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (x)")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (damage_text, "is damaged, and nothing was changed"),
        (cut, "the file is damaged|is damaged"),
        (lambda path: Path(path).write_text("not a database " * 1000), "is not a SQLite database"),
        (lambda path: os.unlink(path), "there is no file"),
        (
            lambda path: (os.unlink(path), create_table(path)),
            "another program's database",
        ),
    ],
)
def test_a_damaged_backup_changes_nothing(path, tmp_path, edition, damage, words):
    back_up(path, f"{tmp_path}/backup.db")
    damage(f"{tmp_path}/backup.db")
    with pytest.raises((StoreError, CallError), match=words):
        restore(path, f"{tmp_path}/backup.db")
    with closing(open_store(path)) as store:
        assert (store.current("chat"), store.verify()) == (edition(1), [])
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]


def test_a_locked_store_is_not_restored(path, tmp_path, monkeypatch):
    monkeypatch.setattr("foreword.store.backup.BUSY_TIMEOUT", 0.2)
    back_up(path, f"{tmp_path}/backup.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError, match="another process has locked it"):
            restore(path, f"{tmp_path}/backup.db")


def test_other_stores_say_what_to_do(path, tmp_path):
    for url in ("postgresql://user:planted-password@host/name", ":memory:"):
        for call in (back_up, restore):
            with pytest.raises(CallError, match=r"PostgreSQL has its own programs|a store in memory is lost") as error:
                call(url, f"{tmp_path}/backup.db")
            assert "planted" not in str(error.value)
    with pytest.raises(CallError, match="is the store itself"):
        restore(path, path)


# PostgreSQL


@pytest.fixture
def cluster():
    """A PostgreSQL server whose folder the test can use."""
    folder = Path(tempfile.mkdtemp(prefix="foreword-pg-"))
    server = Server(
        folder,
        {**SETTINGS, "wal_level": "replica", "archive_mode": "on", "archive_command": f"cp %p {folder}/archive/%f"},
    )
    try:
        make_folder(server, "archive")
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def make_folder(server, name):
    (server.folder / name).mkdir()
    if server.identity:
        os.chown(server.folder / name, server.identity["user"], server.identity["group"])


def url_of(server, name, user="foreword"):
    return server.url.replace("/postgres?", f"/{name}?").replace("foreword@", f"{user}@")


def fill(url, edition):
    store = open_store(url)
    for team in ("", "billing"):
        store.for_team(team).publish("chat", edition(1, team), 0)
        store.for_team(team).add_template(TemplateVersion(0, f"Hello, {team}."))
    return store


@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize("is_empty", [True, False])
def test_a_dump_of_a_role_without_privileges_is_complete(cluster, edition, is_empty):
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        connection.execute("CREATE ROLE plain LOGIN NOSUPERUSER NOBYPASSRLS")
        for name in ("source", "target"):
            connection.execute(f"CREATE DATABASE {name} OWNER plain")
    source = url_of(cluster, "source", "plain")
    store = fill(source, edition)
    run_documented(cluster, "pg_dump", source)
    target = url_of(cluster, "target", "plain") if is_empty else source
    if not is_empty:
        store.for_team("billing").publish("later", edition(1, "later"), 0)
    run_documented(cluster, "pg_restore", target)
    with closing(open_store(target)) as restored:
        billing = restored.for_team("billing")
        assert (billing.current("chat"), billing.current("later")) == (edition(1, "billing"), None)
        assert (billing.template().template, restored.stats()["conversations"], restored.verify()) == (
            "Hello, billing.",
            2,
            [],
        )
        billing.publish("after", edition(1, "after"), 0)
        assert restored.verify() == []
    store.close()


def run_documented(server, program, url):
    """Run the command for this program that the documentation shows."""
    text = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
    (line,) = re.findall(rf"^    (.*\b{program} .*)$", text, re.MULTILINE)
    words = line.replace("backup.dump", str(server.folder / "backup.dump")).replace("URL", f"'{url}'")
    script = f"PATH='{server.home}/bin':$PATH; {words}"
    server.run(Path(shutil.which("sh")), "-c", script)


@pytest.mark.xdist_group("postgres")
def test_a_base_backup_and_the_archived_log_restore_a_moment(cluster, edition):
    store = fill(cluster.url, edition)
    cluster.run(
        "pg_basebackup", "-h", cluster.folder, "-U", "foreword", "-D", cluster.folder / "base", "--checkpoint=fast"
    )
    store.publish("after the base backup", edition(1, "after"), 0)
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        connection.execute("SELECT pg_create_restore_point('before the mistake')")
        store.forget("chat")
        ((last,),) = connection.execute("SELECT pg_walfile_name(pg_current_wal_lsn())").fetchall()
        connection.execute("SELECT pg_switch_wal()")
        archived = "SELECT coalesce(last_archived_wal, '') >= %s FROM pg_stat_archiver"
        while not connection.execute(archived, (last,)).fetchone()[0]:
            time.sleep(0.05)
    store.close()
    cluster.stop()
    cluster.data = cluster.folder / "base"
    (cluster.data / "recovery.signal").touch()
    if cluster.identity:
        os.chown(cluster.data / "recovery.signal", cluster.identity["user"], cluster.identity["group"])
    cluster.settings |= {
        "restore_command": f"cp {cluster.folder}/archive/%f %p",
        "recovery_target_name": "before the mistake",
        "recovery_target_action": "promote",
        "archive_mode": "off",
    }
    cluster.start()
    with closing(open_store(cluster.url)) as restored:
        assert [restored.current(id) for id in ("chat", "after the base backup")] == [
            edition(1, ""),
            edition(1, "after"),
        ]
        assert restored.verify() == []
