"""A full disk is an error that loses nothing, and the store works again when there is space.

A limit on the size of files works everywhere. If a small disk can be mounted, that is tested too. For PostgreSQL, a trigger raises
the server's error for a full disk.
"""

import contextlib
import json
import subprocess
import sys
import tempfile

import psycopg
import pytest

from foreword.errors import StoreError
from foreword.store import open_store

FILL_SCRIPT = """
import json, os, resource, sys
from foreword.errors import StoreError
from foreword.store import open_store
from foreword.store.rows import TemplateVersion
from foreword.vocabulary import Edition

path, way = sys.argv[1:]
store = open_store(path)
kept, errors = {}, []

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

def publish(number):
    edition = Edition(1, os.urandom(20_000).hex(), account=str(number))
    kept_now = store.publish(f"chat {number}", edition, 0)
    kept[f"chat {number}"] = kept_now

if way == "limit":
    limit(600_000)
else:
    with open(os.path.dirname(path) + "/ballast", "wb") as file:
        file.write(bytes(100_000))
for number in range(200):
    try:
        publish(number)
    except StoreError as error:
        errors.append(str(error))
calls = [lambda: store.add_template(TemplateVersion(0, os.urandom(300_000).hex())), lambda: store.publish("chat 0", Edition(2, os.urandom(300_000).hex()), 1)]
for call in calls:
    try:
        call()
    except StoreError as error:
        errors.append(str(error))
there = all(store.current(talk) == edition for talk, edition in kept.items())
full = len(kept)
limit(resource.RLIM_INFINITY) if way == "limit" else os.unlink(os.path.dirname(path) + "/ballast")
publish(1000)
store.close()
store = open_store(path)
there = there and all(store.current(talk) == edition for talk, edition in kept.items())
stats = store.stats()
json.dump({"errors": errors, "there": there, "wrong": store.verify(), "full": full, "stats": stats}, sys.stdout)
store.close()
"""


@contextlib.contextmanager
def small_disk():
    """Yield a directory on a disk of one megabyte, or None if it cannot be mounted."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            yield None
            return
        try:
            yield folder
        finally:
            subprocess.run(["umount", folder], check=True)


def can_mount():
    with small_disk() as folder:
        return folder is not None


@pytest.mark.parametrize("kind_of_limit", ["limit", "disk"] if can_mount() else ["limit"])
def test_a_full_disk_loses_nothing(tmp_path, kind_of_limit):
    with small_disk() if kind_of_limit == "disk" else contextlib.nullcontext(str(tmp_path)) as folder:
        path = f"{folder}/store.db"
        process = subprocess.run(
            [sys.executable, "-c", FILL_SCRIPT, path, kind_of_limit], capture_output=True, text=True
        )
    assert process.returncode == 0, process.stderr
    report = json.loads(process.stdout)
    reasons = (
        "the disk is full; nothing was written, and stored data is intact",
        "the disk failed to read or write; nothing was written",
    )
    assert set(report["errors"]) <= {f"the store '{path}' cannot be used: {reason}" for reason in reasons}
    assert 0 < report["full"] < 200
    assert len(report["errors"]) == 200 - report["full"] + 2
    assert (report["there"], report["wrong"]) == (True, [])
    assert report["stats"]["editions"] == report["full"] + 1
    assert report["stats"]["versions"] == 0


@pytest.mark.xdist_group("postgres")
def test_a_server_whose_disk_is_full_loses_nothing(postgres_url, edition):
    store = open_store(postgres_url)
    store.publish("chat", edition(1), 0)
    with psycopg.connect(postgres_url, autocommit=True) as server:
        full = "BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END"
        server.execute(
            f"CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS '{full.replace(chr(39), chr(39) * 2)}'"
        )
        server.execute("CREATE TRIGGER fill BEFORE INSERT ON foreword_editions EXECUTE FUNCTION fill()")
        message = "the server's disk is full; nothing was written, and stored data is intact$"
        with pytest.raises(StoreError, match=message):
            store.publish("chat", edition(2, "two"), 1)
        assert store.editions("chat") == [edition(1)]
        assert store.stats()["texts"] == 6, "nor are the texts of the edition that failed"
        server.execute("DROP TRIGGER fill ON foreword_editions")
    assert store.publish("chat", edition(2, "two"), 1) == edition(2, "two")
    assert store.verify() == []
    store.close()
