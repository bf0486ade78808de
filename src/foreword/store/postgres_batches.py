"""Confirm cached editions in batches, on one asynchronous connection.

A service reads the same row for nearly every request, to learn whether the edition in its cache is still in use. A thread and a SELECT
for each request cost seven times as much as the rest of the answer. So requests that arrive while a SELECT is running share the next one.
"""

from __future__ import annotations

import asyncio
from time import monotonic

import psycopg

from .postgres_server import SERVER_PROCESS, PostgresOptions
from .psycopg_connection import SLOW_SHARE, set_team
from .reader import CURRENT
from .rows import ALL_TEAMS, key_of
from .usage import SELECT_USAGE, UsageRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .cache import EditionCache

_PAUSE = 2.0


def _filled(statement: str, *columns: str) -> str:
    """Return a statement with columns in place of its parameters."""
    for column in columns:
        statement = statement.replace("?", column, 1)
    return statement


# One text takes less time to send than arrays. Neither a team nor an id contains a control character.
_TEAM_ASKED, _ID_ASKED = (f"split_part(asked.line, E'\\t', {part})" for part in (1, 2))
_SELECT = f"""
    SELECT asked.number, edition.*, used.*
    FROM unnest(string_to_array(%s, E'\\n')) WITH ORDINALITY AS asked (line, number)
    CROSS JOIN LATERAL ({_filled(CURRENT, _TEAM_ASKED, _ID_ASKED)}) AS edition
    LEFT JOIN LATERAL ({_filled(SELECT_USAGE, _TEAM_ASKED, _ID_ASKED, "edition.number")}) AS used ON true
"""
# A batch has conversations of several teams.
_TEAM = set_team(ALL_TEAMS)
_LOCAL_TEAM = set_team(ALL_TEAMS, "LOCAL")
# Where the columns of the usage begin.
_USAGE = -len(UsageRow.__annotations__)


class BatchReader:
    """Confirms which editions in a store's cache are still in use. Belongs to one event loop.

    It gives up early and calls `on_timeout`, because the caller then has to ask the server again in a thread.
    """

    def __init__(self, options: PostgresOptions, editions: EditionCache, on_timeout: Callable[[], None]) -> None:
        self._options, self._editions, self._on_timeout = options, editions, on_timeout
        self._timeout = options.call_timeout * SLOW_SHARE
        self._cursor: psycopg.AsyncCursor[tuple[Any, ...]] | None = None
        self._statement = _SELECT.encode()
        self._next_attempt = 0.0
        self._waiting: list[tuple[tuple[str, str], asyncio.Future[object]]] = []
        self._task: asyncio.Task[None] | None = None

    async def confirm(self, team: str, conversation: str) -> object:
        """Return a moment at which the cached edition was in use, or None if it is not, is not cached, or the server does not answer."""
        if self._editions.get(key_of(team, conversation)) is None or monotonic() < self._next_attempt:
            return None
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(((team, conversation), future))
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        return await future

    async def close(self) -> None:
        """Close the connection."""
        if self._task is not None:
            self._task.cancel()
        await self._disconnect()

    async def _run(self) -> None:
        try:
            await asyncio.sleep(0)  # other requests may have arrived with this one
            while self._waiting:
                batch, self._waiting = self._waiting, []
                try:
                    confirmed = await self._confirm_all(list({conversation for conversation, _ in batch}))
                except (psycopg.Error, OSError) as error:
                    # The caller reads it in a thread instead, which reports the problem.
                    if isinstance(error, TimeoutError):
                        self._on_timeout()
                    self._next_attempt = monotonic() + _PAUSE
                    confirmed = {}
                    await self._disconnect()
                for conversation, future in batch:
                    if not future.done():
                        future.set_result(confirmed.get(conversation))
        finally:
            self._task = None
            for _, future in self._waiting:
                future.cancel()

    async def _confirm_all(self, conversations: list[tuple[str, str]]) -> dict[tuple[str, str], object]:
        async with asyncio.timeout(self._timeout):
            cursor = self._cursor or await self._connect()
            await cursor.execute(self._statement, ("\n".join(map("\t".join, conversations)),))
            while cursor.nextset():
                pass  # the rows are in the last result
            rows = await cursor.fetchall()
        moment = object()
        confirmed: dict[tuple[str, str], object] = {}
        for row in rows:
            conversation = conversations[row[0] - 1]
            cached = self._editions.get(key_of(*conversation))
            if cached is not None and row[1:_USAGE] == cached.row:
                cached.moment = cached.usage_moment = moment
                cached.usage = UsageRow(*row[_USAGE:]) if row[_USAGE] is not None else None
                confirmed[conversation] = moment
        return confirmed

    async def _connect(self) -> psycopg.AsyncCursor[tuple[Any, ...]]:
        connection = await psycopg.AsyncConnection.connect(**self._options.settings, autocommit=True)
        process = await (await connection.execute(SERVER_PROCESS.encode())).fetchone()
        if process == (connection.info.backend_pid,):
            limit = int(self._timeout * 1000)
            settings = f"SET statement_timeout = {limit}; SET lock_timeout = {limit}; {_TEAM}"
            await connection.execute(settings.encode())
            self._cursor, self._statement = connection.cursor(binary=True), _SELECT.encode()
        else:
            # One message with both statements is a transaction, so the setting ends with it.
            connection.prepare_threshold = None
            self._cursor = psycopg.AsyncClientCursor(connection)
            self._statement = f"{_LOCAL_TEAM}; {_SELECT}".encode()
        return self._cursor

    async def _disconnect(self) -> None:
        cursor, self._cursor = self._cursor, None
        if cursor is not None:
            await cursor.connection.close()
