"""Requests of an event loop confirm cached editions together, on one connection."""

import asyncio

import psycopg
import pytest

from foreword.store import open_store, postgres_batches, waits
from foreword.store.usage import CallUsage

pytestmark = pytest.mark.xdist_group("postgres")


@pytest.fixture
def stores(postgres_url, edition):
    """Two stores in the same database, with ten conversations that the first one has cached."""
    store, other = open_store(postgres_url), open_store(postgres_url)
    for number in range(10):
        store.publish(f"chat {number}", edition(1), 0)
    yield store, other
    store.close()
    other.close()


def confirm(store, *conversations):
    """Confirm conversations at the same time. Returns the moments, and the number of SELECTs."""

    async def run():
        reader = store.batch_reader()
        count, select = 0, reader._confirm_all

        async def counted(batch):
            nonlocal count
            count += 1
            return await select(batch)

        reader._confirm_all = counted
        moments = await asyncio.gather(*(reader.confirm("", conversation) for conversation in conversations))
        await reader.close()
        return moments, count

    return asyncio.run(run())


def test_requests_that_arrive_together_share_a_select(stores):
    moments, count = confirm(stores[0], *(f"chat {number % 10}" for number in range(100)))
    assert (None in moments, len(set(map(id, moments))), count) == (False, 1, 1)


def test_a_confirmed_edition_and_its_usage_are_read_from_memory(stores, edition):
    store, other = stores
    usage = other.add_usage("chat 1", 1, CallUsage(10, 5, 0, 3, 0.5, 7))
    (moment,), _ = confirm(store, "chat 1")
    store._pool.close()
    waits.listen(None, moment)
    try:
        assert (store.current("chat 1"), store.usage("chat 1", 1)) == (edition(1), usage)
    finally:
        waits.listen(None)


def test_only_an_edition_that_is_cached_and_in_use_is_confirmed(stores, edition):
    store, other = stores
    other.publish("chat 2", edition(2), 1)
    other.publish("elsewhere", edition(1), 0)
    (changed, unchanged, unknown, missing), _ = confirm(store, "chat 2", "chat 3", "elsewhere", "nothing")
    assert (changed, unknown, missing) == (None, None, None)
    assert unchanged is not None
    assert store.current("chat 2") == edition(2)
    assert confirm(store, "chat 2")[0] != [None]


def test_conversations_of_several_teams_are_confirmed_together(stores, edition):
    store, other = stores
    for team in ("one", "two"):
        store.for_team(team).publish("chat 1", edition(1), 0)
    other.for_team("two").publish("chat 1", edition(2), 1)

    async def run():
        reader = store.batch_reader()
        asked = [("", "chat 1"), ("one", "chat 1"), ("two", "chat 1"), ("one", "chat 2"), ("", "chat 2")]
        moments = await asyncio.gather(*(reader.confirm(*conversation) for conversation in asked))
        await reader.close()
        return [moment is not None for moment in moments]

    assert asyncio.run(run()) == [True, True, False, False, True]


def test_a_thread_stops_using_a_moment_when_it_writes(stores, edition):
    store, other = stores
    (moment,), _ = confirm(store, "chat 4")
    other.publish("chat 4", edition(2), 1)
    waits.listen(None, moment)
    try:
        assert store.current("chat 4") == edition(1)
        assert store.publish("chat 4", edition(2, "mine"), 1) == edition(2)
        assert store.current("chat 4") == edition(2)
    finally:
        waits.listen(None)


def test_a_lost_connection_confirms_nothing_and_is_replaced(stores, postgres_url, monkeypatch):
    store, _ = stores
    monkeypatch.setattr(postgres_batches, "_PAUSE", 0.0)

    async def run():
        reader = store.batch_reader()
        moments = [await reader.confirm("", "chat 5")]
        process = reader._cursor.connection.info.backend_pid
        with psycopg.connect(postgres_url, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s, 5000)", (process,))
        moments += [await reader.confirm("", "chat 5"), await reader.confirm("", "chat 5")]
        await reader.close()
        return [moment is not None for moment in moments]

    assert asyncio.run(run()) == [True, False, True]


def test_a_server_that_does_not_answer_is_checked_by_the_next_call(stores, postgres_url):
    store, _ = stores
    assert store._pool.server.is_reachable

    async def run():
        reader = store.batch_reader()
        assert await reader.confirm("", "chat 5") is not None
        reader._timeout = 0.1
        with psycopg.connect(postgres_url) as other:
            other.execute("LOCK TABLE foreword_editions")
            moment = await reader.confirm("", "chat 5")
        await reader.close()
        return moment

    assert (asyncio.run(run()), store._pool.server.is_reachable) == (None, False)
    assert store.current("chat 5").number == 1
    assert store._pool.server.is_reachable
