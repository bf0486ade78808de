"""The only file that uses uvicorn's private parts. `RELIED_ON` lists them all, and the server starts only if they exist.

uvicorn's parser buffers whatever it receives until a line ends, and waits for that indefinitely. `Connection` limits the number of
bytes outside bodies, and the time until a request's headers are complete.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cache
from secrets import token_hex
from socket import socket
from time import perf_counter
from typing import Any

import msgspec
import uvicorn
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.supervisors import Multiprocess

from ..errors import CallError
from .guard import MAX_HEADER_BYTES
from .responses import Problem

# Keys that a connection adds to a request's scope.
ARRIVED = "foreword.arrived"
CONNECTION = "foreword.connection"
# The type of a message with a whole response: `status`, `headers`, and the `parts` of its body.
WHOLE_RESPONSE = "foreword.response"
_CLOSE = (b"connection", b"close")
# How many requests of a connection may wait while another one is answered. Parsed requests take much more memory than their text.
_MAX_PIPELINED = 16
# After a signal to stop, how long an idle connection waits for a request that the client may already have sent.
_STOP_SECONDS = 2.0

# The versions of uvicorn with which the service's tests pass.
TESTED = ">=0.34,<0.55"
# What this file uses of uvicorn beside its documented interface: attributes that its constructors set, and methods.
RELIED_ON: dict[type, tuple[str, str]] = {
    HttpToolsProtocol: (
        "app_state cycle flow headers loop parser pipeline scope transport",
        "connection_lost connection_made data_received on_body on_headers_complete on_message_complete on_response_complete"
        " pause_writing resume_writing send_400_response shutdown timeout_keep_alive_handler _unsupported_upgrade_warning",
    ),
    RequestResponseCycle: (
        "body default_headers disconnected flow keep_alive message_event more_body on_response response_complete response_started"
        " scope transport waiting_for_100_continue",
        "send",
    ),
    FlowControl: ("write_paused", "drain pause_reading resume_reading"),
    Multiprocess: ("sockets", "terminate_all"),
}


def check_uvicorn() -> None:
    """Raise a CallError if the installed version of uvicorn lacks something that this file relies on."""
    missing = [
        f"{owner.__name__}.{name}"
        for owner, (attributes, methods) in RELIED_ON.items()
        for name in (*attributes.split(), *methods.split())
        if not (callable(getattr(owner, name, None)) or name in owner.__init__.__code__.co_names)  # type: ignore[misc]
    ]
    if missing:
        raise CallError(
            f"uvicorn {uvicorn.__version__} has no {', '.join(missing)}, which the service needs;"
            f" install a version that is tested: pip install 'uvicorn{TESTED}'"
        )


def configure(application: Any, host: str, port: int, shutdown_seconds: int, **options: Any) -> uvicorn.Config:
    """Return uvicorn's configuration for an application that checks requests and writes the log itself."""
    check_uvicorn()
    return uvicorn.Config(
        application,
        host=host,
        port=port,
        access_log=False,
        log_config=None,
        log_level="error",
        interface="asgi3",
        server_header=False,
        proxy_headers=False,
        http=Connection,
        ws="none",
        timeout_graceful_shutdown=shutdown_seconds,
        **options,
    )


@cache
def _is_from_uvloop(transport: type) -> bool:
    """Whether this class's `writelines` is safe to use.

    In many releases of Python, asyncio's own waits forever to send an empty part, never asks to pause, and writes to lost connections.
    """
    return transport.__module__.startswith("uvloop")


class Cycle(RequestResponseCycle):
    """A request and its response, which may be sent as one message. That is much faster, and uvloop does not copy its parts."""

    async def send(self, message: Any) -> None:
        if message["type"] != WHOLE_RESPONSE:
            await super().send(message)
            return
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        is_sending_body = self.more_body and not (self.waiting_for_100_continue and not self.body)
        self.response_started, self.waiting_for_100_continue = True, False
        headers = [*self.default_headers, *message["headers"]]
        if _CLOSE in headers:
            self.keep_alive = is_sending_body = False
        elif not self.keep_alive:
            headers.append(_CLOSE)
        lines = b"\r\n".join([b"%b: %b" % header for header in headers])
        if lines.count(b"\n") != len(headers) - 1 or lines.count(b"\r") != len(headers) - 1:
            raise ValueError("a response header must not contain line breaks")
        self._write([b"%b%b\r\n\r\n" % (STATUS_LINE[message["status"]], lines), *message["parts"]])
        self.response_complete = True
        self.message_event.set()
        if not self.keep_alive:
            self._close(is_sending_body)
        self.on_response()

    def _write(self, parts: list[bytes]) -> None:
        if _is_from_uvloop(type(self.transport)):  # type: ignore[arg-type]
            self.transport.writelines(parts)
        else:
            self.transport.write(b"".join(parts))

    def _close(self, is_sending_body: bool) -> None:
        """Close the connection once the client has sent its body. Closing it earlier would reset it, and the client might not get the response."""
        connection: Connection | None = self.scope.get(CONNECTION)  # type: ignore[assignment]
        if is_sending_body and connection is not None:
            connection.closes_after_body = True
        else:
            self.transport.close()


