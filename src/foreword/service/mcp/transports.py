"""Serve MCP clients over standard input and output, or over HTTP with the same protection as `foreword serve`."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from secrets import token_hex
from time import perf_counter
from typing import Any

import uvicorn
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from ...errors import CallError
from ...vocabulary import value
from ..guard import RequestGuard
from ..log import Handler, Log, cause_of
from ..rates import RateLimit, network_of
from ..responses import Problem, Response, to_json
from ..server import TOKEN, check_exposure, install_signal_handlers, log_tokens
from ..sockets import bind, url_of
from ..tokens import UNLIMITED, Caller, Tokens
from ..tracing import parse_trace
from ..uvicorn_adapter import CONNECTION, configure
from .content import McpContents
from .server import create_server

PATH = b"/mcp"
DEFAULT_PORT = 8373
_TIME_LIMIT = 30.0
_MAX_BODY_BYTES = 4 * 1024 * 1024
_SHUTDOWN_SECONDS = 3
_MAX_REQUESTS = 64
_MAX_REQUESTS_PER_TOKEN = 16
# The key in a request's scope for who sent it.
CALLER = "foreword.caller"


@value
class HttpOptions:
    """The options of `foreword mcp --http`."""

    host: str
    port: int
    hosts: Sequence[str] = ()
    tokens: str = ""
    rate_limit: float = 0.0


def serve_stdio(contents: McpContents, on_interrupt: Callable[[], None]) -> None:
    """Answer the client that started this process, until it closes standard input.

    `on_interrupt` must end the process: the thread that reads standard input cannot be interrupted.
    """
    logging.getLogger().handlers = [logging.NullHandler()]
    server = create_server(lambda request: contents.of())

    async def answer() -> None:
        with suppress(NotImplementedError):  # on Windows
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, on_interrupt)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    asyncio.run(answer())


def serve_http(contents: McpContents, options: HttpOptions, on_listen: Callable[[str], None], log: Log) -> None:
    """Answer clients on this address until a signal arrives. `on_listen` is called with the URL once they can connect."""
    token = os.environ.get(TOKEN, "")
    check_exposure(options.host, token, "--http", options.tokens)
    logging.getLogger().handlers = [Handler(log)]  # otherwise the package would print text from requests
    tokens = Tokens(token, options.tokens, log_tokens(log))
    rates = [RateLimit(options.rate_limit) if options.rate_limit else None for _ in range(2)]
    guard = RequestGuard(tokens, (*options.hosts, options.host), rates=rates[0])
    application = McpApplication(contents, guard, log, rates[1])
    config = configure(application, options.host, options.port, _SHUTDOWN_SECONDS)
    listening = bind(config)
    http_server = uvicorn.Server(config)
    install_signal_handlers(http_server)
    on_listen(url_of(options.host, listening) + PATH.decode())
    http_server.run(sockets=[listening])


class McpApplication:
    """The ASGI application: checks each request as the service does, and passes it to the protocol's package.

    There are no sessions, because nothing here depends on earlier requests and the server never sends messages on its own. So a client
    cannot use another one's session, and one that disappears leaves nothing behind.
    """

    def __init__(
        self,
        contents: McpContents,
        guard: RequestGuard,
        log: Log,
        rates: RateLimit | None = None,
        time_limit: float = _TIME_LIMIT,
    ) -> None:
        server = create_server(lambda request: contents.of(request.scope[CALLER]), log, time_limit)
        self._manager = StreamableHTTPSessionManager(
            server, stateless=True, json_response=True, max_request_body_size=_MAX_BODY_BYTES
        )
        self._guard, self._log, self._rates, self._time_limit = guard, log, rates, time_limit
        self._running: Counter[str] = Counter()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(scope, receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, send)

    async def _lifespan(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        scope["state"].update(time_limit=self._time_limit, log_refusal=self._log_refusal)
        async with self._manager.run():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

    async def _request(self, scope: Any, receive: Any, send: Any) -> None:
        started, id = perf_counter(), token_hex(8)
        status, caller, problem = 0, UNLIMITED, None

        async def send_and_record(message: Any) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            caller = self._guard.check(scope["method"], scope["headers"], False, _address(scope))
            self._check(scope, caller)
            self._running[caller.name] += 1
            try:
                body = await _read_body(receive, self._time_limit)
                if body is not None:
                    scope[CALLER] = caller
                    await self._answer(scope, _replay(body, receive), send_and_record)
            finally:
                self._running[caller.name] -= 1
        except Problem as refusal:
            problem = refusal.response(id)
            await _refuse(send_and_record, problem, id)
        except Exception as error:  # the client has already been answered, or cannot be
            self._log.event("mcp", "error", "a request failed", cause_of(error))
        kind, reason = (problem.problem, problem.reason) if problem else ("", "")
        seconds, trace = perf_counter() - started, parse_trace(dict(scope["headers"]).get(b"traceparent", b""))
        status = status or 499  # the client has disconnected
        self._log.request(
            scope["method"], scope["raw_path"], status, seconds, id, kind, reason, trace=trace, token=caller.name
        )

    def _check(self, scope: Any, caller: Caller) -> None:
        """Raise a Problem if the request is not for the endpoint, or if too many are being answered."""
        if scope["raw_path"] != PATH:
            raise Problem("unknown-path", f"the MCP endpoint is {PATH.decode()}")
        if scope["method"] != "POST":
            detail = f"the MCP endpoint accepts POST, not {scope['method']}; it has no sessions and no server stream"
            raise Problem("method-not-allowed", detail, {"Allow": "POST"})
        if self._rates is not None:
            self._rates.check(caller.name or network_of(_address(scope)))
        if caller.name and self._running[caller.name] >= _MAX_REQUESTS_PER_TOKEN:
            detail = f"{_MAX_REQUESTS_PER_TOKEN} requests with this token are already being answered; try again later"
            raise Problem("busy", detail)
        if self._running.total() >= _MAX_REQUESTS:
            raise Problem("busy", f"{_MAX_REQUESTS} requests are already being answered; try again later")

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, unless the client disconnects first."""
        work = asyncio.ensure_future(self._manager.handle_request(scope, receive, send))
        connection = scope.get(CONNECTION)
        if connection is not None:
            connection.on_close = work.cancel
        try:
            await work
        except asyncio.CancelledError:
            if connection is None or not connection.is_closed:
                raise
        finally:
            work.cancel()
            if connection is not None:
                connection.on_close = None

    def _log_refusal(self, response: Response, id: str) -> None:
        self._log.request("-", b"-", response.status, 0.0, id, response.problem, response.reason)


