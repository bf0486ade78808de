"""Serve MCP clients over standard input and output, or over HTTP with the same protection as `foreword serve`."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from secrets import token_hex
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from ...errors import CallError
from ..guard import RequestGuard
from ..log import Log, cause_of
from ..responses import Problem, Response, to_json
from ..server import TOKEN, check_exposure, install_signal_handlers
from ..sockets import bind, url_of
from ..tokens import Tokens
from ..uvicorn_adapter import configure

PATH = b"/mcp"
DEFAULT_PORT = 8373
_TIME_LIMIT = 30.0
_MAX_BODY_BYTES = 4 * 1024 * 1024
_SHUTDOWN_SECONDS = 3


def serve_stdio(server: Server[Any]) -> None:
    """Answer the client that started this process, until it closes standard input."""
    logging.getLogger().handlers = [logging.NullHandler()]

    async def run() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    asyncio.run(run())


def serve_http(
    server: Server[Any], host: str, port: int, hosts: Sequence[str], on_listen: Callable[[str], None], log: Log
) -> None:
    """Answer clients on this address until a signal arrives. `on_listen` is called with the URL once they can connect."""
    token = os.environ.get(TOKEN, "")
    check_exposure(host, token, "--http")
    application = McpApplication(server, RequestGuard(Tokens(token), (*hosts, host)), log)
    config = configure(application, host, port, _SHUTDOWN_SECONDS)
    listening = bind(config)
    http_server = uvicorn.Server(config)
    install_signal_handlers(http_server)
    on_listen(url_of(host, listening) + PATH.decode())
    http_server.run(sockets=[listening])


class McpApplication:
    """The ASGI application: checks each request as the service does, and passes it to the protocol's session manager."""

    def __init__(self, server: Server[Any], guard: RequestGuard, log: Log) -> None:
        self._manager = StreamableHTTPSessionManager(server, max_request_body_size=_MAX_BODY_BYTES)
        self._guard, self._log = guard, log

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(scope, receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, send)

    async def _lifespan(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        scope["state"].update(time_limit=_TIME_LIMIT, log_refusal=self._log_refusal)
        async with self._manager.run():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

    async def _request(self, scope: Any, receive: Any, send: Any) -> None:
        id = token_hex(8)
        try:
            self._guard.check(scope["method"], scope["headers"], False)
            if scope["raw_path"] != PATH:
                raise Problem("unknown-path", f"the MCP endpoint is {PATH.decode()}")
            body = await _read_body(receive)
        except Problem as problem:
            await _refuse(send, problem.response(id), id)
            self._log.request(
                scope["method"], scope["raw_path"], problem.response(id).status, 0.0, id, problem.kind, problem.reason
            )
            return
        if body is None:
            return
        try:
            await self._manager.handle_request(scope, _replay(body, receive), send)
        except Exception as error:  # the client has already been answered, or cannot be
            self._log.event("mcp", "error", "", cause_of(error))

    def _log_refusal(self, response: Response, id: str) -> None:
        self._log.request("-", b"-", response.status, 0.0, id, response.problem, response.reason)


async def _read_body(receive: Any) -> bytes | None:
    """Return the request's body, or None if the client disconnects. Raises a Problem if it is too large or arrives too slowly."""
    chunks: list[bytes] = []
    try:
        async with asyncio.timeout(_TIME_LIMIT):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                chunks.append(message.get("body", b""))
                if sum(map(len, chunks)) > _MAX_BODY_BYTES:
                    raise Problem(
                        "too-large", f"the body must not exceed {_MAX_BODY_BYTES:,} bytes", {"Connection": "close"}
                    )
                if not message.get("more_body", False):
                    return b"".join(chunks)
    except TimeoutError:
        detail = f"the body was not complete after {_TIME_LIMIT:g} seconds"
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