class Connection(HttpToolsProtocol):
    """A connection that sends a problem response and closes if a request's headers are too large or arrive too slowly."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._bytes_outside_bodies = 0
        self._header_timer: asyncio.TimerHandle | None = None
        self._read_timer: asyncio.TimerHandle | None = None
        self._stop_timer: asyncio.TimerHandle | None = None
        self._running: RequestResponseCycle | None = None
        self._is_stopping = self._ignores_rest = False
        self.is_closed = False
        self.closes_after_body = False
        self.on_close: Callable[[], None] | None = None  # cancels the request's work when the client hangs up
        self.on_stop: Callable[[], None] | None = None  # ends a stream when the service stops

    @property
    def is_full(self) -> bool:
        """Whether the client must read before more can be written."""
        return bool(self.flow.write_paused)

    async def drain(self) -> None:
        """Wait until the client has read enough that more can be written."""
        await self.flow.drain()

    @property
    def has_whole_body(self) -> bool:
        """Whether the body of the request that is being answered has arrived."""
        return self._running is not None and not self._running.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_header_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_header_timer()
        self._stop_read_timer()
        if self._stop_timer is not None:
            self._stop_timer.cancel()
        self.is_closed = True
        self.pipeline.clear()
        if self._running is not None:  # uvicorn marks only the last request of a pipeline as disconnected
            self._running.disconnected = True
            self._running.message_event.set()
        super().connection_lost(exc)
        # Requests refer to their connection. Without this, they would stay in memory until a collection of all objects, which is rare.
        self.cycle = self.scope = self._running = None  # type: ignore[assignment]
        if self.on_close is not None:
            self.on_close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._start_read_timer()

    def resume_writing(self) -> None:
        super().resume_writing()
        if not self.transport.is_closing():
            self._stop_read_timer()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._start_read_timer()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing() or self._ignores_rest:
            return
        self._bytes_outside_bodies += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._bytes_outside_bodies > MAX_HEADER_BYTES:
            self._refuse(
                "headers-too-large", f"the request line and headers must not exceed {MAX_HEADER_BYTES:,} bytes"
            )
        elif self.cycle is None or self.cycle.response_complete:
            self._start_header_timer()

    def on_headers_complete(self) -> None:
        self._bytes_outside_bodies = 0
        self._stop_header_timer()
        if self.transport.is_closing() or self._ignores_rest:  # the previous request was the last one
            return
        if len(self.pipeline) == _MAX_PIPELINED:
            self._ignores_rest, self.cycle.keep_alive = True, False
            return
        self.scope[ARRIVED] = perf_counter()  # type: ignore[literal-required]
        self.scope[CONNECTION] = self  # type: ignore[literal-required]
        previous = self.cycle
        super().on_headers_complete()
        self.cycle.__class__ = Cycle  # uvicorn always creates its own, and answers it when this returns
        if (
            not self.parser.should_keep_alive()
        ):  # older versions of uvicorn look for this only when it sends its own responses
            self.cycle.keep_alive = False
        if previous is None or previous.response_complete:
            self._running = self.cycle
        self.headers = []  # the parser reports trailers as headers, which the request must not get
        if self._is_stopping:  # the last request of a pipeline closes the connection
            self.cycle.keep_alive = False
            if previous is not None and not previous.response_started:
                previous.keep_alive = True

    def on_response_complete(self) -> None:
        """Finish a request. The next one in the pipeline counts as arriving now, so that it sees this one's changes."""
        if self.pipeline and not self.transport.is_closing():
            self._running = self.pipeline[-1][0]
            self._running.scope[ARRIVED] = perf_counter()  # type: ignore[literal-required]
        super().on_response_complete()
        if self.transport.is_closing():
            self._start_read_timer()
        elif self._is_stopping:
            self._start_stop_timer()

    def shutdown(self) -> None:
        """Answer the current request or the next one with `Connection: close`.

        Closing an idle connection immediately would lose a request that the client is sending at this moment.
        """
        self._is_stopping = True
        if self.on_stop is not None:
            self.on_stop()
        cycle = self.cycle
        if cycle is None or cycle.response_complete or cycle.response_started:
            self._start_stop_timer()
        else:
            cycle.keep_alive = False

    def _start_stop_timer(self) -> None:
        if self._stop_timer is not None:
            self._stop_timer.cancel()
        self._stop_timer = self.loop.call_later(_STOP_SECONDS, self._close_if_idle)

    def _close_if_idle(self) -> None:
        if (self.cycle is None or self.cycle.response_complete) and not self._bytes_outside_bodies:
            self.transport.close()
            self._start_read_timer()

    def on_body(self, body: bytes) -> None:
        self._bytes_outside_bodies = 0
        if not self._ignores_rest:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._bytes_outside_bodies = 0
        if self._ignores_rest:
            return
        super().on_message_complete()
        if self.closes_after_body:
            self.transport.close()
            self._start_read_timer()
        elif not self.pipeline:
            self.flow.resume_reading()  # a large body has paused it, and then nobody would notice that the client hangs up

    def send_400_response(self, msg: str) -> None:
        self._refuse("not-http", "this is not a valid HTTP/1.1 request, or its path contains unescaped bytes")

    def _unsupported_upgrade_warning(self) -> None:
        """Ignore a request to change the protocol, answer in HTTP and close the connection."""
        if self.cycle is not None:
            self.cycle.keep_alive = False

    def _start_header_timer(self) -> None:
        if self._header_timer is None:
            self._header_timer = self.loop.call_later(self.app_state["time_limit"], self._on_header_timeout)

    def _stop_header_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _start_read_timer(self) -> None:
        """Limit the time that the client may take to read the rest of the response, or to let the connection close."""
        if self._read_timer is None and not self.is_closed:
            self._read_timer = self.loop.call_later(self.app_state["time_limit"], self._on_read_timeout)

    def _stop_read_timer(self) -> None:
        if self._read_timer is not None:
            self._read_timer.cancel()
            self._read_timer = None

    def _on_read_timeout(self) -> None:
        self._read_timer = None
        problem = Problem(
            "slow-reader", f"the client did not read the response within {self.app_state['time_limit']:g} seconds"
        )
        id = token_hex(8)
        self.app_state["log_refusal"](problem.response(id), id)
        self.transport.abort()

    def _on_header_timeout(self) -> None:
        self._header_timer = None
        if not self._bytes_outside_bodies:
            self.transport.close()  # an idle connection: there is no request to answer
            self._start_read_timer()
        elif not self.transport.is_closing():
            self._refuse(
                "slow-request", f"the headers were not complete after {self.app_state['time_limit']:g} seconds"
            )

    def _refuse(self, kind: str, detail: str) -> None:
        """Send a problem response and close the connection. An earlier complete request gets its response first."""
        self._stop_header_timer()
        if self.closes_after_body:  # the client has received its last response
            self.transport.close()
            self._start_read_timer()
            return
        id = token_hex(8)
        response = Problem(kind, detail).response(id)
        self.app_state["log_refusal"](response, id)
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete and (cycle.response_started or not cycle.more_body):
            cycle.keep_alive = False
            self.flow.pause_reading()
            return
        if not self.pipeline:
            body = msgspec.json.encode(response.body)
            headers = f"content-type: {response.kind}\r\ncontent-length: {len(body)}\r\nx-request-id: {id}\r\nconnection: close\r\n\r\n"
            self.transport.write(STATUS_LINE[response.status] + headers.encode() + body)
        self.transport.close()
        self._start_read_timer()


class Supervisor(Multiprocess):
    """Starts the worker processes and replaces those that die."""

    def __init__(self, config: uvicorn.Config, sockets: list[socket]) -> None:
        # Until 0.51, uvicorn expected the function that a worker runs, which is always this one.
        takes_target = "target" in Multiprocess.__init__.__code__.co_varnames
        super().__init__(config, *([uvicorn.Server(config).run] if takes_target else []), sockets)  # type: ignore[arg-type,call-arg]

    def terminate_all(self) -> None:
        # Otherwise a client could connect while the last requests are being answered, and would never get a response.
        for listening in self.sockets:
            listening.close()
        super().terminate_all()
