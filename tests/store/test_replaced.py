"""A store that is removed, replaced or restored from a backup while it is in use: no acknowledged write is lost."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import psycopg
import pytest

from foreword.conversation.conversations import Conversations
from foreword.errors import StoreError
from foreword.store import open_store
from foreword.store.rows import TemplateVersion


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def store(path):
    store = open_store(str(path))
    yield store
    store.close()


def set_template(store, text):
    return store.add_template(TemplateVersion(0, text)).template


def templates(store):
    return [template.template for template in store.templates()]


def create_elsewhere(path, text):
    """Create another store and close it."""
    other = open_store(str(path))
    set_template(other, text)
    other.close()


def remove(path):
    for file in path.parent.glob("store.db*"):
        file.unlink()


def calls(store, edition):
    return (
        lambda: store.current("chat"),
        lambda: store.template(),
        lambda: store.stats(),
        lambda: store.publish("chat", edition(1), 0),
        lambda: store.save_state("chat", 1, '{"x": 1}'),
        lambda: set_template(store, "lost"),
    )


# SQLite: the file


def test_a_missing_file_is_an_error_and_is_not_created(path, store, edition):
    store.publish("chat", edition(1), 0)
    remove(path)
    for call in calls(store, edition):
        with pytest.raises(StoreError, match=r"^the store '.*' cannot be used: its file is gone; "):
            call()
    assert os.listdir(path.parent) == []


def test_a_removed_log_is_noticed_and_loses_nothing(path, store, edition):
    store.publish("chat", edition(1), 0)
    for name in ("store.db-wal", "store.db-shm"):
        path.with_name(name).unlink()
    store.publish("chat", edition(2), 1)
    other = open_store(str(path))
    assert other.editions("chat") == [edition(1), edition(2)]
    assert other.publish("chat", edition(3), 2) == store.current("chat") == edition(3)
    assert other.verify() == []
    other.close()


def test_a_replaced_log_is_an_error_and_damages_nothing(path, store, edition):
    store.publish("chat", edition(1), 0)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for name in ("store.db-wal", "store.db-shm"):
        path.with_name(name).unlink()
    other = open_store(str(path))
    other.publish("chat", edition(2), 1)
    with pytest.raises(StoreError, match="its write-ahead log was replaced while it was open"):
        store.publish("mine", edition(1), 0)
    assert store.publish("mine", edition(1), 0) == edition(1)
    assert store.editions("chat") == other.editions("chat") == [edition(1), edition(2)]
    assert store.verify() == []
    other.close()


PROCESS = """
import json, sys
from foreword.errors import StoreError
from foreword.store import open_store
from foreword.vocabulary import Edition

store = open_store(sys.argv[1])
for line in sys.stdin:
    action, id = line.split()
    try:
        if action == "write":
            edition = Edition(1, "p", "[]", "{}", "", "$std/pi", "{}", "2026-01-01T00:00:00.000+00:00")
            print(store.publish(id, edition, 0).number, flush=True)
        else:
            store.drop_forgotten()
            print(store.current(id) is not None, flush=True)
    except StoreError as error:
        print(error, flush=True)
"""


@pytest.fixture
def processes(path):
    """Two processes with the same store, each as a function that sends it an action and returns its answer."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    started = [subprocess.Popen([sys.executable, "-c", PROCESS, str(path)], text=True, **pipes) for _ in range(2)]

    def sender(process):
        def send(action):
            print(action, file=process.stdin, flush=True)
            return process.stdout.readline().strip()

        return send

    yield [sender(process) for process in started]
    for process in started:
        process.communicate()


@pytest.mark.parametrize("removed", [["-wal"], ["-wal", "-shm"], ["-shm"]], ids=" ".join)
def test_two_processes_recover_when_their_log_is_removed(path, processes, removed):
    first, second = processes
    assert (first("write a"), second("write b")) == ("1", "1")
    for end in removed:
        path.with_name(path.name + end).unlink()
    assert first("write c") == "1"
    assert [second(f"read {id}") for id in "abc"] == ["True"] * 3, "it notices without a write of its own"
    assert [second("write d"), first("write e"), second("write f")] == ["1"] * 3
    for read in (first, second):
        assert [read(f"read {id}") for id in "abcdef"] == ["True"] * 6
    store = open_store(str(path))
    assert (store.stats()["conversations"], store.verify()) == (6, [])
    store.close()


