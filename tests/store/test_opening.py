"""How a store is named and opened, and the errors when that fails."""

import ast
import gc
import os
import re
import resource
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

import foreword
from foreword.errors import CallError, StoreBusyError, StoreError
from foreword.store import (
    STORES,
    check_folder,
    exists,
    folder_of,
    is_in_memory,
    is_local,
    local_path,
    make_folder,
    open_store,
)
from foreword.store.sqlite_connection import connect

# URLs


@pytest.mark.parametrize(
    ("url", "file"),
    [
        ("sqlite:///relative.db", "relative.db"),
        ("sqlite:///below/it/relative.db", "below/it/relative.db"),
        ("sqlite:///{here}/absolute.db", "absolute.db"),
        ("bare.db", "bare.db"),
        ("below/bare", "below/bare"),
        ("{here}/bare.db", "bare.db"),
        ("file:odd?mode=memory", "file:odd?mode=memory"),
        ("sqlite:///per%20cent.db", "per%20cent.db"),
        ("ünï '\".db", "ünï '\".db"),
        ("undecodable-\udcff.db", "undecodable-\udcff.db"),
        (":memory:", None),
        ("sqlite://", None),
        ("sqlite:///", None),
        ("sqlite:///:memory:", None),
    ],
)
def test_a_url_names_a_file(tmp_path, monkeypatch, edition, url, file):
    monkeypatch.chdir(tmp_path)
    store = open_store(url.format(here=tmp_path))
    store.publish("chat", edition(1), 0)
    assert store.current("chat") == edition(1)
    store.close()
    created = [os.path.join(folder, name) for folder, _, names in os.walk(".") for name in names]
    assert created == ([os.path.join(".", file)] if file else [])


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "a store's URL or path must not be empty or contain NUL; use a path, :memory:, sqlite:///relative.db, "),
        ("a\0b", "a store's URL or path must not be empty or contain NUL"),
        ("mysql://me:secret@host/name", "unknown kind of store mysql://…; use a path, "),
        ("://", "unknown kind of store ://…"),
        (
            "sqlite://x.db",
            "'sqlite://x.db' has too few slashes; use sqlite:///x.db for a relative path or sqlite:////x.db for an absolute one",
        ),
        ("sqlite:x.db", "sqlite: must be followed by slashes; use a path, "),
        ("postgresql:secret", "postgresql: must be followed by slashes"),
        (
            "postgresql://me:se@cret@host/name",
            "the store's URL is not valid; use postgresql://user:password@host",
        ),
        ("postgresql://me:secret/x@host/name", "the store's URL is not valid"),
        ("postgresql://me:secret/name", "the store's URL is not valid"),
        ("postgresql://host/name?nonsense=secret", "the store's URL is not valid"),
    ],
)
def test_the_error_for_an_invalid_url_shows_a_valid_one(url, message):
    with pytest.raises(CallError) as error:
        open_store(url)
    assert str(error.value).startswith(message)
    assert "cret" not in str(error.value)
    assert "\n" not in str(error.value)


def test_new_directories_and_files_are_private(tmp_path):
    old = os.umask(0o022)
    open_store(f"{tmp_path}/a/b/store.db").close()
    os.umask(old)
    assert [stat.S_IMODE(os.stat(tmp_path / path).st_mode) for path in ("a", "a/b", "a/b/store.db")] == [
        0o700,
        0o700,
        0o600,
    ]


def test_existing_directories_keep_their_permissions(tmp_path):
    (tmp_path / "open").mkdir(mode=0o755)
    (tmp_path / "open/store.db").touch(mode=0o644)
    open_store(f"{tmp_path}/open/store.db").close()
    assert [stat.S_IMODE(os.stat(tmp_path / path).st_mode) for path in ("open", "open/store.db")] == [0o755, 0o644]


def test_a_relative_path_survives_a_chdir(tmp_path, monkeypatch, edition):
    monkeypatch.chdir(tmp_path)
    store = open_store("store.db")
    store.publish("chat", edition(1), 0)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    first, _ = store._connections.take()
    assert store.current("chat") == edition(1), "by a second connection"
    store._connections.give_back(first)
    store.close()
    assert os.listdir() == []


def test_a_store_can_be_reopened(url, edition):
    for number in (1, 2, 3):
        store = open_store(url)
        assert store.publish("chat", edition(number, str(number)), number - 1) == edition(number, str(number))
        store.close()
    store = open_store(url)
    assert store.editions("chat") == [edition(number, str(number)) for number in (1, 2, 3)]
    store.close()


# SQLite


def error_for(path):
    with pytest.raises(StoreError) as error:
        open_store(str(path))
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_file_that_is_not_a_database_is_refused(tmp_path):
    path = tmp_path / "store.db"
    path.write_bytes(b"Not a database, but long enough to be one. " * 100)
    assert error_for(path) == f"the store '{path}' cannot be used: the file is not a SQLite database"
    assert path.read_bytes().startswith(b"Not a database")


def test_a_database_of_another_program_is_refused(tmp_path):
    path = tmp_path / "store.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    other.close()
    assert error_for(path) == (
        f"the store '{path}' cannot be used: the file is another program's database; choose a different file"
    )


