"""Logs when the store fails and when it responds again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

from ..errors import StoreBusyError, StoreError
from .log import Log

_INTERVAL_SECONDS = 2.0


class StoreWatch:
    """Whether the store responds and accepts writes. While it does not, `probe` calls it every few seconds, in a thread."""

    def __init__(self, log: Log, probe: Callable[[], object], interval: float = _INTERVAL_SECONDS) -> None:
        self._log, self._probe, self._interval = log, probe, interval
        self._task: asyncio.Task[None] | None = None

    @property
    def is_down(self) -> bool:
        return self._task is not None

    def report_failure(self, reason: str) -> None:
        """Log that a call failed, unless the store is already known to be down."""
        if self._task is None:
            self._log.event("store", "error", "the store failed", reason)
            self._task = asyncio.get_running_loop().create_task(self._wait(monotonic()))

    async def _wait(self, failed_at: float) -> None:
        """Call the store until it responds. A busy store counts as responding."""
        while True:
            await asyncio.sleep(self._interval)
            try:
                await asyncio.to_thread(self._probe)
            except StoreBusyError:
                pass
            except StoreError:
                continue
            self._task = None
            self._log.event("store", "info", f"the store responds again after {monotonic() - failed_at:.0f} seconds")
            return

    def close(self) -> None:
        """Stop waiting for the store."""
        if self._task is not None:
            self._task.cancel()
