"""Routes about the sessions of released agents, for services that were started for that. They show only the served folders."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from ..programs.question import Question
from ..programs.sessions import sessions_answer
from ..store import waits
from ..wire.session_forms import InForceForm, SessionDetailForm, SessionRowsForm, SessionsForm
from .bodies import Label, Path
from .request import Request
from .responses import Problem, Response
from .route import FOLDER, Route
from .service import Service

Excerpt = Annotated[str, Meta(max_length=4096)]


class SessionsQuery(Struct, forbid_unknown_fields=True):
    """A folder in the repository, and which requests in its sessions count. `by` says what to sum up. `agents` are separated by commas."""

    cwd: Path = ""
    since: Label = ""
    until: Label = ""
    agents: Label = ""
    model: Label = ""
    by: Literal["file", "tool", "server", "skill", "section", "cause", "day", "model", "agent"] | None = None


class InForceQuery(Struct, forbid_unknown_fields=True):
    """An instruction, to learn when it was in force: a file, perhaps with a line (`AGENTS.md:12`), or a text; `at` is a time."""

    cwd: Path = ""
    in_force: Path = ""
    in_force_text: Excerpt = ""
    at: Label = ""


def list_sessions(service: Service, request: Request) -> Response:
    """Return the sessions of the agents that worked in the repository of `cwd`, or with `by` what each file, tool, day and so on cost."""
    query: SessionsQuery = request.query
    agents = [name for name in query.agents.split(",") if name]
    fields = {"since": query.since, "until": query.until, "model": query.model, "by": query.by or ""}
    return _answer(service, query.cwd, agents=agents, **fields)


def read_session(service: Service, request: Request) -> Response:
    """Return one session request by request or, with `in_force` or `in_force_text`, when that instruction was in its requests."""
    query: InForceQuery = request.query
    fields = {"in_force": query.in_force, "in_force_text": query.in_force_text, "at": query.at}
    return _answer(service, query.cwd, id=request.text("id"), **fields)


def check_sessions(service: Service) -> None:
    """Raise a Problem if the service was not started to show sessions."""
    if not service.has_sessions:
        raise Problem("not-found", "this service was not started with --sessions")


def _answer(service: Service, cwd: str, **fields: Any) -> Response:
    check_sessions(service)
    waits.announce("inspect")
    workspace = service.workspace(cwd)
    common = {
        "cwd": workspace.cwd,
        "inside": workspace.inside,
        "home": service.home,
        "settings": service.settings,
        "utc": True,
        "served": workspace.inside,
    }
    return Response(sessions_answer(Question({**common, **fields})))


ROUTES = (
    Route("GET", "/sessions", "inspections", "sessions", False, list_sessions, (SessionsForm, SessionRowsForm), None, SessionsQuery, FOLDER),
    Route("GET", "/sessions/{id}", "inspections", "sessions", False, read_session, (SessionDetailForm, InForceForm), None, InForceQuery, FOLDER),
)  # fmt: skip