def test_an_impossible_path_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    assert error_for(tmp_path) == f"the store '{tmp_path}' cannot be used: it is a directory, not a regular file"
    os.mkfifo(tmp_path / "pipe")
    message = f"the store '{tmp_path}/pipe' cannot be used: it is a named pipe, not a regular file"
    assert error_for(tmp_path / "pipe") == message
    (tmp_path / "odd-\udcff").write_bytes(b"Not a database, but long enough to be one. " * 100)
    assert (
        error_for(f"{tmp_path}/odd-\udcff")
        == f"the store '{tmp_path}/odd-\\xff' cannot be used: the file is not a SQLite database"
    )
    below = tmp_path / "file" / "store.db"
    assert error_for(below) == f"the store '{below}' cannot be created: File exists"


SCRIPT_AS_NOBODY = """
import os, sys
sys.path[:] = {path!r}
from foreword.errors import StoreError
from foreword.store import STORES, is_in_memory, is_local, open_store
from foreword.vocabulary import Edition
import pwd
open_store(":memory:").close()  # import everything while it can still be read
if os.getuid() == 0:
    os.setgid(pwd.getpwnam("nobody").pw_gid)
    os.setuid(pwd.getpwnam("nobody").pw_uid)
for call in (
    lambda: open_store({new!r}),
    lambda: open_store({below!r}),
    lambda: open_store({old!r}).publish("chat", Edition(1, "x"), 0),
):
    try:
        print(call())
    except StoreError as error:
        print(error)
"""


def test_a_read_only_store_is_an_error(edition):
    """Run in a process that is not root, because root may write everywhere."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(f"{folder}/shut")
        open_store(f"{folder}/shut/old.db").close()
        os.chmod(f"{folder}/shut/old.db", 0o444)
        os.chmod(f"{folder}/shut", 0o555)
        os.chmod(folder, 0o755)
        new, below, old = (f"{folder}/shut/{name}" for name in ("new.db", "below/new.db", "old.db"))
        script = SCRIPT_AS_NOBODY.format(path=sys.path, new=new, below=below, old=old)
        result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        os.chmod(f"{folder}/shut", 0o755)
    assert result.stdout.splitlines() == [
        f"the store '{new}' cannot be used: it cannot be opened or created there",
        f"the store '{below}' cannot be created: Permission denied",
        f"the store '{old}' cannot be used: it is read-only",
    ]


def test_a_damaged_file_is_an_error_that_verify_reports(tmp_path, edition):
    path = tmp_path / "store.db"
    store = open_store(str(path))
    for number in range(200):
        store.publish(f"chat {number}", edition(1, str(number)), 0)
    store.close()
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 20] = b"\xff" * 4096 * 17
    path.write_bytes(content)
    store = open_store(str(path))
    assert store.verify()[0].startswith("the file is damaged: ")
    with pytest.raises(StoreError, match="the file is damaged"):
        [store.current(f"chat {number}") for number in range(200)]
    store.close()


def test_a_file_that_stays_locked_is_an_error(tmp_path, edition, monkeypatch):
    monkeypatch.setattr("foreword.store.sqlite_connection.BUSY_TIMEOUT", 0.05)
    path = tmp_path / "store.db"
    store = open_store(str(path))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusyError, match="another process has locked it for"):
        store.publish("chat", edition(1), 0)
    assert store.current("chat") is None, "reading still works"
    other.execute("ROLLBACK")
    other.close()
    assert store.publish("chat", edition(1), 0) == edition(1)
    store.close()


def test_a_full_disk_is_noticed_without_a_write_of_data(tmp_path, edition):
    path = tmp_path / "store.db"
    store = open_store(str(path))
    store.publish("chat", edition(1), 0)
    store.check_writable()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(f"{path}-wal"), hard))
    try:
        with pytest.raises(StoreError):
            store.publish("other", edition(1), 0)
        for _ in range(2):
            with pytest.raises(StoreError, match="cannot be used: the disk"):
                store.check_writable()
        assert store.current("chat") == edition(1), "reading still works"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    store.check_writable()
    assert store.publish("other", edition(1), 0) == edition(1)
    store.close()


def test_a_locked_file_is_busy_not_read_only(tmp_path):
    store = open_store(str(tmp_path / "store.db"))
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError):
            store.check_writable()
    store.check_writable()
    store.close()


def test_sqlite_imports_nothing_heavy():
    script = (
        f"import sys; sys.path[:] = {sys.path!r}; from foreword.store import open_store; open_store(':memory:').stats()"
    )
    script += "; print(*sorted(set('psycopg typing dataclasses pathlib json hashlib logging inspect'.split()) & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout == "\n"


# PostgreSQL


@pytest.mark.xdist_group("postgres")
def test_a_restarted_server_is_reached_again(own_server, edition):
    store = open_store(own_server.url)
    first = edition(1)
    store.publish("chat", first, 0)
    own_server.command("stop")
    for call in (
        lambda: store.current("chat"),
        lambda: store.publish("chat", edition(2), 1),
        lambda: store.save_state("chat", 1, '{"x": 1}'),
        lambda: store.stats(),
    ):
        with pytest.raises(StoreError, match=r"^the store 'postgresql:///.*/postgres' cannot be used: "):
            call()
    own_server.command("start")
    assert store.current("chat") == first
    own_server.command("stop")
    own_server.command("start")
    assert store.publish("chat", edition(2), 1) == edition(2), "the restart goes unnoticed"
    own_server.command("stop")
    own_server.command("start")
    store.save_state("chat", 2, '{"x": 1}')
    own_server.command("stop")
    own_server.command("start")
    assert store.verify() == []
    store.close()


@pytest.mark.xdist_group("postgres")
def test_a_store_can_be_opened_before_its_server(own_server, edition):
    own_server.command("stop")
    store = open_store(own_server.url)
    with pytest.raises(StoreError, match="cannot be used"):
        store.current("chat")
    own_server.command("start")
    assert store.publish("chat", edition(1), 0) == edition(1)
    store.close()


@pytest.mark.xdist_group("postgres")
def test_a_lost_connection_is_replaced(postgres_url, edition):
    store = open_store(postgres_url)
    store.publish("chat", edition(1), 0)
    with psycopg.connect(postgres_url, autocommit=True) as other:
        cut = (
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE application_name = 'foreword' AND pid <> pg_backend_pid()"
        )
        for call in (
            lambda: store.current("chat") == edition(1),
            lambda: store.publish("chat", edition(2), 1) == edition(2),
            lambda: store.editions("chat") == [edition(1), edition(2)],
        ):
            # The pool may still be opening a connection; without this, that one could be cut after the others were replaced.
            assert any(is_settled(store) or time.sleep(0.01) for _ in range(3000))
            other.execute(cut)
            assert call()
    store.close()


def is_settled(store):
    """Whether all connections of a store's pool are open and idle."""
    counts = store._pool.counts()
    return counts["pool_available"] == counts["pool_size"]


