"""The ASGI application: handles a request from its first byte to its line in the log."""

from __future__ import annotations

import asyncio
import gc
import re
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count
from math import inf
from random import getrandbits
from time import perf_counter
from typing import Any

from ..engine import sandbox
from ..errors import ForewordError, StoreError
from ..store import waits
from ..store.forgetting import INTERVAL
from ..vocabulary import replace
from .compression import MIN_BYTES, accepts_gzip, compressed
from .conversations import forget_tails, is_short
from .error_problems import problem_of
from .fairness import FairStart
from .gauges import sample
from .guard import RequestGuard
from .inspections import Inspections
from .lanes import BODIES, BUILDING, LANES_OF_ROUTES, READING, EventLoop, Job, Lanes, WrongLane
from .log import Log, cause_of
from .memory import IN_FLIGHT, MemoryLimit, Reservation, give_back
from .metrics import Metrics
from .moments import UNREACHABLE, Moments
from .rates import RateLimit, network_of
from .recorder import CALLER, Recorder, address_of
from .request import Request, is_quick, parse_body, parse_query, parsed_size
from .request_body import Disconnected, LargeBodies, read_body
from .responses import Problem, Response, to_json
from .retention import Retention
from .route import Route, Router, authorize
from .routes import ROUTES
from .running import run_while_connected
from .service import Service
from .store_watch import StoreWatch
from .streams import Streams
from .teams import caller_in_team, find_team, must_be_found, take_team
from .tokens import UNLIMITED, Caller
from .tool_cache import forget_tools
from .tracing import describe_answer, parse_trace
from .uvicorn_adapter import ARRIVED, CONNECTION, WHOLE_RESPONSE, Connection

_TIME_LIMIT = 30.0
_SAMPLE_SECONDS = 5.0
# Freed memory is given back every minute. Otherwise it grows over days, because the C library keeps what is in between used parts.
_SAMPLES_UNTIL_TRIM = 12
_TOKEN_SECONDS = 1.0
_EVENT_LOOP = EventLoop()
TEMPLATE_WORKERS = 2
TEMPLATE_QUEUE = 16
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")

Scope = Any
Receive = Any
Send = Any


