"""A pool of threads for the event loop. It takes less CPU time than `ThreadPoolExecutor` with `asyncio.wrap_future`."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any


class _Task:
    """A function to run in a thread, and the future for its result."""

    __slots__ = ("function", "future", "is_dropped", "is_queued", "is_started", "owner")

    def __init__(self, function: Callable[[], Any], future: asyncio.Future[Any], owner: str) -> None:
        self.function, self.future, self.owner = function, future, owner
        self.is_queued = self.is_started = self.is_dropped = False


class ThreadPool:
    """Runs functions in at most `size` threads. Only the event loop may use it.

    The owners of waiting functions take turns, and each named owner may use as many threads as `share` returns, so that nobody waits for all
    that someone else has submitted. The functions of one owner run in the order in which they were submitted.
    """

    def __init__(self, size: int, name: str, share: Callable[[], int] | None = None) -> None:
        self._size, self._name = size, name
        self._share = share or (lambda: max(1, size // 2))
        # Tasks for which a thread is free, or almost. All others wait here, by owner; the owner whose turn it is comes first.
        self._queue: SimpleQueue[_Task | None] = SimpleQueue()
        self._held: dict[str, deque[_Task]] = {}
        self._queued: Counter[str] = Counter()
        self._all_queued = 0
        self._threads: list[Thread] = []
        self.unfinished = 0

    @property
    def waiting(self) -> int:
        """How many functions wait for a thread."""
        return self._queue.qsize() + sum(map(len, self._held.values()))

    def submit(self, function: Callable[[], Any], owner: str = "") -> asyncio.Future[Any]:
        """Return a future for the function's result. If it is cancelled before the function has started, it is never called."""
        future = asyncio.get_running_loop().create_future()
        task = _Task(function, future, owner)
        self.unfinished += 1
        if owner not in self._held and self._has_place(owner):
            self._enqueue(task)
        else:
            self._held.setdefault(owner, deque()).append(task)
        future.add_done_callback(lambda _: self._drop(task))
        return future

    def close(self) -> None:
        """Wait for the functions that are running. Those that are waiting are not called."""
        self._held.clear()
        while not self._queue.empty():
            self._queue.get()
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()

    def _has_place(self, owner: str) -> bool:
        return self._all_queued < self._size and (not owner or self._queued[owner] < self._share())

    def _enqueue(self, task: _Task) -> None:
        task.is_queued = True
        self._all_queued += 1
        self._queued[task.owner] += 1
        self._queue.put(task)
        if len(self._threads) < min(self._all_queued, self._size):
            thread = Thread(target=self._work, name=f"{self._name}_{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _release(self, owner: str) -> None:
        """Free the place of a task, and give it to the next owner who may use it."""
        self._all_queued -= 1
        self._queued[owner] -= 1
        if not self._queued[owner]:
            del self._queued[owner]
        for next_owner in list(self._held):
            if self._has_place(next_owner):
                tasks = self._held.pop(next_owner)
                self._enqueue(tasks.popleft())
                if tasks:
                    self._held[next_owner] = tasks  # its next turn is after everyone else's
                return

    def _drop(self, task: _Task) -> None:
        """Free the place of a function that was cancelled before it started."""
        if task.is_started or task.is_dropped:
            return
        task.is_dropped = True
        self.unfinished -= 1
        if task.is_queued:
            self._release(task.owner)
        elif task.owner in self._held:
            self._held[task.owner].remove(task)
            if not self._held[task.owner]:
                del self._held[task.owner]

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
            self._release(task.owner)
        if task.future.done():
            return
        if error is None:
            task.future.set_result(result)
        else:
            task.future.set_exception(error)