def _address(scope: Any) -> str:
    return (scope.get("client") or ("",))[0]


async def _read_body(receive: Any, time_limit: float) -> bytes | None:
    """Return the request's body, or None if the client disconnects. Raises a Problem if it is too large or arrives too slowly."""
    body = bytearray()
    try:
        async with asyncio.timeout(time_limit):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message.get("body", b"")
                if len(body) > _MAX_BODY_BYTES:
                    raise Problem(
                        "too-large", f"the body must not exceed {_MAX_BODY_BYTES:,} bytes", {"Connection": "close"}
                    )
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        detail = f"the body was not complete after {time_limit:g} seconds"
        raise Problem("slow-request", detail, {"Connection": "close"}) from None


def _replay(body: bytes, receive: Any) -> Any:
    """Return a function that first returns the body, and then whatever else the client sends."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Any:
        return messages.pop() if messages else await receive()

    return replay


async def _refuse(send: Any, response: Response, id: str) -> None:
    body = to_json(response.body)
    headers = {"content-type": response.kind, "content-length": str(len(body)), "x-request-id": id, **response.headers}
    encoded = [(name.lower().encode(), content.encode()) for name, content in headers.items()]
    await send({"type": "http.response.start", "status": response.status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})


def parse_address(text: str) -> tuple[str, int]:
    """Parse HOST:PORT, :PORT, HOST or an empty string, which is the default address."""
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        host, port = text, ""
    number = port or str(DEFAULT_PORT)
    if not (number.isascii() and number.isdecimal() and int(number) <= 65535):
        raise CallError(f"--http must be HOST:PORT, such as 127.0.0.1:{DEFAULT_PORT}, not {text!r}")
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(number)
