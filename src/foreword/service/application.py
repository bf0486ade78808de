"""One request, from its first byte to its line in the log. An ASGI application."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from math import inf
from secrets import token_hex
from time import perf_counter
from typing import Any

from ..errors import ForewordError, HookError, MissingError, StoreError, TemplateError
from .answers import Answer, Problem, line_of, written
from .call import Call, read_body, read_query
from .connection import ARRIVED
from .guard import Guard
from .log import Log, cause_of
from .metrics import Metrics
from .routes import ROUTES, Route, Router
from .service import Service

LARGEST_BODY = 8 * 1024 * 1024
_LARGEST_REFUSED = 8 * LARGEST_BODY
_SECONDS = 30.0
_THREADS = 32
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")

Scope = Any
Receive = Any
Send = Any


class _Gone(Exception):
    """The client has hung up before its request was whole."""


class Application:
    """Answers requests for a service. What only reads a row of a local store is done at once, all else in threads."""

    def __init__(self, service: Service, guard: Guard, log: Log, metrics: Metrics, seconds: float = _SECONDS) -> None:
        self._service, self._guard, self._log, self._metrics = service, guard, log, metrics
        self._seconds = seconds
        self._router = Router(ROUTES)
        self._seen: object = None
        self._looked_at = -inf
        self._threads = ThreadPoolExecutor(_THREADS, "foreword")
        service.metrics = metrics.text

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        scope["state"].update(
            seconds=self._seconds, tell=self._refused
        )  # for connections, which have no other way here
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self._threads.shutdown()
        self._service.talks.close()
        await send({"type": "lifespan.shutdown.complete"})

    def _refused(self, answer: Answer, id: str) -> None:
        """Something came that is no request, and was answered so."""
        self._metrics.request(None, answer.status, 0.0, ())
        self._log.request("-", b"-", answer.status, 0.0, id, answer.problem, "")

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = perf_counter()
        id = _request_id(scope["headers"])
        route, cause = None, ""
        try:
            try:
                route, variables = self._router.find(scope["method"], scope["raw_path"])
            finally:
                self._guard.check(scope["method"], scope["headers"], route is not None and route.is_open)
            answer = await self._answer(route, variables, scope, receive)
        except Problem as problem:
            answer = problem.answer(id)
        except _Gone:
            return
        except Exception as error:
            cause = cause_of(error)
            answer = Problem("failed", f"this is a fault of ours; the log has more under request {id}").answer(id)
        try:
            await _send(send, answer, id, scope["method"] == "HEAD")
        finally:
            seconds = perf_counter() - began
            self._metrics.request(route, answer.status, seconds, answer.counts)
            self._log.request(scope["method"], scope["raw_path"], answer.status, seconds, id, answer.problem, cause)

    async def _answer(self, route: Route, variables: Any, scope: Scope, receive: Receive) -> Answer:
        query = read_query(_query(scope), route.query) if route.query else None
        body = None
        if route.body:
            body = read_body(await self._body(scope["headers"], receive), route.body)
        call = Call(variables, scope["headers"], query, body)
        if route.is_at_hand:
            return _done(route, self._service, call)
        if route.is_quick and self._service.is_local:
            call.moment = self._moment(scope.get(ARRIVED, inf))
            return _done(route, self._service, call)
        work = asyncio.get_running_loop().run_in_executor(self._threads, _done, route, self._service, call)
        try:
            return await asyncio.wait_for(work, self._seconds)
        except TimeoutError:
            raise Problem(
                "too-slow", f"the work was not done in {self._seconds:g} seconds; it may still be done"
            ) from None

    def _moment(self, arrived: float) -> object:
        """The store as it is for a request. All that have arrived when somebody looks share that look."""
        if arrived >= self._looked_at:
            self._looked_at = perf_counter()
            self._seen = self._service.moment()
        return self._seen

    async def _body(self, headers: list[tuple[bytes, bytes]], receive: Receive) -> bytes:
        """The whole body, if it is not too large and arrives in time."""
        named = dict(headers)
        said = named.get(b"content-length", b"")
        largest = int(said) if said.isdigit() and len(said) < 20 else 0
        if largest > (LARGEST_BODY if b"expect" in named else _LARGEST_REFUSED):
            raise _too_large()
        try:
            async with asyncio.timeout(self._seconds):
                return await _whole(receive)
        except TimeoutError:
            raise Problem(
                "slow-request", f"the body was not whole after {self._seconds:g} seconds", {"Connection": "close"}
            ) from None


def _done(route: Route, service: Service, call: Call) -> Answer:
    """Do what a route does; what its caller or the store did wrong is a Problem."""
    try:
        return route.function(service, call)
    except StoreError as error:
        raise Problem("store-down", f"{error}") from error
    except TemplateError as error:
        place = {"line": line_of(error), "message": str(error)}
        raise Problem("wrong-template", str(error), errors=[place]) from error
    except MissingError as error:
        raise Problem("not-found", str(error)) from error
    except HookError as error:
        raise Problem("hook-failed", str(error)) from error
    except ForewordError as error:
        raise Problem("wrong-call", str(error)) from error


def _request_id(headers: list[tuple[bytes, bytes]]) -> str:
    """The id that the caller has given, where it can stand in a log; else one of ours."""
    for name, content in headers:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(content):
            return content.decode()
    return token_hex(8)


def _query(scope: Scope) -> str:
    try:
        text: str = scope["query_string"].decode("ascii")
    except UnicodeDecodeError:
        raise Problem("wrong-query", "the query holds bytes that are not escaped") from None
    return text


async def _whole(receive: Receive) -> bytes:
    """All of a body. One that is too large is read on for a while: many clients look for an answer only when all is sent."""
    chunks: list[bytes] = []
    size, has_more = 0, True
    while has_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Gone
        chunk, has_more = message.get("body", b""), message.get("more_body", False)
        size += len(chunk)
        if size <= LARGEST_BODY:
            chunks.append(chunk)
        elif size > _LARGEST_REFUSED:
            break
        else:
            chunks.clear()
    if size > LARGEST_BODY:
        raise _too_large()
    return b"".join(chunks)


def _too_large() -> Problem:
    return Problem("too-large", f"a body may have at most {LARGEST_BODY:,} bytes", {"Connection": "close"})


async def _send(send: Send, answer: Answer, id: str, is_head: bool) -> None:
    body = answer.body if isinstance(answer.body, bytes) else written(answer.body)
    headers = [
        (b"content-type", answer.kind.encode()),
        (b"content-length", str(len(body) + len(answer.tail)).encode()),
        (b"x-request-id", id.encode()),
        (b"x-content-type-options", b"nosniff"),
    ]
    if "Cache-Control" not in answer.headers:
        headers.append((b"cache-control", b"no-cache" if "ETag" in answer.headers else b"no-store"))
    headers += [(name.lower().encode(), content.encode()) for name, content in answer.headers.items()]
    if answer.status == 304:
        headers = [each for each in headers if each[0] not in (b"content-length", b"content-type")]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    if answer.tail and not is_head:
        await send({"type": "http.response.body", "body": body, "more_body": True})
        body = answer.tail
    await send({"type": "http.response.body", "body": b"" if is_head else body})
