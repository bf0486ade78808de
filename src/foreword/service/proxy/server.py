"""Handle the proxy's connections: every byte is forwarded as soon as it arrives, in both directions.

Each client connection has at most one connection to the provider, which is reused for the next request. If the provider cannot be reached,
the client gets a 502 response. If either side disconnects in the middle of a response, the other connection is closed too.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from concurrent.futures import ThreadPoolExecutor

from ...vocabulary import value
from ..side_process import SideProcess
from .answers import DECODABLE
from .conversations import SeenConversations
from .http1 import MAX_HEAD, Body, Head, ProtocolError, parse_head
from .observer import CONVERSATION_HEADER, READS_REQUESTS, Call, endpoint_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .observer import CallReport

_READ_SIZE = 64 * 1024
_CONNECT_SECONDS = 30
_HEAD_SECONDS = 30
_IDLE_SECONDS = 15  # a provider may close a connection that has been idle for longer
_HANG_UP_CHECK_SECONDS = 0.5
_LINGER_SECONDS = 2
_NOT_HTTP = "the provider's answer is not an HTTP/1.1 response"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@value
class Upstream:
    """Where requests are forwarded to."""

    host: str
    port: int
    is_https: bool
    path: str = ""

    @property
    def authority(self) -> str:
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == (443 if self.is_https else 80) else f"{name}:{self.port}"


class _Failure(Exception):
    """The request cannot be forwarded; the client gets this status and reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Proxy:
    """Forwards requests to one provider, and passes a report on each model call to `report`."""

    def __init__(self, upstream: Upstream, report: Callable[[CallReport], None], *, any_host: bool = False) -> None:
        self.upstream, self.report, self.any_host = upstream, report, any_host
        self.seen = SeenConversations()
        self.context = ssl.create_default_context() if upstream.is_https else None
        # A single thread, so that a conversation's requests are compared in order.
        self.pool = ThreadPoolExecutor(1, "foreword-proxy")
        self.reader = SideProcess(READS_REQUESTS)

    async def listen(self, host: str, port: int) -> asyncio.Server:
        """Accept connections until the server is closed."""
        return await asyncio.start_server(self._serve, host, port, limit=MAX_HEAD)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = _Connection(self, reader, writer)
        try:
            while await connection.serve_request():
                pass
        except (OSError, EOFError):
            pass  # the client has hung up
        except asyncio.CancelledError:
            pass  # the proxy is stopping; asyncio would print a traceback
        finally:
            connection.close()


