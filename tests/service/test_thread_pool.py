"""The thread pool of the event loop."""

import asyncio
from threading import Event, current_thread

import pytest

from foreword.service.thread_pool import ThreadPool


def test_functions_run_in_a_limited_number_of_threads():
    async def run():
        pool = ThreadPool(2, "few")
        names = await asyncio.gather(*(pool.submit(lambda: current_thread().name) for _ in range(50)))
        assert set(names) <= {"few_0", "few_1"}
        assert (pool.unfinished, pool.waiting) == (0, 0)
        pool.close()

    asyncio.run(run())


def test_an_exception_reaches_the_caller_and_the_thread_continues():
    class Stopped(BaseException):
        pass

    def stop():
        raise Stopped

    async def run():
        pool = ThreadPool(1, "one")
        with pytest.raises(Stopped):
            await pool.submit(stop)
        assert await pool.submit(lambda: 7) == 7
        pool.close()

    asyncio.run(run())


def test_a_function_that_is_cancelled_while_it_waits_is_never_called():
    called, end = [], Event()

    async def run():
        pool = ThreadPool(1, "one")
        first, second, third = pool.submit(end.wait), pool.submit(lambda: called.append(2)), pool.submit(lambda: 3)
        second.cancel()
        await asyncio.sleep(0)
        assert pool.unfinished == 2
        end.set()
        assert (await first, await third, called, pool.unfinished) == (True, 3, [], 0)
        pool.close()

    asyncio.run(run())


def test_a_cancelled_function_that_is_running_still_occupies_its_thread():
    started, end = Event(), Event()

    async def run():
        pool = ThreadPool(1, "one")
        work = pool.submit(lambda: started.set() or end.wait())
        await asyncio.to_thread(started.wait)
        work.cancel()
        await asyncio.sleep(0)
        assert pool.unfinished == 1
        end.set()
        assert await pool.submit(lambda: 3) == 3
        assert pool.unfinished == 0
        pool.close()

    asyncio.run(run())


def test_closing_waits_for_running_functions_and_drops_the_others():
    called, started = [], Event()

    async def run():
        pool = ThreadPool(1, "one")
        end = Event()
        futures = [
            pool.submit(lambda: (started.set(), end.wait(), called.append(1))),
            pool.submit(lambda: called.append(2)),
        ]
        await asyncio.to_thread(started.wait)
        asyncio.get_running_loop().call_soon(end.set)
        await asyncio.sleep(0)
        pool.close()
        assert called == [1]
        for future in futures:
            future.cancel()

    asyncio.run(run())
