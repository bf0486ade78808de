"""Find out whether the editions in memory are still in use, with as few looks at the store as possible."""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import TYPE_CHECKING

from ..errors import StoreError

if TYPE_CHECKING:
    from ..store.confirming import EditionReader
    from .service import Service

UNREACHABLE = object()


class Moments:
    """Finds the moments of a store, which say when editions in memory were last in use."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._last_moment: object = None
        self._last_checked = -inf
        self._batches: EditionReader | None = None

    async def find(self, service: Service, conversation: str, arrived: float) -> object:
        """Return a moment at which the cached edition of this conversation was in use, or UNREACHABLE if the store does not respond.

        Requests that arrived before the last look at a local store share its result; another store gets those that wait in one statement.
        """
        store = service.conversations.store
        if self._service.is_local:
            return self._local_moment(arrived)
        if self._batches is None:
            self._batches = store.batch_reader()
        moment = await self._batches.confirm(store.team, conversation) if self._batches is not None else None
        return UNREACHABLE if moment is None else moment

    def _local_moment(self, arrived: float) -> object:
        if arrived >= self._last_checked:
            self._last_checked = perf_counter()
            try:
                self._last_moment = self._service.conversations.store.moment()
            except StoreError:
                self._last_moment = UNREACHABLE
        return self._last_moment

    async def close(self) -> None:
        if self._batches is not None:
            await self._batches.close()