def test_a_file_that_comes_back_is_used_again(path, store, edition):
    store.publish("chat", edition(1), 0)
    path.rename(path.with_suffix(".away"))
    with pytest.raises(StoreError, match="its file is gone"):
        store.publish("chat", edition(2), 1)
    path.with_suffix(".away").rename(path)
    assert store.publish("chat", edition(2), 1) == edition(2)
    assert open_store(str(path)).editions("chat") == [edition(1), edition(2)]


def test_a_replacement_file_is_opened(path, store, edition, tmp_path):
    set_template(store, "T1")
    store.publish("chat", edition(1), 0)
    create_elsewhere(tmp_path / "other.db", "O1")
    os.replace(tmp_path / "other.db", path)
    assert (templates(store), store.current("chat")) == (["O1"], None)
    set_template(store, "O2")
    assert templates(open_store(str(path))) == ["O2", "O1"]
    assert store.verify() == []


def test_a_new_store_at_the_same_path_is_used(path, store):
    set_template(store, "T1")
    remove(path)
    create_elsewhere(path, "N1")
    assert templates(store) == ["N1"]


def test_the_log_of_the_old_file_is_not_applied_to_its_replacement(path, store, tmp_path):
    set_template(store, "T1")
    with closing(sqlite3.connect(path)) as live_store, closing(sqlite3.connect(tmp_path / "backup.db")) as backup:
        live_store.backup(backup)
    set_template(store, "T2")
    os.link(path, tmp_path / "kept.db")
    os.replace(tmp_path / "backup.db", path)
    assert templates(store) == ["T1"]
    assert (store.verify(), templates(open_store(str(path)))) == ([], ["T1"])
    assert templates(open_store(str(tmp_path / "kept.db"))) == ["T2", "T1"], (
        "the old file contains everything from its log"
    )


@pytest.mark.parametrize(
    ("replacement", "message"),
    [
        (lambda path: path.mkdir(), "it is a directory, not a regular file"),
        (lambda path: os.mkfifo(path), "it is a named pipe, not a regular file"),
        (lambda path: path.write_bytes(b"Not a database. " * 300), "the file is not a SQLite database"),
    ],
)
def test_a_replacement_that_is_not_a_store_is_an_error(path, store, edition, replacement, message):
    set_template(store, "T1")
    path.rename(path.with_suffix(".away"))
    replacement(path)
    for call in calls(store, edition):
        with pytest.raises(StoreError, match=f"cannot be used: {message}"):
            call()
    path.rmdir() if path.is_dir() else path.unlink()
    path.with_suffix(".away").rename(path)
    set_template(store, "T2")
    assert templates(store) == templates(open_store(str(path))) == ["T2", "T1"]


def test_a_damaged_file_is_used_again_after_its_repair(path, store, edition):
    store.publish("chat", edition(1), 0)
    store.close()
    content = path.read_bytes()
    with closing(open_store(str(path))) as store:
        before = store.moment()
        path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
        with pytest.raises(StoreError, match="the file is damaged"):
            store.current("chat")
        path.write_bytes(content)
        assert store.current("chat") == edition(1)
        assert store.moment() != before


def test_a_connection_in_use_while_the_file_is_replaced_is_not_used_again(path, store, tmp_path):
    set_template(store, "T1")
    create_elsewhere(tmp_path / "other.db", "O1")

    def replace_file(connection):
        os.replace(tmp_path / "other.db", path)
        return templates(store)

    assert store._run(replace_file) == ["O1"]
    for _ in range(3):
        assert templates(store) == ["O1"]


def test_a_closed_store_is_not_reopened(path, store):
    store.close()
    remove(path)
    with pytest.raises(StoreError, match="the store is closed"):
        store.template()
    assert not path.exists()


