"""Server-sent events: a thread waits for each stream's next event, so that a stream never blocks another request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from ..errors import ForewordError
from .responses import Problem, to_json

if TYPE_CHECKING:
    from .uvicorn_adapter import Connection

MAX_STREAMS = 32
HEARTBEAT_SECONDS = 15
_HEARTBEAT = b": \n\n"
_MAX_WAITING = 16
_END = object()


class Streams:
    """The open streams of one process."""

    def __init__(self) -> None:
        self.count = 0

    def open(self, events: Callable[[Event], Iterator[Any]]) -> Stream:
        """Return a new stream. Raises a Problem if there are too many."""
        if self.count >= MAX_STREAMS:
            raise Problem("busy", f"{MAX_STREAMS} event streams are already open; try again later")
        self.count += 1
        return Stream(events, self)


class Stream:
    """A stream of events. It ends when the client disconnects, when the service stops, or with its events."""

    def __init__(self, events: Callable[[Event], Iterator[Any]], streams: Streams) -> None:
        self._events, self._streams = events, streams
        self._stop = Event()
        self._queue: asyncio.Queue[Any] = asyncio.Queue()

    async def send(self, send: Any, id: str, connection: Connection | None) -> None:
        """Send the events until the stream ends."""
        loop = asyncio.get_running_loop()
        thread = Thread(target=self._read, args=(loop,), name="foreword-events", daemon=True)
        if connection is not None:
            connection.on_close = connection.on_stop = self._end
        headers = [
            (b"content-type", b"text/event-stream"),
            (b"cache-control", b"no-store"),
            (b"x-request-id", id.encode()),
            (b"x-content-type-options", b"nosniff"),
        ]
        try:
            thread.start()
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            while (event := await self._queue.get()) is not _END:
                await send({"type": "http.response.body", "body": _encode(event), "more_body": True})
                if connection is not None:
                    await connection.drain()
            await send({"type": "http.response.body", "body": b""})
        finally:
            self._stop.set()
            self._streams.count -= 1
            if connection is not None:
                connection.on_close = connection.on_stop = None

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        """Pass the events to the event loop. A client that reads too slowly is disconnected."""
        try:
            for event in self._events(self._stop):
                if self._stop.is_set() or self._queue.qsize() > _MAX_WAITING:
                    break
                loop.call_soon_threadsafe(self._queue.put_nowait, event)
        except ForewordError:  # too many directories to watch, or no store: the client connects again
            pass
        finally:
            try:
                loop.call_soon_threadsafe(self._queue.put_nowait, _END)
            except RuntimeError:  # the service has stopped
                pass

    def _end(self) -> None:
        self._stop.set()
        self._queue.put_nowait(_END)


def _encode(event: Any) -> bytes:
    return _HEARTBEAT if event is None else b"data: " + to_json(event) + b"\n\n"
