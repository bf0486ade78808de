"""Remove conversations that are older than their team keeps them, as `older_than` in the file of tokens says.

Every process looks regularly whether it is time, and one of all processes that use the store does the work: the one that holds the lease.
If it is killed, another one takes over when the lease has expired, and continues with what is left.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from secrets import token_hex
from typing import TYPE_CHECKING

from ..errors import StoreError
from ..store.forgetting import leave_time
from .log import Log

if TYPE_CHECKING:
    from ..store.contract import Store

_JOB = "retention"
_LEASE_SECONDS = 15
_LOOK_SECONDS = 5.0
# The next pass begins so many seconds after the last one has ended.
_INTERVAL = 600


class Retention:
    """The part that this process has in removing old conversations. `ages` returns how many seconds each team keeps them.

    `count` adds to the metrics.
    """

    def __init__(
        self, store: Store, ages: Callable[[], Mapping[str, float]], log: Log, count: Callable[[str, float], None]
    ) -> None:
        self._store, self._ages, self._log, self._count = store, ages, log, count
        self._holder = f"{os.getpid()}-{token_hex(8)}"
        self._is_closed = self._has_failed = False
        self.is_working = False
        self.last_end = 0

    async def run(self) -> None:
        """Look regularly whether there is something to do, until the task is cancelled."""
        while True:
            if self._ages():
                await asyncio.to_thread(self.look)
            await asyncio.sleep(_LOOK_SECONDS)

    def look(self) -> None:
        """Remove old conversations, if it is time and no other process does it."""
        try:
            if self._store.take_lease(_JOB, self._holder, _LEASE_SECONDS, _INTERVAL):
                self.is_working = True
                if self._remove():
                    self._store.finish_lease(_JOB, self._holder)
            self.last_end = self._store.last_done(_JOB)
            self._has_failed = False
        except StoreError as error:  # the next look tries again
            if not self._has_failed:
                self._log.event("store", "warning", "old conversations could not be removed", str(error))
            self._has_failed = True
        finally:
            self.is_working = False

    def _remove(self) -> bool:
        """Remove what is too old now, team by team. Returns False if it was not finished, because another process goes on with it."""
        total = 0
        for team, age in self._ages().items():
            conversations = editions = 0
            for step in leave_time(self._store.for_team(team).prune(time.time() - age, keep_last=0)):
                self._count("pruned_conversations", step.conversations - conversations)
                self._count("pruned_editions", step.editions - editions)
                total += step.conversations - conversations
                conversations, editions = step.conversations, step.editions
                if self._is_closed or not self._store.renew_lease(_JOB, self._holder, _LEASE_SECONDS):
                    return False
        if total:
            self._log.event(
                "store", "info", f"removed {total:,} conversations that were older than their team keeps them"
            )
        return True

    def close(self) -> None:
        """Stop after the current batch. Another process goes on when the lease has expired."""
        self._is_closed = True
