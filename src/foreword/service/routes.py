"""The table of routes. The router, the description of the service and its documentation are made from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from urllib.parse import unquote

from ..forms import DriftForm, EditionForm, MessageForm, PromptForm, TemplateForm, TurnForm, VariablesForm
from ..vocabulary import value
from . import about, conversations, forms, templates
from .answers import Answer, Problem
from .bodies import (
    AgentBody,
    AuthorQuery,
    CheckBody,
    ConstructQuery,
    DriftQuery,
    FilesQuery,
    ListQuery,
    PreviewBody,
    TemplateBody,
    TurnBody,
    ValuesBody,
)
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


_TEMPLATE = ("outside-roots", "not-found", "wrong-template")
_TALK = ("outside-roots", "not-found", "wrong-template", "store-down")
ROUTES = (
    Route("GET", "/conversations/{id}", conversations.read_conversation, EditionForm, None, None, ("not-found", "store-down"), True),
    Route("POST", "/conversations/{id}/turn", conversations.turn, TurnForm, TurnBody, None, _TALK),
    Route("POST", "/conversations/{id}/construct", conversations.construct, TurnForm, AgentBody, ConstructQuery, _TALK),
    Route("POST", "/conversations/{id}/compact", conversations.compact, TurnForm, TurnBody, None, _TALK),
    Route("POST", "/conversations/{id}/reload", conversations.reload, TurnForm, AgentBody, None, _TALK),
    Route("POST", "/conversations/{id}/skills/{name}", conversations.use_skill, MessageForm, AgentBody, None, _TALK),
    Route("GET", "/conversations/{id}/editions", conversations.list_editions, forms.EditionsForm, None, None, ("not-found", "store-down")),
    Route("GET", "/conversations/{id}/editions/{number}", conversations.read_edition, EditionForm, None, None, ("not-found", "store-down")),
    Route("GET", "/conversations/{id}/drift", conversations.read_drift, DriftForm, None, DriftQuery, _TALK),
    Route("GET", "/conversations", conversations.list_conversations, forms.ConversationsForm, None, ListQuery, ("store-down",)),
    Route("GET", "/prompts/{id}", conversations.read_prompt, forms.KeptPromptForm, None, None, ("not-found", "store-down")),
    Route("GET", "/system-prompt", templates.read_template, TemplateForm),
    Route("PUT", "/system-prompt", templates.set_template, TemplateForm, TemplateBody, AuthorQuery, ("template-changed", "store-down")),
    Route("GET", "/system-prompt/variables", templates.list_variables, VariablesForm),
    Route("GET", "/system-prompt/versions", templates.list_versions, forms.VersionsForm, None, None, ("store-down",)),
    Route("POST", "/system-prompt/versions/{version}/restore", templates.restore_template, TemplateForm, None, AuthorQuery, ("not-found", "store-down")),
    Route("GET", "/system-prompt/usage", templates.count_uses, forms.UsesForm, None, None, ("store-down",)),
    Route("POST", "/system-prompt/preview", templates.preview, PromptForm, PreviewBody, None, _TEMPLATE, is_template=True),
    Route("POST", "/system-prompt/check", templates.check, forms.FindingsForm, CheckBody, None, ("outside-roots", "not-found"), is_template=True),
    Route("POST", "/system-prompt/values", templates.list_values, forms.ValuesForm, ValuesBody, None, ("outside-roots", "not-found"), is_template=True),
    Route("GET", "/files", templates.list_files, forms.EntriesForm, None, FilesQuery, ("outside-roots", "not-found")),
    Route("GET", "/layouts", templates.list_layouts, forms.LayoutsForm),
    Route("GET", "/roots", templates.list_roots, forms.RootsForm, is_at_hand=True),
    Route("GET", "/healthz", about.healthz, forms.StatusForm, is_at_hand=True, is_open=True),
    Route("GET", "/readyz", about.readyz, forms.StatusForm, None, None, ("store-down",), is_open=True),
    Route("GET", "/metrics", about.metrics, str, is_at_hand=True),
    Route("GET", "/openapi.json", about.openapi, dict),
    Route("GET", "/", about.page, None, is_open=True),
    Route("GET", "/static/{name}", about.static, None, is_open=True),
)  # fmt: skip


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
