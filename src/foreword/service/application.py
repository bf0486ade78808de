"""One request, from its first byte to its line in the log. An ASGI application."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from math import inf
from secrets import token_hex
from time import perf_counter
from typing import Any

from ..engine import sandbox
from ..errors import ForewordError, HookError, MissingError, StoreError, TemplateError
from ..text.lines import printable
from ..vocabulary import replace
from .answers import Answer, Problem, line_of, loggable, reason_of, written
from .budget import IN_FLIGHT, Budget, Hold
from .call import Call, read_body, read_query
from .connection import ARRIVED, CONNECTION, Connection
from .guard import Guard
from .lanes import READING, TEMPLATES, Cancelled, Job, Lanes
from .log import Log, cause_of
from .metrics import Metrics
from .route import Route, Router
from .routes import ROUTES
from .service import UNREACHABLE, Service

LARGEST_BODY = 8 * 1024 * 1024
_LARGEST_REFUSED = 8 * LARGEST_BODY
_SECONDS = 30.0
TEMPLATE_WORKERS = 2
TEMPLATE_QUEUE = 16
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")

Scope = Any
Receive = Any
Send = Any


class _Gone(Exception):
    """The client has hung up before its request was whole."""


class Application:
    """Answers requests for a service. What only reads a row of a local store is done at once, all else in threads."""

    def __init__(
        self,
        service: Service,
        guard: Guard,
        log: Log,
        metrics: Metrics,
        seconds: float = _SECONDS,
        template_workers: int = TEMPLATE_WORKERS,
        template_queue: int = TEMPLATE_QUEUE,
        in_flight: int = IN_FLIGHT,
    ) -> None:
        self._service, self._guard, self._log, self._metrics = service, guard, log, metrics
        self._seconds = seconds
        self._router = Router(ROUTES)
        self._seen: object = None
        self._looked_at = -inf
        self._budget = Budget(in_flight * 1_000_000)
        self._lanes = Lanes(template_workers, template_queue)
        sandbox.set_workers(template_workers)
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
        self._lanes.close()
        self._service.talks.close()
        await send({"type": "lifespan.shutdown.complete"})

    def _refused(self, answer: Answer, id: str) -> None:
        """Something came that is no request, and was answered so."""
        self._metrics.request(None, answer.status, 0.0, ())
        self._log.request("-", b"-", answer.status, 0.0, id, answer.problem, answer.reason)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = perf_counter()
        id = _request_id(scope["headers"])
        route, cause = None, ""
        hold = Hold(self._budget)
        try:
            try:
                route, variables = self._router.find(scope["method"], scope["raw_path"])
            finally:
                self._guard.check(scope["method"], scope["headers"], route is not None and route.is_open)
            answer = await self._answer(route, variables, scope, receive, hold)
            answer = _encoded(answer, hold)
        except Problem as problem:
            answer = problem.answer(id)
        except _Gone:
            answer = Problem("client-gone", "the client disconnected before it was answered").answer(id)
        except Exception as error:
            cause = cause_of(error)
            answer = Problem("failed", f"this is a fault of ours; the log has more under request {id}").answer(id)
        try:
            await _send(send, answer, id, scope["method"] == "HEAD", scope.get(CONNECTION))
        finally:
            hold.free()
            seconds = perf_counter() - began
            self._metrics.request(route, answer.status, seconds, answer.counts)
            self._log.request(
                scope["method"], scope["raw_path"], answer.status, seconds, id, answer.problem, answer.reason, cause
            )

    async def _answer(self, route: Route, variables: Any, scope: Scope, receive: Receive, hold: Hold) -> Answer:
        query = read_query(_query(scope), route.query) if route.query else None
        body = None
        if route.body:
            body = read_body(await self._body(scope["headers"], receive, hold), route.body)
        call = Call(variables, scope["headers"], query, body)
        if route.is_at_hand:
            return _done(route, self._service, call)
        if route.is_quick and self._service.is_local:
            moment = self._moment(scope.get(ARRIVED, inf))
            if moment is not UNREACHABLE:
                call.moment = moment
                return _done(route, self._service, call)
        return await self._work(route, call, scope.get(CONNECTION))

    async def _work(self, route: Route, call: Call, connection: Connection | None) -> Answer:
        """Do it in threads, within the time limit and only for as long as the client is there."""
        job = Job(partial(_done, route, self._service, call))
        try:
            async with asyncio.timeout(self._seconds):
                return await self._through_lanes(job, TEMPLATES if route.is_template else READING, connection)
        except TimeoutError:
            raise Problem(
                "too-slow", f"the work was not done in {self._seconds:g} seconds; it may still be done"
            ) from None
        finally:
            job.cancel()
            if connection is not None:
                connection.on_gone = None

    async def _through_lanes(self, job: Job, lane: int, connection: Connection | None) -> Answer:
        while True:
            if connection is not None and connection.is_gone:
                raise _Gone
            work = asyncio.wrap_future(self._lanes.submit(job, lane))
            if connection is not None:
                connection.on_gone = partial(_leave, job, work)
            try:
                done: Answer | int = await work
            except (asyncio.CancelledError, Cancelled):
                if connection is not None and connection.is_gone:
                    raise _Gone from None
                raise
            if not isinstance(done, int):
                return done
            lane = done

    def _moment(self, arrived: float) -> object:
        """The store as it is for a request. All that have arrived when somebody looks share that look."""
        if arrived >= self._looked_at:
            self._looked_at = perf_counter()
            self._seen = self._service.moment()
        return self._seen

    async def _body(self, headers: list[tuple[bytes, bytes]], receive: Receive, hold: Hold) -> bytes:
        """The whole body, if it is not too large and arrives in time."""
        named = dict(headers)
        said = named.get(b"content-length", b"")
        largest = int(said) if said.isdigit() and len(said) < 20 else 0
        if largest > (LARGEST_BODY if b"expect" in named else _LARGEST_REFUSED):
            raise _too_large()
        try:
            async with asyncio.timeout(self._seconds):
                return await _whole(receive, hold)
        except TimeoutError:
            raise Problem(
                "slow-request", f"the body was not whole after {self._seconds:g} seconds", {"Connection": "close"}
            ) from None


def _leave(job: Job, work: asyncio.Future[Any]) -> None:
    """The client has hung up: end its work, or take it out of the queue."""
    job.cancel()
    work.cancel()


def _done(route: Route, service: Service, call: Call) -> Answer:
    """Do what a route does; what its caller or the store did wrong is a Problem."""
    try:
        return route.function(service, call)
    except StoreError as error:
        raise Problem("store-down", f"{error}") from error
    except TemplateError as error:
        place = {"line": line_of(error), "message": str(error)}
        raise Problem("wrong-template", str(error), reason=reason_of(error), errors=[place]) from error
    except MissingError as error:
        raise Problem("not-found", str(error), reason=_without_cwd(error, service, call)) from error
    except HookError as error:
        raise Problem("hook-failed", str(error), reason=_without_cwd(error, service, call)) from error
    except ForewordError as error:
        raise Problem("wrong-call", str(error), reason=_without_cwd(error, service, call)) from error


def _without_cwd(error: ForewordError, service: Service, call: Call) -> str:
    """What the log may say of an error. It may name the working directory of the request, which may hold blanks."""
    cwd = getattr(call.body or call.query, "cwd", "")
    path = printable(service.path(cwd)) if isinstance(cwd, str) else ""
    return loggable(str(error).replace(path, "…") if path else str(error))


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


async def _whole(receive: Receive, hold: Hold) -> bytes:
    """All of a body. One that is refused is read on for a while: many clients look for an answer only when all is sent."""
    chunks: list[bytes] = []
    size, has_more = 0, True
    refused: Problem | None = None
    while has_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Gone
        chunk, has_more = message.get("body", b""), message.get("more_body", False)
        size += len(chunk)
        if size <= LARGEST_BODY and refused is None:
            try:
                hold.take(len(chunk))
                chunks.append(chunk)
            except Problem as problem:
                refused = problem
                chunks.clear()
                hold.free()
        elif size > _LARGEST_REFUSED:
            break
        else:
            chunks.clear()
            hold.free()
    if size > LARGEST_BODY:
        raise _too_large()
    if refused is not None:
        raise refused
    return b"".join(chunks)


def _too_large() -> Problem:
    return Problem("too-large", f"a body may have at most {LARGEST_BODY:,} bytes", {"Connection": "close"})


def _encoded(answer: Answer, hold: Hold) -> Answer:
    """The answer as bytes, which the request holds until the client has read them."""
    if not isinstance(answer.body, bytes):
        answer = replace(answer, body=written(answer.body))
    hold.take(len(answer.body) + len(answer.tail))
    return answer


async def _send(send: Send, answer: Answer, id: str, is_head: bool, connection: Connection | None) -> None:
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
    if connection is not None and connection.flow.write_paused:
        await connection.flow.drain()
