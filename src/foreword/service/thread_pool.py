"""A pool of threads for the event loop. It takes less CPU time than `ThreadPoolExecutor` with `asyncio.wrap_future`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any


class _Task:
    """A function to run in a thread, and the future for its result."""

    __slots__ = ("function", "future", "is_dropped", "is_started")

    def __init__(self, function: Callable[[], Any], future: asyncio.Future[Any]) -> None:
        self.function, self.future = function, future
        self.is_started = self.is_dropped = False


class ThreadPool:
    """Runs functions in at most `size` threads, in the order in which they were submitted. Only the event loop may use it."""

    def __init__(self, size: int, name: str) -> None:
        self._size, self._name = size, name
        self._queue: SimpleQueue[_Task | None] = SimpleQueue()
        self._threads: list[Thread] = []
        self.unfinished = 0

    @property
    def waiting(self) -> int:
        """How many functions wait for a thread."""
        return self._queue.qsize()

    def submit(self, function: Callable[[], Any]) -> asyncio.Future[Any]:
        """Return a future for the function's result. If it is cancelled before the function has started, it is never called."""
        future = asyncio.get_running_loop().create_future()
        task = _Task(function, future)
        self.unfinished += 1
        self._queue.put(task)
        if len(self._threads) < min(self.unfinished, self._size):
            thread = Thread(target=self._work, name=f"{self._name}_{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        future.add_done_callback(lambda _: self._drop(task))
        return future

    def close(self) -> None:
        """Wait for the functions that are running. Those that are waiting are not called."""
        while not self._queue.empty():
            self._queue.get()
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()

    def _drop(self, task: _Task) -> None:
        """Free the place of a function that was cancelled before it started."""
        if not task.is_started:
            task.is_dropped = True
            self.unfinished -= 1

    def _work(self) -> None:
        while (task := self._queue.get()) is not None:
            if task.is_dropped:
                continue
            task.is_started = True
            result, error = None, None
            try:
                result = task.function()
            except BaseException as raised:
                error = raised
            with suppress(RuntimeError):  # the event loop is closed
                task.future.get_loop().call_soon_threadsafe(self._finish, task, result, error)
            del task, result, error  # do not keep a response in memory while waiting for the next function

    def _finish(self, task: _Task, result: Any, error: BaseException | None) -> None:
        if not task.is_dropped:
            self.unfinished -= 1
        if task.future.done():
            return
        if error is None:
            task.future.set_result(result)
        else:
            task.future.set_exception(error)
