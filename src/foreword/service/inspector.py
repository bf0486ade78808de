"""What a side process of the service does: it answers requests as the service would, one at a time.

It has its own connections to the store and its own memory of files.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import StoreError
from .error_problems import problem_of
from .lanes import Job
from .log import cause_of
from .request import Request, parse_body, parsed_size
from .responses import Problem, Response, to_json
from .routes import ROUTES
from .server import service_from_environment
from .tokens import Caller

if TYPE_CHECKING:
    from .side_process import Duty


def answers_requests() -> Duty:
    """Return the duty of a side process: to answer a request as a route does, with the options of this service."""
    routes = {(route.method, route.path): route for route in ROUTES}
    service = service_from_environment()

    def answer(message: tuple[int, str, str, Request, Caller]) -> Response | int | tuple[Any, ...]:
        lane, method, path, request, caller = message
        drop_forgotten()
        try:
            route, seen = routes[method, path], service.view(caller)
            if route.body is not None and isinstance(request.body, bytes):
                parsed_size(request.body)
                request.body = parse_body(request.body, route.body)
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

    def drop_forgotten() -> None:
        try:
            service.conversations.store.drop_forgotten()
        except StoreError:
            pass  # requests report it

    return answer, drop_forgotten
