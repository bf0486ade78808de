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

MAX_STREAMS = 64
MAX_STREAMS_PER_TOKEN = 8
HEARTBEAT_SECONDS = 15
_HEARTBEAT = b": \n\n"
_MAX_WAITING = 16
_END = object()


class Streams:
    """The open streams of one process."""

    def __init__(self) -> None:
        self._open: set[Stream] = set()

    def open(self, events: Callable[[Event], Iterator[Any]], token: str, is_allowed: Callable[[], bool]) -> Stream:
        """Return a new stream. Raises a Problem if there are too many, or too many of the token with this name.

        `is_allowed` says whether the stream may continue.
        """
        if token and sum(stream.token == token for stream in self._open) >= MAX_STREAMS_PER_TOKEN:
            detail = f"{MAX_STREAMS_PER_TOKEN} event streams are already open with this token; close one first"
            raise Problem("busy", detail)
        if len(self._open) >= MAX_STREAMS:
            raise Problem("busy", f"{MAX_STREAMS} event streams are already open; try again later")
        stream = Stream(events, self, token, is_allowed)
        self._open.add(stream)
        return stream

    def close(self, stream: Stream) -> None:
        """Make room for another stream."""
        self._open.discard(stream)

    def end_forbidden(self) -> None:
        """End the streams that may not continue, because their token has been removed or has other rights now."""
        for stream in list(self._open):
            if not stream.is_allowed():
                stream.end()

    def __len__(self) -> int:
        return len(self._open)


class Stream:
    """A stream of events. It ends when the client disconnects, when the service stops, when its token is removed, or with its events."""

    def __init__(
        self,
        events: Callable[[Event], Iterator[Any]],
        streams: Streams,
        token: str,
        is_allowed: Callable[[], bool],
    ) -> None:
        self._events, self._streams = events, streams
        self.token, self.is_allowed = token, is_allowed
        self._stop = Event()
        self._queue: asyncio.Queue[Any] = asyncio.Queue()

    async def send(self, send: Any, id: str, connection: Connection | None) -> None:
        """Send the events until the stream ends."""
        loop = asyncio.get_running_loop()
        thread = Thread(target=self._read, args=(loop,), name="foreword-events", daemon=True)
        if connection is not None:
            connection.on_close = connection.on_stop = self.end
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
                if connection is not None and connection.is_full:
                    await connection.drain()
            await send({"type": "http.response.body", "body": b""})
        finally:
            self._stop.set()
            self._streams.close(self)
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

    def end(self) -> None:
        """End the stream."""
        self._stop.set()
        self._queue.put_nowait(_END)


def _encode(event: Any) -> bytes:
    return _HEARTBEAT if event is None else b"data: " + to_json(event) + b"\n\n"
