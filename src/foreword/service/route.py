"""Routes, and the router that finds the one for a request."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from ..vocabulary import value
from .request import Request
from .responses import Problem, Response
from .service import Service
from .tokens import Caller


@value
class Route:
    """A method and path, the function that handles it, and the types of its body, query and response.

    A tuple of types means that the body decides which of them the response has.

    `problems` lists the errors specific to this route. A quick route reads only the edition in use, so it runs in the event loop; a
    route that reads ahead starts with that edition and continues in a thread. An inline route never uses the store, so it always runs
    there. A template route renders a template from the request, in threads reserved for that. An open route does not require a token;
    the token for another one must have the `right`.

    A stream sends its responses as server-sent events.
    """

    method: str
    path: str
    function: Callable[[Service, Request], Response]
    response: Any
    body: type | None = None
    query: type | None = None
    problems: tuple[str, ...] = ()
    is_quick: bool = False
    reads_ahead: bool = False
    is_inline: bool = False
    is_template: bool = False
    is_open: bool = False
    is_stream: bool = False

    @property
    def responses(self) -> tuple[Any, ...]:
        """The types that the response may have."""
        return self.response if isinstance(self.response, tuple) else (self.response,)

    @property
    def is_audited(self) -> bool:
        """Whether the log records who used the route: it changes or deletes what others use."""
        is_new_version = self.method == "POST" and self.path.startswith("/templates/")
        return is_new_version or self.method in ("PUT", "DELETE") or self.path.endswith("/restore")

    @property
    def right(self) -> str:
        """The right that a token needs for this route."""
        if self.method == "DELETE" and "/labels/" not in self.path:
            return "admin"
        is_writing = self.method != "GET"
        if is_writing and self.path.startswith("/conversations/"):
            return "turn"
        if (
            self.method == "PUT"
            or (is_writing and self.path.startswith("/templates/"))
            or self.path.endswith("/restore")
        ):
            return "template"
        return "read"

    @property
    def description(self) -> str:
        return (self.function.__doc__ or "").strip()


def authorize(route: Route, caller: Caller, parameters: Mapping[str, str]) -> None:
    """Raise a Problem if the sender of a request may not use this route, or may not see the conversation or template in its path."""
    if caller.prefix and not route.is_open:
        if route.path == "/metrics":  # the counts of all teams
            raise Problem("unknown-path", "no route has this path; /openapi.json lists all routes")
        for start, name, what in (("/conversations/", "id", "conversation"), ("/templates/", "name", "template")):
            if route.path.startswith(start) and not parameters[name].startswith(caller.prefix):
                raise Problem(
                    "not-found",
                    f"no {what} {parameters[name][:100]!r}; with this token, names must begin with {caller.prefix!r}",
                )
    if not route.is_open and route.right not in caller.rights:
        raise Problem("forbidden", f"this request needs the right {route.right!r}, which the token does not have")


class Router:
    """Finds the route for a request by the segments of its path before decoding, so that an id may contain an escaped slash."""

    def __init__(self, routes: tuple[Route, ...]) -> None:
        self._root = _Node()
        for route in routes:
            node = self._root
            for segment in route.path.split("/")[1:]:
                node = node.next[_ANY if segment.startswith("{") else segment]
            node.routes[route.method] = route
        self._names = {
            route.path: [segment[1:-1] for segment in route.path.split("/") if segment.startswith("{")]
            for route in routes
        }

    def find(self, method: str, raw_path: bytes) -> tuple[Route, Mapping[str, str]]:
        """Return the route, and the path parameters by name."""
        node: _Node | None = self._root
        parameters: list[str] = []
        for segment in raw_path.decode("latin-1").split("/")[1:]:
            assert node is not None
            known = node.next.get(segment)
            if known is None:
                parameters.append(segment)
            node = known or node.next.get(_ANY)
            if node is None:
                break
        if node is None or not node.routes:
            raise Problem("unknown-path", "no route has this path; /openapi.json lists all routes")
        route = node.routes.get("GET" if method == "HEAD" else method)
        if route is None:
            allowed = ", ".join(sorted({*node.routes, *(["HEAD"] if "GET" in node.routes else [])}))
            raise Problem("method-not-allowed", f"this path accepts {allowed}, not {method}", {"Allow": allowed})
        if not parameters:
            return route, {}
        return route, dict(zip(self._names[route.path], map(_decode, parameters), strict=True))


class _Node:
    """A node in the tree of path segments: its children, and the routes that end here, by method."""

    def __init__(self) -> None:
        self.next: defaultdict[str | None, _Node] = defaultdict(_Node)
        self.routes: dict[str, Route] = {}


_ANY = None


def _decode(segment: str) -> str:
    if "%" not in segment:
        return segment
    try:
        return unquote(segment, errors="strict")
    except UnicodeDecodeError:
        raise Problem("invalid-request", "the path is not valid UTF-8") from None