class _Connection:
    """A client's connection, and the connection to the provider that serves it."""

    def __init__(self, proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.proxy, self.reader, self.writer = proxy, reader, writer
        self.provider: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.idle_since = 0.0

    def close(self) -> None:
        self.writer.close()
        self.close_provider()

    def close_provider(self) -> None:
        if self.provider is not None:
            self.provider[1].close()
            self.provider = None

    async def serve_request(self) -> bool:
        """Forward one request and its response. Returns whether the connection can be used for another."""
        try:
            head = parse_head(await self._read_head())
            body = Body(head)
            target = self._target(head)
        except asyncio.IncompleteReadError as error:
            if error.partial.strip():
                await self.refuse(_Failure(400, "the request is incomplete"))
            return False
        except TimeoutError:
            await self.refuse(_Failure(408, f"the request's headers did not arrive within {_HEAD_SECONDS} seconds"))
            return False
        except asyncio.LimitOverrunError:
            await self.refuse(_Failure(431, "the request's headers are too long"))
            return False
        except ProtocolError as error:
            await self.refuse(_Failure(400, str(error)))
            return False
        except _Failure as failure:
            await self.refuse(failure)
            return False
        endpoint = endpoint_of(head.words[0], target)
        call = Call(self.proxy.seen, self.proxy.reader, endpoint, head) if endpoint else None
        return await _Exchange(self, head, body, target, call).run()

    async def _read_head(self) -> bytes:
        """Read the head of a request. A connection may be idle before it, but the whole head must then arrive in time."""
        first = await self.reader.readexactly(1)
        async with asyncio.timeout(_HEAD_SECONDS):
            return first + await self.reader.readuntil(b"\r\n\r\n")

    def _target(self, head: Head) -> str:
        """Return the path of a request. Raises a _Failure if the request cannot be forwarded."""
        method, target = head.words[:2]
        if method == "CONNECT" or head.get("upgrade"):
            raise _Failure(501, "the proxy does not forward CONNECT requests or protocol upgrades")
        host = head.get("host").rpartition(":")[0] or head.get("host")
        if not self.proxy.any_host and host not in _LOOPBACK:
            # Otherwise a web page could reach the provider through a domain that resolves to this machine.
            raise _Failure(403, "the Host header does not name this machine; use 127.0.0.1 or localhost")
        if _is_from_other_site(head):
            raise _Failure(403, "requests from web pages are refused; the proxy is for programs on this machine")
        if not target.startswith("/") and "://" in target:
            address, mark, query = target.partition("?")
            target = "/" + address.partition("://")[2].partition("/")[2] + mark + query
        if not target.startswith("/") and (method, target) != ("OPTIONS", "*"):
            raise _Failure(400, "the target of the request is not a path")
        return target

    async def refuse(self, failure: _Failure) -> None:
        """Send an error response that closes the connection."""
        content = json.dumps({"error": {"type": "proxy_error", "message": f"foreword proxy: {failure}"}}).encode()
        head = (
            f"HTTP/1.1 {failure.status} Proxy error\r\ncontent-type: application/json\r\n"
            f"content-length: {len(content)}\r\nconnection: close\r\n\r\n"
        )
        self.writer.write(head.encode() + content)
        await self.writer.drain()
        self.writer.write_eof()
        # Closing a connection with unread data would discard the response before the client has read it.
        try:
            async with asyncio.timeout(_LINGER_SECONDS):
                while await self.reader.read(_READ_SIZE):
                    pass
        except TimeoutError:
            pass

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Return the existing connection to the provider if it is still usable, or a new one."""
        if self.provider is not None:
            is_fresh = time.monotonic() - self.idle_since < _IDLE_SECONDS
            if is_fresh and not self.provider[0].at_eof() and not self.provider[1].is_closing():
                return self.provider
            self.close_provider()
        upstream = self.proxy.upstream
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                self.provider = await asyncio.open_connection(
                    upstream.host, upstream.port, ssl=self.proxy.context, limit=MAX_HEAD
                )
        except TimeoutError:
            raise _Failure(504, f"{upstream.authority} did not accept a connection in time") from None
        except (OSError, ssl.SSLError) as error:
            reason = getattr(error, "strerror", "") or type(error).__name__
            raise _Failure(502, f"cannot connect to {upstream.authority}: {reason}") from None
        return self.provider


def _is_from_other_site(head: Head) -> bool:
    """Whether a browser has sent a request for a page. The proxy has no pages, so every page is another site's.

    A form or an image needs no permission to send a request, so the check cannot be left to the browser.
    """
    origin, host = head.get("origin"), head.get("host")
    is_foreign = bool(head.count("origin")) and origin.partition("://")[2] != host
    return is_foreign or head.get("sec-fetch-site") not in ("", "none", "same-origin")


class _Exchange:
    """One request and its response."""

    def __init__(self, connection: _Connection, head: Head, body: Body, target: str, call: Call | None) -> None:
        self.connection, self.head, self.body, self.target, self.call = connection, head, body, target, call
        self.status = 0
        self.comparison: asyncio.Future[None] | None = None
        self.is_started = False  # whether part of the response has been sent to the client

    async def run(self) -> bool:
        """Forward both messages and report the call. Returns whether the client's connection can be used again."""
        connection, problem, can_continue = self.connection, "", False
        sending: asyncio.Task[None] | None = None
        try:
            reader, writer = await connection.connect()
            writer.write(self._request_head())
            sending = asyncio.create_task(self._send_body(writer))
            can_continue = await self._forward_response(reader, sending)
        except _Failure as failure:
            problem = str(failure)
            if not self.is_started:
                self.status = failure.status
                if sending is not None:  # only one task can read from the client
                    sending.cancel()
                    await asyncio.wait({sending})
                await self._refuse_quietly(failure)
        except ConnectionAbortedError:
            problem = "the client hung up"
        except (OSError, EOFError):
            problem = "the provider closed the connection before the end of the response"
        except ProtocolError as error:
            problem = f"the connection was closed: {error}"
        finally:
            if sending is not None and not self.body.is_done:  # the provider answered before reading the whole request
                sending.cancel()
                can_continue = False
            if not can_continue:
                connection.close_provider()
            connection.idle_since = time.monotonic()
        if problem and self.is_started:
            connection.writer.transport.abort()  # the client must not mistake a partial response for a complete one
        await self._report(problem, sending)
        return can_continue

    def _request_head(self) -> bytes:
        method, upstream = self.head.words[0], self.connection.proxy.upstream
        offered = [coding.strip() for coding in self.head.get("accept-encoding").split(",")]
        # The proxy must be able to read the response too.
        accepted = [coding for coding in offered if coding.partition(";")[0].strip() in DECODABLE]
        added = [("Host", upstream.authority), ("Accept-Encoding", ", ".join(accepted) or "identity")]
        dropped = ("host", "accept-encoding", "expect", CONVERSATION_HEADER)
        return self.head.forwarded(f"{method} {upstream.path}{self.target} HTTP/1.1", added, dropped)

    async def _send_body(self, writer: asyncio.StreamWriter) -> None:
        """Forward the request's body as it arrives, and compare the request once it is complete."""
        reader, client = self.connection.reader, self.connection.writer
        if "100-continue" in self.head.get("expect") and not self.body.is_done:
            client.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        while not self.body.is_done:
            data = await reader.read(min(_READ_SIZE, self.body.readable))
            if not data:
                raise ConnectionAbortedError
            _, content = self.body.feed(data)
            writer.write(data)
            await writer.drain()
            if self.call:
                self.call.add_request(content)
        if self.call:
            loop, pool = asyncio.get_running_loop(), self.connection.proxy.pool
            self.comparison = loop.run_in_executor(pool, self.call.read_request)

    async def _forward_response(self, reader: asyncio.StreamReader, sending: asyncio.Task[None]) -> bool:
        """Forward the response as it arrives. Returns whether both connections can be used again."""
        head = await self._read_head(reader, sending)
        body = self._response_body(head)
        is_http10 = self.head.words[2] == "HTTP/1.0"
        keeps_client = self._keeps_client(body)
        added = [("Connection", "keep-alive" if keeps_client else "close")]
        dropped = ("transfer-encoding", "trailer") if is_http10 else ()
        self.is_started, has_excess = True, False
        await self._to_client(head.forwarded(" ".join(head.words), added, dropped))
        if self.call:
            self.call.start_response(head)
        while not body.is_done:
            data = await self._while_client_waits(reader.read(_READ_SIZE), sending)
            if not data and body.ends_with_connection:
                break
            if not data:
                raise EOFError
            used, content = body.feed(data)
            has_excess = used < len(data)
            await self._to_client(content if is_http10 else data[:used])
            if self.call:
                self.call.add_response(content)
        if not head.keeps_connection or body.ends_with_connection or has_excess:
            self.connection.close_provider()
        return keeps_client

    def _keeps_client(self, body: Body) -> bool:
        """Whether the client's connection can be used again after this response."""
        is_unchunked = self.head.words[2] == "HTTP/1.0" and body.is_chunked  # then only closing marks its end
        return self.head.keeps_connection and not body.ends_with_connection and not is_unchunked

    def _response_body(self, head: Head) -> Body:
        self.status = int(head.words[1])
        is_empty = self.head.words[0] == "HEAD" or self.status in (204, 304)
        try:
            return Body(head, is_response=True, is_empty=is_empty)
        except ProtocolError:
            raise _Failure(502, _NOT_HTTP) from None

    async def _to_client(self, data: bytes) -> None:
        try:
            self.connection.writer.write(data)
            await self.connection.writer.drain()
        except OSError:
            raise ConnectionAbortedError from None

    async def _read_head(self, reader: asyncio.StreamReader, sending: asyncio.Task[None]) -> Head:
        """Read the head of the final response, skipping any interim (1xx) responses."""
        while True:
            try:
                raw = await self._while_client_waits(reader.readuntil(b"\r\n\r\n"), sending)
            except ConnectionAbortedError:
                raise
            except (OSError, asyncio.IncompleteReadError):
                raise _Failure(502, "the provider closed the connection without answering") from None
            except asyncio.LimitOverrunError:
                raise _Failure(502, _NOT_HTTP) from None
            except ProtocolError as error:  # in the request's body
                raise _Failure(400, str(error)) from None
            try:
                head = parse_head(raw, is_response=True)
            except ProtocolError:
                raise _Failure(502, _NOT_HTTP) from None
            if not head.words[1].startswith("1"):
                return head

    async def _while_client_waits(self, reading: object, sending: asyncio.Task[None]) -> bytes:
        """Read from the provider. Raises a ConnectionAbortedError when the client hangs up, so that the provider can stop too."""
        task: asyncio.Task[bytes] = asyncio.ensure_future(reading)  # type: ignore[call-overload]
        try:
            while True:
                done, _ = await asyncio.wait({task}, timeout=_HANG_UP_CHECK_SECONDS)
                if done:
                    return task.result()
                if sending.done() and sending.exception() is not None:
                    await asyncio.wait({task}, timeout=_HANG_UP_CHECK_SECONDS)  # the provider may have answered already
                    if task.done():
                        return task.result()
                    raise sending.exception() or EOFError
                if self.connection.reader.at_eof() or self.connection.writer.is_closing():
                    raise ConnectionAbortedError
        finally:
            task.cancel()

    async def _refuse_quietly(self, failure: _Failure) -> None:
        try:
            await self.connection.refuse(failure)
        except OSError:
            pass

    async def _report(self, problem: str, sending: asyncio.Task[None] | None) -> None:
        """Report the call once another thread has compared its request."""
        if sending is not None:
            await asyncio.wait({sending})
            if not sending.cancelled():
                sending.exception()  # retrieved so that asyncio does not log it; it was reported as a lost connection
        if self.call is None:
            return
        if self.comparison is not None:
            await self.comparison
        self.call.drop_request()
        loop, proxy = asyncio.get_running_loop(), self.connection.proxy
        proxy.report(await loop.run_in_executor(proxy.pool, self.call.finish, self.status, problem))
