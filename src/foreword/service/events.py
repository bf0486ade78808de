"""The stream of changes to a prompt, as `foreword watch` reports them."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event
from time import monotonic
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from ..conversation.tools import serialize_tools
from ..errors import StoreError
from ..programs.measured_change import MeasuredChange
from ..programs.question import Question
from ..programs.watching import Change, WatchedPrompt, changes
from ..store.contents import DEFAULT_TEMPLATE
from ..vocabulary import Prompt
from ..wire.forms import WatchForm
from .bodies import Label, Path, TemplateName
from .questions import QuestionBody, question_of
from .request import Request
from .responses import Response
from .route import QUESTION, Route
from .service import Service
from .streams import HEARTBEAT_SECONDS

_TEMPLATE_TICK = 1000
"""How often to look for a new version of the template, in milliseconds."""


class EventsQuery(Struct, forbid_unknown_fields=True):
    """The folder and the agent whose prompt to watch. With `template` (`default`, or the name of a stored template, as in
    `template_name`), a new version of that template counts as a change.

    The stream ends after `limit` events, or not at all.
    """

    cwd: Path = ""
    layout: Label = ""
    model: Label = ""
    provider: Label = ""
    template: TemplateName | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=1, le=1_000_000)] = 1_000_000


def watch(service: Service, request: Request) -> Response:
    """Stream the prompt's sections, tokens and findings, and again whenever a saved file changes them, as server-sent events."""
    query: EventsQuery = request.query
    name = "" if query.template is UNSET or query.template == DEFAULT_TEMPLATE else query.template
    body = QuestionBody(
        cwd=query.cwd, layout=query.layout, model=query.model, provider=query.provider, template_name=name
    )
    question = question_of(service, body)
    watched = _Watch(question, query.template is not UNSET, query.limit)
    watched.prompt()  # an error must be a response, not an event
    return Response(b"", kind="text/event-stream", events=watched.events)


class _Watch:
    """A prompt to watch, which depends on files and on a stored template."""

    def __init__(self, question: Question, follows_template: bool, limit: int) -> None:
        self._question, self._follows_template, self._limit = question, follows_template, limit
        self._source = WatchedPrompt(question.assembler, question.agent)
        self._tools = serialize_tools(question.agent.tools or ())

    def events(self, stop: Event) -> Iterator[Any]:
        """Yield the changes, and None when nothing was sent for a while."""
        tick = _TEMPLATE_TICK if self._follows_template else HEARTBEAT_SECONDS * 1000
        last: Prompt | None = None
        sent, remaining = monotonic(), self._limit
        for change in changes(self, stop, tick):
            if change is None and self._follows_template:
                change = self._template_change(last)
            if change is not None:
                last, sent, remaining = change.prompt, monotonic(), remaining - 1
                yield self._measured(change)
                if not remaining:
                    return
            elif monotonic() - sent >= HEARTBEAT_SECONDS:
                sent = monotonic()
                yield None

    def _template_change(self, last: Prompt | None) -> Change | None:
        """Return the change that a new version of the template caused, or None."""
        try:
            prompt = self.prompt()
        except StoreError:
            return None  # look again later
        return Change(prompt, last, ["template"]) if prompt is not last else None

    def _measured(self, change: Change) -> Any:
        tools = (self._tools, self._tools)
        return MeasuredChange(change, self._question.model, self._question.provider, tools).form()

    def prompt(self) -> Prompt:
        """Return the current prompt, with the current version of the stored template."""
        self._source.agent = self._question.agent_with_template()
        return self._source.prompt()

    def paths(self) -> list[str]:
        return self._source.paths()

    def lock(self) -> str:
        return self._source.lock()


ROUTES = (
    Route("GET", "/events", "stream", "read", False, watch, WatchForm, None, EventsQuery, QUESTION),
)  # fmt: skip
