"""One connection, held inside its limits before a request reaches the application.

The parser of uvicorn keeps whatever it is sent until a line ends, and waits for that as long as it takes. Here what comes
without being a body is counted, and the time until a request has its headers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from secrets import token_hex
from time import perf_counter
from typing import Any

import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from .answers import Problem
from .guard import LARGEST_HEADERS

ARRIVED = "foreword.arrived"
CONNECTION = "foreword.connection"


class Connection(HttpToolsProtocol):
    """A connection that is closed when a request's head is too large or too slow. What is wrong with it is a problem as any other."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._outside = 0
        self._timer: asyncio.TimerHandle | None = None
        self._running: RequestResponseCycle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self.is_gone = False
        self.on_gone: Callable[[], None] | None = None  # what is to end when the client hangs up

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._is_read()
        self.is_gone = True
        self.pipeline.clear()
        if self._running is not None:  # uvicorn looks only at the last request of a pipeline
            self._running.disconnected = True
            self._running.message_event.set()
        super().connection_lost(exc)
        if self.on_gone is not None:
            self.on_gone()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._expect_to_be_read()

    def resume_writing(self) -> None:
        super().resume_writing()
        if not self.transport.is_closing():
            self._is_read()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._expect_to_be_read()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._outside += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._outside > LARGEST_HEADERS:
            self._refuse("large-headers", f"a request has at most {LARGEST_HEADERS:,} bytes beside its body")
        elif self.cycle is None or self.cycle.response_complete:
            self._wait()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def on_headers_complete(self) -> None:
        self._outside = 0
        self._stop_waiting()
        self.scope[ARRIVED] = perf_counter()  # type: ignore[literal-required]
        self.scope[CONNECTION] = self  # type: ignore[literal-required]
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """A request that waited behind this one counts as arrived now: it is to see what this one did."""
        if self.pipeline:
            self.pipeline[-1][0].scope[ARRIVED] = perf_counter()  # type: ignore[literal-required]
        super().on_response_complete()
        if self.transport.is_closing():
            self._expect_to_be_read()

    def on_body(self, body: bytes) -> None:
        self._outside = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._outside = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(
            "not-http", "what was sent is no request of HTTP/1.1, or its address holds bytes that are not escaped"
        )

    def _unsupported_upgrade_warning(self) -> None:
        """The request is answered as if it had not asked for another protocol, and the connection ends with it."""
        if self.cycle is not None:
            self.cycle.keep_alive = False

    def _wait(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(self.app_state["seconds"], self._is_late)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expect_to_be_read(self) -> None:
        """Let the client have the time limit to read what is left. A connection that is closed waits for that, too."""
        if self._unread is None and not self.is_gone:
            self._unread = self.loop.call_later(self.app_state["seconds"], self._is_not_read)

    def _is_read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _is_not_read(self) -> None:
        self._unread = None
        problem = Problem("slow-reader", f"the answer was not read in {self.app_state['seconds']:g} seconds")
        id = token_hex(8)
        self.app_state["tell"](problem.answer(id), id)
        self.transport.abort()

    def _is_late(self) -> None:
        self._timer = None
        if not self._outside:
            self.transport.close()  # nothing was asked, so nothing is answered
            self._expect_to_be_read()
        elif not self.transport.is_closing():
            self._refuse("slow-request", f"the request had not its headers after {self.app_state['seconds']:g} seconds")

    def _refuse(self, kind: str, detail: str) -> None:
        """Say what is wrong, and end the connection. A request that came whole before it is answered first, and then it ends."""
        self._stop_waiting()
        id = token_hex(8)
        answer = Problem(kind, detail).answer(id)
        self.app_state["tell"](answer, id)
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete and (cycle.response_started or not cycle.more_body):
            cycle.keep_alive = False
            self.flow.pause_reading()
            return
        if not self.pipeline:
            body = msgspec.json.encode(answer.body)
            head = f"content-type: {answer.kind}\r\ncontent-length: {len(body)}\r\nx-request-id: {id}\r\nconnection: close\r\n\r\n"
            self.transport.write(STATUS_LINE[answer.status] + head.encode() + body)
        self.transport.close()
        self._expect_to_be_read()