@pytest.mark.parametrize("host", ["127.0.0.1:1", "no-such-host.invalid", "%2Fno%2Fsuch%2Fsocket"])
def test_a_failure_does_not_show_the_password(host):
    store = open_store(f"postgresql://me:s3cr3t@{host}/name")
    with pytest.raises(StoreError) as error:
        store.current("chat")
    assert str(error.value).startswith("the store 'postgresql://")
    assert "s3cr3t" not in repr(error.value) + repr(error.value.__cause__) + repr(store)
    assert "\n" not in str(error.value)
    store.close()


# Table of stores


def test_only_the_default_kind_of_store_is_named_in_other_packages():
    """Adding a store must only touch its module, the table of stores, and the fixtures of these tests."""
    source = Path(foreword.__file__).parent
    names = [scheme for kind in STORES[1:] for scheme in kind.schemes]
    users = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if any(name in (text := path.read_text()) for name in names)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(tuple(names))
    }
    assert {user for user in users if not user.startswith("store/")} == set()


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("store.db", "store.db"),
        ("sqlite:///store.db", "store.db"),
        ("sqlite:////far/store.db", "/far/store.db"),
        (":memory:", ""),
        ("sqlite://", ""),
        ("sqlite:///", ""),
        ("sqlite:///:memory:", ""),
        ("postgresql://me@host/name", None),
        ("postgres://host", None),
    ],
)
def test_a_url_shows_where_the_store_is(tmp_path, monkeypatch, url, path):
    monkeypatch.chdir(tmp_path)
    assert (local_path(url), is_local(url), is_in_memory(url)) == (path, path is not None, path == "")
    assert exists(url) == (not path)
    assert folder_of(url) == ("" if not path else os.path.dirname(path) or os.getcwd())


def test_the_folder_of_a_store_is_checked_or_made_for_the_user_alone(tmp_path):
    url = str(tmp_path / "a" / "b" / "store.db")
    message = f"the store {url} cannot be created: there is no folder {tmp_path}/a/b; create it first"
    with pytest.raises(CallError, match=re.escape(message)):
        check_folder(url)
    make_folder(url)
    make_folder(url)
    check_folder(url)
    assert stat.S_IMODE(os.stat(tmp_path / "a" / "b").st_mode) == 0o700
    for other in (":memory:", "postgresql://host/a/b"):
        check_folder(other)
        make_folder(other)
    (tmp_path / "file").write_text("")
    make_folder(str(tmp_path / "file" / "store.db"))  # opening the store says why it cannot be used
    with pytest.raises(CallError, match="cannot be created"):
        check_folder(str(tmp_path / "file" / "store.db"))


def test_a_connection_that_fails_prints_no_traceback(tmp_path, monkeypatch):
    unraisable = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    with pytest.raises(StoreError):
        connect(str(tmp_path / "missing" / "store.db"), must_exist=True)
    gc.collect()
    assert unraisable == []


def test_a_store_in_a_folder_that_cannot_be_read_is_not_taken_for_a_missing_one(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    url = str(tmp_path / "store.db")
    assert not exists(url)
    monkeypatch.setattr(os, "lstat", refuse)
    assert exists(url)
