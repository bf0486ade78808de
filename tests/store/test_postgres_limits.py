"""Connections to PostgreSQL: how many there are, how long calls take, and what a failure of one of them affects."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import psycopg
import pytest

from foreword.errors import CallError, StoreBusyError, StoreError
from foreword.store import open_store
from foreword.store.postgres_server import PostgresServer, parse_url
from foreword.store.rows import TemplateVersion
from foreword.store.usage import CallUsage

pytestmark = pytest.mark.xdist_group("postgres")
# Short enough to wait for, and long enough for calls that must succeed on a loaded machine.
SHORT = "&call_timeout=3"
CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"


@pytest.fixture
def named_url(postgres_url):
    """Return the URL of an empty store, and the name under which the server lists its connections."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    return f"{postgres_url}&application_name={name}", name


def count(postgres, name):
    with psycopg.connect(postgres) as connection:
        return connection.execute(CONNECTIONS, (name,)).fetchone()[0]


# Options


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", (8, 5.0, 5.0)),
        ("?pool_size=3", (3, 5.0, 5.0)),
        ("?sslmode=disable&pool_wait=0.5&call_timeout=2", (8, 0.5, 2.0)),
    ],
)
def test_the_url_sets_the_limits(query, expected):
    options = parse_url(f"postgresql://me:s%40cret@host:5433/name{query}")
    assert (options.pool_size, options.pool_wait, options.call_timeout) == expected
    assert (options.settings["password"], options.settings["port"]) == ("s@cret", "5433")
    assert ("sslmode" in options.settings) == ("sslmode" in query)


@pytest.mark.parametrize("query", ["pool_size=0", "pool_size=1.5", "pool_wait=-1", "call_timeout=soon"])
def test_an_invalid_limit_is_refused(query):
    with pytest.raises(CallError, match=r"^\w+ in the store's URL must be a number from "):
        parse_url(f"postgresql://host/name?{query}")


# The pool


def test_many_threads_share_a_few_connections(postgres, named_url, edition):
    url, name = named_url
    store = open_store(f"{url}&pool_size=3")
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda number: store.publish(f"chat {number}", edition(1), 0), range(100)))
    assert store.stats()["conversations"] == 100
    assert 1 <= count(postgres, name) <= 3
    store.close()


def test_a_call_waits_for_a_free_connection_and_then_says_so(postgres_url, edition):
    store = open_store(f"{postgres_url}&pool_size=1&pool_wait=0.2")
    store.publish("chat", edition(1), 0)
    taken = store._pool.take()
    with pytest.raises(
        StoreBusyError, match=r"all 1 connections of this process are in use, and none became free within 0\.2 s"
    ):
        store.current("chat")
    threading.Timer(0.05, store._pool.give_back, [taken]).start()
    assert store.current("chat") == edition(1)
    store.close()


# Limits of the server


def test_a_locked_row_fails_only_the_call_that_needs_it(postgres_url, edition):
    store = open_store(f"{postgres_url}{SHORT}")
    for id in ("locked", "free"):
        store.publish(id, edition(1), 0)
    with psycopg.connect(postgres_url) as other:
        other.execute("SELECT 1 FROM foreword_editions WHERE conversation = 'locked' FOR UPDATE")
        with pytest.raises(StoreBusyError, match="did not complete the call: canceling statement due to lock timeout"):
            store.save_state("locked", 1, '{"x": 1}')
        assert store.current("locked") == edition(1)
        assert store.save_state("free", 1, '{"x": 1}')
    assert store.save_state("locked", 1, '{"x": 1}')
    store.close()


def test_a_slow_statement_fails_alone(postgres_url):
    store = open_store(f"{postgres_url}{SHORT}")
    with pytest.raises(StoreBusyError, match="canceling statement due to statement timeout"):
        store._run(lambda connection: connection.execute("SELECT pg_sleep(60)"))
    with pytest.raises(StoreBusyError, match=r"has not answered for \d seconds"):
        store._run(lambda connection: connection.execute("SET statement_timeout = 0; SELECT pg_sleep(60)"))
    assert store.current("chat") is None
    store.close()


def test_a_server_that_accepts_only_reads_says_so(postgres_url, edition):
    store = open_store(postgres_url)
    store.publish("chat", edition(1, created="2026-01-01T00:00:00.000+00:00"), 0)
    reader = open_store(f"{postgres_url}%20-cdefault_transaction_read_only%3Don")
    assert reader.current("chat").number == 1
    for write in (
        lambda: reader.forget("chat"),
        lambda: list(reader.prune(1_772_000_000.0, 0)),
        lambda: reader.add_usage("chat", 1, CallUsage(10, 5, 0, 3, 0.5, 7)),
    ):
        with pytest.raises(StoreError, match=r"cannot be used: it is read-only$"):
            write()
    assert store.verify() == []
    store.close()
    reader.close()


# Lost connections


