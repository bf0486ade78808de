"""Today's processes go on while a newer version expands the tables: no call fails, and no acknowledged write is lost."""

import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest

from foreword.store import open_store, postgres_schema, sqlite_connection, versions
from foreword.store.listing import ConversationQuery

NEWER = versions.LATEST + 1
# What a later version may add: a column with a default to the largest table, a table, and an index.
EXPANSION = [
    "ALTER TABLE foreword_editions ADD COLUMN colour integer NOT NULL DEFAULT 0",
    "ALTER TABLE foreword_contents ADD COLUMN colour integer",
    "ALTER TABLE foreword_usage ADD COLUMN colour integer NOT NULL DEFAULT 0",
    "CREATE TABLE foreword_colours (team text NOT NULL, name text NOT NULL, PRIMARY KEY (team, name))",
    "CREATE INDEX foreword_editions_colour ON foreword_editions (team, colour)",
]
# Writes and reads until its input ends, and prints a line for every conversation whose writes were acknowledged.
WORK = """
import sys, threading
from foreword.store import open_store
from foreword.store.listing import ConversationQuery
from foreword.store.rows import TemplateVersion
from foreword.store.usage import CallUsage
from foreword.vocabulary import Edition

is_ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), is_ended.set()), daemon=True).start()
store, name = open_store(sys.argv[1], "shop"), sys.argv[2]
number = 0
while not is_ended.is_set():
    id, created = f"{name}-{number}", "2026-01-01T00:00:00.000+00:00"
    prompt = f"You are helper {number % 7} of {name}."
    store.publish(id, Edition(1, prompt, created=created), 0)
    store.publish(id, Edition(2, prompt + " Again.", created=created), 1)
    assert store.save_state(id, 2, '{"turns": 1}')
    assert store.add_usage(id, 2, CallUsage(10, 5, 0, 3, 0.5, 7)).calls == 1
    if number % 5 == 0:
        store.add_template(TemplateVersion(0, prompt, name=name))
    if number % 5 == 4:
        assert store.forget(f"{name}-{number - 2}")
        print("-", f"{name}-{number - 2}", flush=True)
    assert [edition.number for edition in store.editions(id)] == [1, 2]
    assert store.conversations(ConversationQuery(prefix=id)).rows
    print("+", id, flush=True)
    number += 1
"""


def expand(url):
    """Do what a newer version does when it opens the store."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None, timeout=30)) as connection:
            sqlite_connection.migrate(connection, lambda version: EXPANSION, NEWER, versions.LATEST)
        return
    with psycopg.connect(url, autocommit=True) as connection:
        postgres_schema.migrate(connection, lambda version: EXPANSION, NEWER, versions.LATEST)


def patient(url):
    """A store that fails only if a call waits for very long, however busy the machine is."""
    return url if url.startswith("sqlite") else f"{url}&call_timeout=120"


def read(process, number):
    return [process.stdout.readline().split() for _ in range(number)]


def work_during(url, change):
    """Let two processes work while `change` is called, and a third one that starts afterwards. Returns the ids of what they have kept."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    processes = [
        subprocess.Popen([sys.executable, "-c", WORK, patient(url), name], text=True, **pipes) for name in "ab"
    ]
    lines = [line for process in processes for line in read(process, 20)]
    change(url)
    lines += [line for process in processes for line in read(process, 40)]
    # One that starts afterwards, as after a restart during the upgrade.
    processes.append(subprocess.Popen([sys.executable, "-c", WORK, patient(url), "c"], text=True, **pipes))
    lines += read(processes[-1], 20)
    for process in processes:
        with process:
            process.stdin.close()
            # `communicate` would lose the lines that `readline` has read ahead.
            lines += [line.split() for line in process.stdout]
            errors = process.stderr.read()
        assert (process.returncode, errors) == (0, "")
    forgotten = {id for sign, id in lines if sign == "-"}
    return {id for sign, id in lines if sign == "+"} - forgotten


def check_nothing_is_lost(store, kept):
    stored = {row.id for row in store.conversations(ConversationQuery(limit=10 * len(kept))).rows}
    assert stored == kept and len(kept) > 60
    assert all(store.current(id).state == '{"turns": 1}' and store.usage(id, 2).calls == 1 for id in kept)
    assert store.verify() == []


def test_today_s_processes_go_on_while_a_newer_version_expands_the_tables(url):
    open_store(url).stats()
    kept = work_during(url, expand)
    store = open_store(url, "shop")
    assert store.migrate() == versions.SchemaVersion(NEWER, versions.LATEST)
    check_nothing_is_lost(store, kept)
    store.close()


def create_with_schema(url, version, lowest):
    """Create the tables as an older version left them."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)) as connection:
            sqlite_connection.migrate(connection, lambda number: versions.schema("sqlite", number), version, lowest)
            connection.execute(f"PRAGMA user_version = {1000 * lowest + version}")
        return
    with psycopg.connect(url, autocommit=True) as connection:
        postgres_schema.migrate(connection, lambda number: versions.schema("postgres", number), version, lowest)
        connection.execute("UPDATE foreword_schema SET lowest = %s", (lowest,))


def test_processes_go_on_while_the_indexes_of_schema_7_are_replaced(url):
    create_with_schema(url, 7, 6)
    kept = work_during(url, lambda url: open_store(url).migrate(contract=True))
    store = open_store(url, "shop")
    assert store.migrate() == versions.SchemaVersion(versions.LATEST, versions.LATEST)
    check_nothing_is_lost(store, kept)
    store.close()


WAITS = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'foreword_editions'::regclass"


@pytest.mark.xdist_group("postgres")
def test_calls_go_on_while_the_expansion_waits_for_a_long_transaction(postgres_url, edition):
    store = open_store(patient(postgres_url))
    store.publish("first", edition(), 0)
    connections = (psycopg.connect(postgres_url), psycopg.connect(postgres_url, autocommit=True))
    with ThreadPoolExecutor(1) as threads, connections[0] as report, connections[1] as observer:
        report.execute("SELECT count(*) FROM foreword_editions")  # holds the table until its transaction ends
        expansion = threads.submit(expand, postgres_url)
        while observer.execute(WAITS).fetchone() == (0,):
            assert not expansion.done()
            time.sleep(0.01)
        store.publish("second", edition(), 0)
        assert not expansion.done()
        report.rollback()
        expansion.result()
    assert store.migrate() == versions.SchemaVersion(NEWER, versions.LATEST)
    assert store.current("second") == edition()
    store.close()