class Application:
    """Answers requests. A single read from a local store runs in the event loop, everything else in threads."""

    def __init__(
        self,
        service: Service,
        guard: RequestGuard,
        log: Log,
        metrics: Metrics,
        time_limit: float = _TIME_LIMIT,
        template_workers: int = TEMPLATE_WORKERS,
        template_queue: int = TEMPLATE_QUEUE,
        in_flight: int = IN_FLIGHT,
        rates: RateLimit | None = None,
        inspections: Inspections | None = None,
        retention: Retention | None = None,
    ) -> None:
        self._inspections, self._retention = inspections, retention
        self._service, self._guard, self._metrics = service, guard, metrics
        self._time_limit, self._rates = time_limit, rates
        self._store_watch = StoreWatch(log, service.conversations.store.check_writable)
        self._router = Router(ROUTES)
        self._moments = Moments(service)
        self._recorder = Recorder(log, metrics, self._store_watch)
        self._memory = MemoryLimit(in_flight * 1_000_000)
        self._fair_start = FairStart()
        self._lanes = Lanes(template_workers, template_queue, self._fair_start)
        self._large_bodies = LargeBodies()
        self._streams = Streams()
        sandbox.set_workers(template_workers)
        service.metrics = self._metrics_text
        service.conversations.store.listen(forget_tails)
        service.conversations.store.listen(forget_tools)

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "http":
            return self._request(scope, receive, send)
        if scope["type"] == "lifespan":
            return self._lifespan(scope, receive, send)
        closing: Awaitable[None] = send({"type": "websocket.close", "code": 1000})
        return closing

    async def _lifespan(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        # The state is the only way to pass data to connections.
        scope["state"].update(time_limit=self._time_limit, log_refusal=self._recorder.record_refusal)
        tasks = [asyncio.create_task(self._drop_forgotten()), asyncio.create_task(self._check_tokens())]
        if self._retention is not None:
            tasks.append(asyncio.create_task(self._retention.run()))
        await send({"type": "lifespan.startup.complete"})
        gc.freeze()  # what exists now lives as long as the process
        sampling = asyncio.create_task(self._sample_gauges())
        await receive()
        sampling.cancel()
        self._store_watch.close()
        if self._retention is not None:
            self._retention.close()
        for task in tasks:
            task.cancel()
        self._lanes.close()
        if self._inspections is not None:
            self._inspections.close()
        await self._moments.close()
        self._service.conversations.close()
        self._recorder.record_all()
        await send({"type": "lifespan.shutdown.complete"})

    async def _sample_gauges(self) -> None:
        """Periodically record this process's figures, for the process that answers `/metrics`, and give unused memory back."""
        for number in count(1):
            self._set_gauges()
            if self._memory.was_used() or number % _SAMPLES_UNTIL_TRIM == 0:
                await asyncio.to_thread(give_back)
            await asyncio.sleep(_SAMPLE_SECONDS)

    def _set_gauges(self) -> None:
        figures = sample(self._service, self._lanes, self._memory, self._store_watch, self._streams, self._retention)
        self._metrics.set_gauges(figures)

    def _metrics_text(self) -> str:
        self._recorder.record_all()
        self._set_gauges()
        return self._metrics.text()

    async def _drop_forgotten(self) -> None:
        """Regularly drop from memory what any process has removed from the store."""
        while True:
            await asyncio.sleep(INTERVAL)
            try:
                await asyncio.to_thread(self._service.conversations.store.drop_forgotten)
            except StoreError:
                pass  # requests report it

    async def _check_tokens(self) -> None:
        """Regularly notice a change to the file of tokens, even without requests, and end the streams that it forbids."""
        while True:
            await asyncio.sleep(_TOKEN_SECONDS)
            self._guard.refresh()
            self._streams.end_forbidden()

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = perf_counter()
        id, trace = _ids(scope["headers"])
        route, cause, stream = None, "", None
        reservation = Reservation(self._memory)
        try:
            try:
                route, variables = self._router.find(scope["method"], scope["raw_path"])
            finally:
                caller = await self._find_caller(scope, route is not None and route.is_open)
            if caller is not UNLIMITED:
                authorize(route, caller)
            if self._rates is not None and not route.is_open:
                self._rates.check(caller.name or network_of(address_of(scope)))
            service, query = await self._in_team(route, variables, caller, scope)
            request = await self._read_request(route, variables, query, scope, receive, reservation, service)
            response = await self._respond(route, service, request, scope)
            describe_answer(route.path, variables, service.conversations.store)
            if response.events is not None and scope["method"] != "HEAD":
                is_allowed = partial(self._guard.accepts, scope["headers"], caller)
                stream = self._streams.open(response.events, caller.name, is_allowed)
            response = _encode(response, reservation)
            if len(response.body) + len(response.tail) > MIN_BYTES and accepts_gzip(scope["headers"]):
                response = await compressed(response)
        except Problem as problem:
            response = problem.response(id)
        except Disconnected:
            response = Problem("client-disconnected", "the client disconnected before it got a response").response(id)
        except asyncio.CancelledError:  # uvicorn is stopping
            response = Problem("busy", "the service stopped before it could answer; try again later").response(id)
        except Exception as error:
            cause = cause_of(error)
            detail = f"this is a bug in the service; see request {id} in its log"
            response = Problem("internal-error", detail).response(id)
        try:
            if stream is not None:
                await stream.send(send, id, scope.get(CONNECTION))
            else:
                await _send(send, response, id, scope["method"] == "HEAD", scope.get(CONNECTION))
        finally:
            reservation.free()
            self._recorder.add(scope, route, response, perf_counter() - started, id, cause, trace)

    async def _find_caller(self, scope: Scope, is_open: bool) -> Caller:
        """Return who sent a request, once it is that caller's turn. Raises a Problem if it must be refused."""
        name, address = "", address_of(scope)
        try:
            caller = self._guard.check(scope["method"], scope["headers"], is_open, address)
            scope[CALLER] = name = caller.name
            return caller
        finally:
            name = name or address
            if self._fair_start.must_wait(name):
                await self._fair_start.wait(name)

    async def _in_team(self, route: Route, variables: Any, caller: Caller, scope: Scope) -> tuple[Service, bytes]:
        """Return the service as the sender of a request may use it, for the team that it names, and the rest of its query."""
        query = scope.get("query_string", b"")
        if caller is UNLIMITED and not query:
            return self._service, query
        team, query = (None, query) if route.is_open else take_team(query)
        if team is not None:
            caller = caller_in_team(caller, team)
        if must_be_found(route, caller):
            found = await asyncio.to_thread(find_team, self._service, route, variables)
            caller = caller_in_team(caller, found)
        return self._service.view(caller), query

    async def _read_request(
        self,
        route: Route,
        variables: Any,
        query_string: bytes,
        scope: Scope,
        receive: Receive,
        reservation: Reservation,
        service: Service,
    ) -> Request:
        """Read and parse the query and the body of a request."""
        query = parse_query(_decode(query_string), route.query) if route.query else None
        if query is None and query_string and route.method != "GET":
            raise Problem("invalid-query", "this route does not accept a query; send the fields in the body")
        # A request that is refused anyway is not read.
        self._lanes.check(LANES_OF_ROUTES[route.lane], service.caller.name)
        body = await self._body(route.body, scope, receive, reservation, service.caller) if route.body else None
        return Request(variables, scope["headers"], query, body, reservation.size)

    async def _respond(self, route: Route, service: Service, request: Request, scope: Scope) -> Response:
        """Call the function of a route in its lane."""
        lane = _first_lane(self._lanes, route, service, request)
        is_inline, read_at = lane is None, None
        if lane == READING and route.lane in ("known", "turn"):
            moment = await self._moments.find(service, request.text("id"), scope.get(ARRIVED, inf))
            if moment is not UNREACHABLE:
                is_inline, read_at = route.lane == "known" or self._is_short_turn(service, request), moment
        try:
            if is_inline:
                waits.listen(_EVENT_LOOP, read_at, scope.get(ARRIVED, inf))
                try:
                    return route.function(service, request)
                except WrongLane as wrong:
                    lane, read_at = wrong.lane, None
                finally:
                    waits.listen(None)
            assert lane is not None
            job = _job(route, service, request, read_at, self._inspections, self._fair_start.has_several)
            return await run_while_connected(self._lanes, job, lane, scope.get(CONNECTION), self._time_limit)
        except ForewordError as error:
            raise problem_of(error, service, request) from error

    def _is_short_turn(self, service: Service, request: Request) -> bool:
        """Whether the event loop may take a turn. While there are several callers, it leaves turns to threads, which callers use in turn."""
        return not self._fair_start.has_several() and _is_known(service, request) and is_short(service, request)

    async def _body(self, kind: type, scope: Scope, receive: Receive, reservation: Reservation, caller: Caller) -> Any:
        """Read a body, and decode it as this type. While there are other callers, a large one is left to a side process."""
        name = caller.name or address_of(scope)
        fair_start = self._fair_start
        data = await read_body(scope, receive, reservation, self._time_limit, self._large_bodies, name, fair_start)
        if is_quick(data):
            return parse_body(bytes(data), kind)
        # If the store is down, only this process remembers enough to answer.
        if self._inspections is not None and fair_start.has_several() and not self._store_watch.is_down:
            reservation.take(len(data))  # for the copy that is sent to the side process
            return data  # not as `bytes`: another copy would hold the interpreter for milliseconds
        connection: Connection | None = scope.get(CONNECTION)
        return await decode_large(data, kind, self._lanes, reservation, caller.name, connection)


async def decode_large(
    data: bytearray, kind: type, lanes: Lanes, reservation: Reservation, token: str, connection: Connection | None
) -> Any:
    """Decode a large body in a thread, if there is enough memory for it, and if the client still waits then."""

    def parse() -> Any:
        if connection is not None and connection.is_closed:
            raise Disconnected
        return parse_body(bytes(data), kind)

    reservation.take(await lanes.decode(partial(parsed_size, data), token))
    return await lanes.decode(parse, token)


def _first_lane(lanes: Lanes, route: Route, service: Service, request: Request) -> int | None:
    """Return the lane in which a request probably finishes, or None for the event loop."""
    if isinstance(request.body, bytearray):
        return BODIES
    if route.lane == "turn" and not _is_known(service, request) and lanes.is_free(BUILDING):
        return BUILDING  # the conversation probably has no prompt yet
    return LANES_OF_ROUTES[route.lane]


def _is_known(service: Service, request: Request) -> bool:
    """Whether this process has seen the conversation of a request."""
    return service.conversations.store.last_known(request.text("id")) is not None


def _job(
    route: Route,
    service: Service,
    request: Request,
    moment: object,
    inspections: Inspections | None,
    has_several: Callable[[], bool],
) -> Job:
    """Return the job that calls a route's function, here or in a side process."""
    aside = None
    if inspections is not None and route.lane != "stream":
        aside = partial(inspections.answer, route, request, service.caller, has_several)
    convert = partial(problem_of, service=service, request=request)
    # The request is complete now. A hook may change a file and expect that it is read again.
    arrived = inf if service.has_hooks else perf_counter()
    return Job(partial(route.function, service, request), moment, service.caller.name, aside, convert, arrived)


def _ids(headers: list[tuple[bytes, bytes]]) -> tuple[str, str]:
    """Return the client's X-Request-Id if it is safe to log, otherwise a new id, and the id of the client's trace."""
    id = trace = ""
    for name, content in headers:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(content):
            id = content.decode()
        elif name == b"traceparent":
            trace = parse_trace(content)
    return id or f"{getrandbits(64):016x}", trace


def _decode(query: bytes) -> str:
    try:
        return query.decode("ascii")
    except UnicodeDecodeError:
        raise Problem("invalid-query", "the query contains unescaped non-ASCII bytes") from None


def _encode(response: Response, reservation: Reservation) -> Response:
    """Encode the body, and reserve memory for it until the client has read it."""
    if not isinstance(response.body, bytes):
        response = replace(response, body=to_json(response.body))
    reservation.take(len(response.body) + len(response.tail))
    return response


async def _send(send: Send, response: Response, id: str, is_head: bool, connection: Connection | None) -> None:
    """Send a response. Servers other than ours get standard ASGI messages."""
    body = response.body if isinstance(response.body, bytes) else to_json(response.body)
    headers = [
        (b"content-type", response.kind.encode()),
        (b"content-length", b"%d" % (len(body) + len(response.tail))),
        (b"x-request-id", id.encode()),
        (b"x-content-type-options", b"nosniff"),
    ]
    if "Cache-Control" not in response.headers:
        headers.append((b"cache-control", b"no-cache" if "ETag" in response.headers else b"no-store"))
    headers += [(name.lower().encode(), content.encode()) for name, content in response.headers.items()]
    if response.status == 304:
        headers = [header for header in headers if header[0] not in (b"content-length", b"content-type")]
    parts = () if is_head else (body, response.tail) if response.tail else (body,)
    if connection is not None:
        await send({"type": WHOLE_RESPONSE, "status": response.status, "headers": headers, "parts": parts})
        if connection.is_full:
            await connection.drain()
        return
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"".join(parts)})