def test_a_connection_that_is_lost_in_the_middle_of_a_write_loses_nothing(postgres_url, edition):
    store = open_store(postgres_url)
    store.publish("chat", edition(1), 0)
    attempts = []

    def work(connection):
        attempts.append(connection)
        if len(attempts) == 1:
            with psycopg.connect(postgres_url, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s, 5000)", (connection.info.backend_pid,))
        connection.execute("UPDATE foreword_editions SET state = 'once'")
        return True

    assert store._write(work, {})
    assert (len(attempts), store.current("chat").state) == (2, "once")
    store.close()


@pytest.mark.parametrize("is_down", [True, False])
def test_while_a_call_is_slow_a_thread_finds_out_whether_the_server_is_down(monkeypatch, is_down):
    server = PostgresServer(parse_url("postgresql://host/name"))
    server.is_reachable = True
    opened, closed, started = [], [], []

    def open_connection():
        if is_down:
            raise StoreError("it is down")
        opened.append(SimpleNamespace(close=lambda: closed.append(1)))
        return opened[-1]

    monkeypatch.setattr(server, "_open", open_connection)
    monkeypatch.setattr(
        "foreword.store.postgres_server.start_new_thread", lambda work, args: started.append(work(*args))
    )
    for _ in range(3):
        server.probe()
    assert (len(started), server.is_reachable) == (3, not is_down)
    if is_down:
        server._next_attempt = float("inf")
        with pytest.raises(StoreError, match="it is down"):
            server.check()
    else:
        assert (server.connect(), len(closed)) == (opened[0], 2), (
            "the pool gets one connection, and the others are closed"
        )


def test_only_one_call_at_a_time_tries_to_reach_a_server_that_is_down(monkeypatch):
    server = PostgresServer(parse_url("postgresql://host/name"))
    attempts = []

    def fail():
        attempts.append(len(attempts))
        raise StoreError("it is down")

    monkeypatch.setattr(server, "_open", fail)
    with pytest.raises(StoreError, match="it is down"):
        server.check()
    server._next_attempt = float("inf")
    with pytest.raises(StoreError, match="it is down"):
        server.check()
    with pytest.raises(psycopg.OperationalError):
        server.connect()
    assert attempts == [0]


def lose_answer_of_commit(store, monkeypatch, is_committed=True):
    """Lose the connection of the next transaction when it has been committed, or just before."""
    run = store._in_transaction

    def lose(connection, work, *args):
        def fail_before_commit(connection):
            work(connection)
            raise psycopg.OperationalError("the connection is lost")

        monkeypatch.setattr(store, "_in_transaction", run)
        try:
            run(connection, work if is_committed else fail_before_commit, *args)
            raise psycopg.OperationalError("the connection is lost")
        finally:
            connection.close()

    monkeypatch.setattr(store, "_in_transaction", lose)


@pytest.mark.parametrize("is_committed", [True, False])
def test_usage_and_templates_are_written_once_although_the_answer_is_lost(
    postgres_url, edition, monkeypatch, is_committed
):
    store = open_store(postgres_url)
    store.publish("chat", edition(1), 0)
    call = CallUsage(10, 5, 0, 3, 0.5, 7)
    for calls in (1, 2):
        lose_answer_of_commit(store, monkeypatch, is_committed)
        if is_committed:
            assert store.add_usage("chat", 1, call).calls == calls
            continue
        with pytest.raises(StoreError, match=r"the connection is lost$"):
            store.add_usage("chat", 1, call)
        assert store.add_usage("chat", 1, call).calls == calls
    lose_answer_of_commit(store, monkeypatch)
    assert store.add_template(TemplateVersion(0, "Hello")).version == 1
    assert len(store.templates()) == 1
    store.close()


def test_a_write_whose_outcome_is_unknown_says_so(postgres_url, edition, monkeypatch):
    store = open_store(postgres_url)
    store.publish("chat", edition(1), 0)
    monkeypatch.setattr("foreword.store.postgres._OUTCOME", "SELECT 'in progress' || left(%s::text, 0)")
    lose_answer_of_commit(store, monkeypatch)
    with pytest.raises(StoreError, match=r"is lost; the change may have been saved, so check before you try again$"):
        store.add_usage("chat", 1, CallUsage(10, 5, 0, 3, 0.5, 7))
    store.close()


def test_usage_is_not_added_to_an_edition_that_is_being_removed(postgres_url, edition):
    store = open_store(f"{postgres_url}{SHORT}")
    store.publish("chat", edition(1), 0)
    call = CallUsage(10, 5, 0, 3, 0.5, 7)
    with psycopg.connect(postgres_url) as other:
        other.execute("UPDATE foreword_editions SET state = NULL")
        assert store.add_usage("chat", 1, call).calls == 1
        other.execute("DELETE FROM foreword_editions")
        with pytest.raises(StoreBusyError):
            store.add_usage("chat", 1, call)
    store.close()
