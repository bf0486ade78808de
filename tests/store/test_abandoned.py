"""A search stops when nobody waits for its result any more, and the next call is not affected."""

import threading
import time

import psycopg
import pytest

from foreword.errors import StoreError
from foreword.store import open_store, waits

ENDLESS = {
    "sqlite": "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
    "postgresql": "SELECT pg_sleep(100)",
}


class Listener:
    """Passes on the function that stops the work, as a request does that its client has given up."""

    def __init__(self):
        self.has_started, self.stop = threading.Event(), None

    def on_slow_work(self, kind):
        pass

    def set_interrupt(self, stop):
        if stop is not None:
            self.stop = stop
            self.has_started.set()


def test_an_abandoned_search_stops_in_the_store_too(url):
    kind, listener, failures = url.partition(":")[0], Listener(), []
    store = open_store(url if kind == "sqlite" else f"{url}&call_timeout=100")

    def search():
        waits.listen(listener)
        try:
            store._search(lambda select: select(ENDLESS[kind], ()))
        except StoreError as error:
            failures.append(str(error))
        finally:
            waits.listen(None)

    store.stats()
    thread = threading.Thread(target=search)
    thread.start()
    assert listener.has_started.wait(20)
    if kind == "postgresql":
        with psycopg.connect(url, autocommit=True) as connection:
            wait_until(lambda: is_sleeping(connection))
            listener.stop()
            thread.join(20)
            wait_until(lambda: not is_sleeping(connection))
    else:
        while thread.is_alive():  # the statement may not have begun yet
            listener.stop()
            thread.join(0.05)
    assert not thread.is_alive()
    reason = {"sqlite": "interrupted", "postgresql": "nobody waits for the result any more"}[kind]
    assert [reason in failure for failure in failures] == [True]
    assert list(store.conversations().rows) == []
    assert store.stats()["conversations"] == 0
    store.close()


def wait_until(is_true):
    for _ in range(6000):
        if is_true():
            return
        time.sleep(0.01)
    raise AssertionError("it never happened")


def is_sleeping(connection):
    active = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query = %s"
    return connection.execute(active, (ENDLESS["postgresql"],)).fetchone() != (0,)


@pytest.mark.xdist_group("postgres")
def test_a_connection_that_is_abandoned_after_its_statement_is_not_used_again(postgres_url):
    store = open_store(postgres_url)
    listener = Listener()
    waits.listen(listener)
    try:
        first = store._search(lambda select: (select("SELECT pg_backend_pid()", ()), listener.stop())[0])
        second = store._search(lambda select: select("SELECT pg_backend_pid()", ()))
    finally:
        waits.listen(None)
        store.close()
    assert first != second