def test_a_conversation_that_the_new_store_does_not_have_is_forgotten(path, tmp_path):
    conversations = Conversations(str(path))
    conversations.construct("chat", None)
    create_elsewhere(tmp_path / "other.db", "O1")
    os.replace(tmp_path / "other.db", path)
    assert conversations.get("chat") is None
    remove(path)
    with pytest.raises(StoreError):
        conversations.get("chat")
    conversations.close()


# SQLite and PostgreSQL: restored backups


class File:
    """A SQLite file, restored by SQLite's backup function."""

    def __init__(self, path):
        self.url, self._path, self._backup = str(path), path, f"{path}.backup"

    def back_up(self):
        self._copy(self._path, self._backup)

    def restore(self):
        self._copy(self._backup, self._path)

    def _copy(self, source, target):
        with closing(sqlite3.connect(source)) as source, closing(sqlite3.connect(target)) as target:
            source.backup(target)


class Database:
    """A PostgreSQL database, restored like `pg_restore --clean` does: the tables are created and filled again."""

    # In an order in which rows follow those that they refer to.
    TABLES = ("texts", "kinds", "contents", "editions", "counts", "templates", "labels", "moves", "unused")
    TABLES += ("forgotten", "usage", "leases", "schema")
    WITH_IDENTITY = ("texts", "kinds", "contents", "editions", "moves", "forgotten")

    def __init__(self, url):
        self.url = url

    def back_up(self):
        with psycopg.connect(self.url) as connection:
            names = connection.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE 'foreword_%'").fetchall()
            assert {name for (name,) in names} == {f"foreword_{table}" for table in self.TABLES}
            for table in self.TABLES:
                connection.execute(f"CREATE TABLE backup_{table} AS TABLE foreword_{table}")

    def restore(self):
        with psycopg.connect(self.url) as connection:
            connection.execute(f"DROP TABLE {', '.join(f'foreword_{table}' for table in self.TABLES)}")
        open_store(self.url).stats()
        with psycopg.connect(self.url) as connection:
            connection.execute("DELETE FROM foreword_schema")
            for table in self.TABLES:
                connection.execute(
                    f"INSERT INTO foreword_{table} OVERRIDING SYSTEM VALUE SELECT * FROM backup_{table}"
                    if table in self.WITH_IDENTITY
                    else f"INSERT INTO foreword_{table} SELECT * FROM backup_{table}"
                )
            for table in self.WITH_IDENTITY:
                connection.execute(
                    f"SELECT setval(pg_get_serial_sequence('foreword_{table}', 'id'), max(id)) FROM foreword_{table}"
                )


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))])
def live_store(request, path):
    return File(path) if request.param == "sqlite" else Database(request.getfixturevalue("postgres_url"))


@pytest.mark.parametrize("between", [[], ["YYYY"], ["YYYY", "ZZZZ"]])
def test_writes_after_a_restored_backup_are_kept(live_store, between):
    store = open_store(live_store.url)
    set_template(store, "T1")
    live_store.back_up()
    set_template(store, "XXXX")
    live_store.restore()
    other = open_store(live_store.url)
    for text in between:
        set_template(other, text)
    set_template(store, "XXXX")
    assert templates(store) == templates(other) == ["XXXX", *reversed(between), "T1"]
    assert store.verify() == []


def test_reads_after_a_restored_backup_are_current(live_store, edition):
    """The rows are the same, including the time, but they point at other texts."""
    store = open_store(live_store.url)
    store.publish("chat", edition(1), 0)
    live_store.back_up()
    store.publish("chat", edition(2, tools="old tools"), 1)
    set_template(store, "old template")
    assert store.current("chat").tools == "old tools"
    live_store.restore()
    other = open_store(live_store.url)
    other.publish("chat", edition(2, tools="new tools"), 1)
    set_template(other, "new template")
    assert store.current("chat") == store.edition("chat", 2) == edition(2, tools="new tools")
    assert store.editions("chat") == [edition(1), edition(2, tools="new tools")]
    assert templates(store) == ["new template"]
    assert store.verify() == []
