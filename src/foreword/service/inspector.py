"""What a side process of the service does: it answers requests as the service would, one at a time.

It has its own connections to the store and its own memory of files.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..engine import sandbox
from ..errors import StoreError
from .error_problems import problem_of
from .lanes import BODIES, Job
from .log import cause_of
from .request import Request
from .responses import Problem, Response, to_json
from .routes import ROUTES
from .server import service_from_environment
from .tokens import Caller

if TYPE_CHECKING:
    from .side_process import Duty


def answers_requests() -> Duty:
    """Return the duty of a side process: to answer a request as a route does, with the options of this service, and what that took of the sandbox.

    Raises a StoreError if the store's file has disappeared, because the service would not find a new one.
    """
    routes = {(route.method, route.path): route for route in ROUTES}
    service = service_from_environment(may_create_store=False)

    def answer(message: tuple[int, str, str, Request, Caller]) -> tuple[Any, tuple[int, int]]:
        return respond(*message), sandbox.take_counts()

    def respond(
        lane: int, method: str, path: str, request: Request, caller: Caller
    ) -> Response | int | tuple[Any, ...] | None:
        if not drop_forgotten() and lane == BODIES:
            return None  # the service remembers more
        try:
            route, seen = routes[method, path], service.view(caller)
            if route.body is not None and isinstance(request.body, bytearray):
                request.decode_large_body(route.body)
            convert = partial(problem_of, service=seen, request=request)
            response = Job(partial(route.function, seen, request), problem_of=convert).run(lane)
            if isinstance(response, int):
                return response
            body = response.body if isinstance(response.body, bytes) else to_json(response.body)
            return Response(**{**vars(response), "body": body})
        except Problem as problem:
            return ("problem", problem.kind, problem.detail, problem.headers, problem.reason, problem.more)
        except Exception as error:
            return ("failed", cause_of(error))

    def drop_forgotten() -> bool:
        """Drop what any process has removed. Returns False if the store is down, which requests report."""
        try:
            service.conversations.store.drop_forgotten()
        except StoreError:
            return False
        return True

    return answer, drop_forgotten
