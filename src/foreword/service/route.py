"""One route, and the router that finds it by the path of a request."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from urllib.parse import unquote

from ..vocabulary import value
from .answers import Answer, Problem
from .call import Call
from .service import Service


@value
class Route:
    """A method and path, what does the work, and the types of what is said and answered.

    `problems` are those of its own, beside the ones that any route may have. A quick one reads a row and no more; one that is
    at hand reads no store at all, and answers when no thread is free. One of templates renders what its caller sends, in threads
    of its own. An open one needs no token.
    """

    method: str
    path: str
    function: Callable[[Service, Call], Answer]
    answer: type | None
    body: type | None = None
    query: type | None = None
    problems: tuple[str, ...] = ()
    is_quick: bool = False
    is_at_hand: bool = False
    is_template: bool = False
    is_open: bool = False

    @property
    def about(self) -> str:
        return (self.function.__doc__ or "").strip()


class Router:
    """Finds the route of a request by the segments of its raw path, so that a conversation's id may hold a slash."""

    def __init__(self, routes: tuple[Route, ...]) -> None:
        self._first = _Segment()
        for route in routes:
            place = self._first
            for segment in route.path.split("/")[1:]:
                place = place.next[_ANY if segment.startswith("{") else segment]
            place.routes[route.method] = route
        self._names = {
            route.path: [segment[1:-1] for segment in route.path.split("/") if segment.startswith("{")]
            for route in routes
        }

    def find(self, method: str, raw_path: bytes) -> tuple[Route, Mapping[str, str]]:
        """The route, and the variable segments of the path by their names."""
        place: _Segment | None = self._first
        given: list[str] = []
        for segment in raw_path.decode("latin-1").split("/")[1:]:
            assert place is not None
            known = place.next.get(segment)
            if known is None:
                given.append(segment)
            place = known or place.next.get(_ANY)
            if place is None:
                break
        if place is None or not place.routes:
            raise Problem("no-route", "there is nothing at this address; /openapi.json describes all that there is")
        route = place.routes.get("GET" if method == "HEAD" else method)
        if route is None:
            allowed = ", ".join(sorted({*place.routes, *(["HEAD"] if "GET" in place.routes else [])}))
            raise Problem("wrong-method", f"this address takes {allowed}, not {method}", {"Allow": allowed})
        if not given:
            return route, {}
        return route, dict(zip(self._names[route.path], map(_decoded, given), strict=True))


class _Segment:
    """A place in the tree of paths: what may follow it, and the routes that end here by their methods."""

    def __init__(self) -> None:
        self.next: defaultdict[str | None, _Segment] = defaultdict(_Segment)
        self.routes: dict[str, Route] = {}


_ANY = None


def _decoded(segment: str) -> str:
    if "%" not in segment:
        return segment
    try:
        return unquote(segment, errors="strict")
    except UnicodeDecodeError:
        raise Problem("wrong-call", "the address holds bytes that are no UTF-8") from None
