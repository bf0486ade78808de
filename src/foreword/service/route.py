"""Routes, and the router that finds the one for a request."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Literal
from urllib.parse import unquote

from ..store.rows import ALL_TEAMS
from ..vocabulary import value
from .request import Request
from .responses import Problem, Response
from .service import Service
from .tokens import Caller


@value
class Route:
    """A method and path, how a request for it is handled, and the types of its body, query and response.

    Fields:
        lane: Where a request starts; see `LANES_OF_ROUTES` in `lanes.py`.
        right: The right that a token needs, or `none` if the route does not require a token.
        audited: Whether the log records who used the route: it changes or deletes what others use.
        response: The type of the response, or several, of which the body decides which one it has.
        problems: The errors specific to this route.
    """

    method: str
    path: str
    lane: Literal["inline", "known", "turn", "reading", "questions", "templates", "inspections", "stream"]
    right: Literal["none", "read", "turn", "template", "admin", "sessions"]
    audited: bool
    function: Callable[[Service, Request], Response]
    response: Any
    body: type | None = None
    query: type | None = None
    problems: tuple[str, ...] = ()

    @property
    def responses(self) -> tuple[Any, ...]:
        """The types that the response may have."""
        return self.response if isinstance(self.response, tuple) else (self.response,)

    @property
    def is_open(self) -> bool:
        """Whether the route does not require a token."""
        return self.right == "none"

    @property
    def description(self) -> str:
        return (self.function.__doc__ or "").strip()


def authorize(route: Route, caller: Caller) -> None:
    """Raise a Problem if the sender of a request may not use this route."""
    if route.path == "/metrics" and caller.team not in ("", ALL_TEAMS):  # the counts of all teams
        raise Problem("unknown-path", "no route has this path; /openapi.json lists all routes")
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


# The errors that several routes share.
TEMPLATE = ("outside-roots", "not-found", "invalid-template", "template-not-rendered", "invalid-layout")
CONVERSATION = (
    "outside-roots",
    "not-found",
    "invalid-template",
    "template-not-rendered",
    "invalid-layout",
    "unsupported-tool",
    "hook-failed",
    "store-busy",
    "store-down",
)
STORED = ("not-found", "store-busy", "store-down")
STORE = (
    "store-busy",
    "store-down",
)
FOLDER = ("outside-roots", "not-found")
RESTORED = ("not-found", "invalid-template", "store-busy", "store-down")
SAVED = ("template-changed", "invalid-template", "store-busy", "store-down")
LABEL = ("not-found", "template-changed", "store-busy", "store-down")
DELETED = ("not-found", "in-use", "store-busy", "store-down")
QUESTION = (
    "outside-roots",
    "not-found",
    "invalid-template",
    "template-not-rendered",
    "invalid-layout",
    "store-busy",
    "store-down",
)
