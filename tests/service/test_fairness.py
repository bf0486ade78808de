"""Callers take turns in the event loop and in the threads."""

import asyncio
from threading import Event

from foreword.service.fairness import FairStart
from foreword.service.thread_pool import ThreadPool


async def begin(fair, caller, begun):
    if fair.must_wait(caller):
        await fair.wait(caller)
    begun.append(caller)


def run_all(fair, callers):
    """Return in which order the requests of these callers begin."""
    begun = []

    async def run():
        await asyncio.gather(*(begin(fair, caller, begun) for caller in callers))

    asyncio.run(run())
    return begun


def test_the_only_caller_never_waits():
    fair = FairStart(lambda: 7.0)
    assert [fair.must_wait("a") for _ in range(100)] == [False] * 100
    assert not fair.has_several()


def test_a_caller_with_one_request_does_not_wait_for_the_many_of_another():
    fair = FairStart(lambda: 7.0)
    fair.must_wait("b")
    begun = run_all(fair, ["a"] * 50 + ["b"])
    assert begun.count("a") == 50
    assert begun.index("b") <= 1


def test_all_callers_take_turns_and_keep_their_order():
    fair = FairStart(lambda: 7.0)
    fair.must_wait("c")
    begun = run_all(fair, ["a"] * 4 + ["b"] * 4)
    assert sorted(begun) == ["a"] * 4 + ["b"] * 4
    assert all({begun[index], begun[index + 1]} == {"a", "b"} for index in range(0, 8, 2)), begun


def test_between_the_requests_of_a_caller_the_event_loop_is_idle():
    fair, begun, now = FairStart(lambda: 7.0), [], [100.0]

    async def run():
        loop = asyncio.get_running_loop()
        loop.time = lambda: now[0]
        fair.must_wait("b")
        tasks = [asyncio.ensure_future(begin(fair, "a", begun)) for _ in range(3)]
        for number in (1, 2, 3):
            for _ in range(20):
                await asyncio.sleep(0)
            assert begun == ["a"] * number
            now[0] += 0.01
        await asyncio.gather(*tasks)

    asyncio.run(run())


def test_a_caller_counts_as_present_for_a_second():
    now = [7.0]
    fair = FairStart(lambda: now[0])

    async def run():
        fair.must_wait("a")
        fair.must_wait("b")
        assert fair.has_several()
        now[0] += 1.5
        assert not fair.has_several()
        assert [fair.must_wait("b") for _ in range(5)] == [False] * 5

    asyncio.run(run())


def test_a_caller_whose_large_request_has_arrived_is_present():
    now = [7.0]
    fair = FairStart(lambda: now[0])

    async def run():
        fair.must_wait("a")
        now[0] += 1.5
        fair.must_wait("b")
        now[0] += 1.5
        assert not fair.has_several()
        fair.note("a")
        assert fair.has_several()

    asyncio.run(run())


def test_owners_take_turns_in_the_threads():
    called, end = [], Event()

    async def run():
        pool = ThreadPool(1, "one")
        first = pool.submit(end.wait, "a")
        rest = [pool.submit(lambda owner=owner: called.append(owner), owner) for owner in "aaab"]
        assert pool.waiting == 4
        end.set()
        await asyncio.gather(first, *rest)
        assert (pool.unfinished, pool.waiting) == (0, 0)
        pool.close()

    asyncio.run(run())
    assert sorted(called) == ["a", "a", "a", "b"]
    assert called.index("b") <= 1


def test_an_owner_leaves_threads_to_the_others():
    end = Event()

    async def run():
        pool = ThreadPool(4, "few", lambda: 2)
        held = [pool.submit(end.wait, "a") for _ in range(10)]
        assert await pool.submit(lambda: "b", "b") == "b"
        held[0].cancel()
        held[-1].cancel()
        end.set()
        assert await asyncio.gather(*held[1:-1]) == [True] * 8
        while pool.unfinished:
            await asyncio.sleep(0)
        pool.close()

    asyncio.run(run())
