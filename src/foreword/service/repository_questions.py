"""The routes that answer questions about a repository and its agents."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from ..programs import questions
from ..programs.align.answer import align_answer
from ..programs.align.plan import plan_alignment
from ..programs.question import Question
from ..store import waits
from ..wire.align_forms import AlignForm
from ..wire.forms import AgentsForm, LintForm
from ..wire.git_forms import LockForm, ReviewForm
from .bodies import AgentBody, Label, Path
from .questions import QuestionBody, bounds_of, check_repository, checked_path, question_of
from .request import Request
from .responses import Problem, Response
from .route import QUESTION, Route
from .service import Service, check_layout_name
from .sessions import check_sessions

# A branch, a tag, a commit id, or a name relative to one, such as HEAD~2.
Commit = Annotated[str, Meta(max_length=255, pattern=r"^(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9_./@{}~^+-]*$")]


Paths = Annotated[list[Path], Meta(max_length=1000)]


class AgentsBody(QuestionBody, forbid_unknown_fields=True, kw_only=True):
    """The body of a turn, the layouts to compare (by default those of the agents in use), and the paths to show.

    If `all` is true, the table has every agent. If `cost` is true, the response has what each file cost in the last 30 days, for services
    that show sessions.
    """

    layouts: Annotated[list[Label], Meta(max_length=100)] = field(default_factory=list)
    paths: Paths = field(default_factory=list)
    all: bool = False
    cost: bool = False


class AlignBody(Struct, forbid_unknown_fields=True, kw_only=True):
    """A folder in a repository, and the agents to align in addition to those in use.

    With `merge`, the agents' own files are merged into `AGENTS.md`; with `links`, files may become links to the sources.
    """

    cwd: Path
    agents: Annotated[list[Label], Meta(max_length=100)] = field(default_factory=list)
    merge: bool = False
    links: bool = False


class LintBody(QuestionBody, forbid_unknown_fields=True, kw_only=True):
    """The body of a turn, and the options of lint."""

    recursive: bool = False
    disable: Annotated[list[Label], Meta(max_length=1000)] = field(default_factory=list)
    min_severity: Literal["error", "warning", "info"] = "warning"


class RepositoryBody(Struct, forbid_unknown_fields=True, kw_only=True):
    """A folder in a repository, and the layouts to examine, by default those of the agents in use."""

    cwd: Path
    layouts: Annotated[list[Label], Meta(max_length=100)] = field(default_factory=list)


class ReviewBody(RepositoryBody, forbid_unknown_fields=True, kw_only=True):
    """A folder in a repository, and two commits. As in a pull request, the change starts at their common ancestor.

    Costs are for `model` and `provider`.
    """

    base: Commit
    head: Commit = "HEAD"
    model: Label = ""
    provider: Label = ""


def agents(service: Service, request: Request) -> Response:
    """Return what each released agent does with each instruction file: loaded, on touch, cut or never, with the reason.

    With `cost`, which needs the right `sessions`, return also what each file cost in the sessions of the last 30 days.
    """
    body: AgentsBody = request.body
    waits.announce("inspect")
    layouts = [check_layout_name(name) for name in body.layouts or filter(None, [body.layout])]
    paths = [checked_path(service, body, path, "paths") for path in body.paths]
    # The service's default layout is not one of the agents to compare.
    question = question_of(
        service, body, layout="", layouts=layouts, paths=paths, all=body.all, **bounds_of(service, body)
    )
    return Response(questions.agents(question.with_fields(**_cost_fields(service, body))))


def align(service: Service, request: Request) -> Response:
    """Return the fewest changes after which every agent reads every instruction once, and what each reads before and after. Nothing is written."""
    body: AlignBody = request.body
    waits.announce("inspect")
    check_repository(service, body.cwd)
    question = question_of(service, AgentBody(cwd=body.cwd), layout="")
    return Response(align_answer(plan_alignment(question, body.agents, merge=body.merge, links=body.links)))


def lint(service: Service, request: Request) -> Response:
    """Return likely mistakes in the prompt's sources."""
    body: LintBody = request.body
    waits.announce("inspect")
    options = {"recursive": body.recursive, "disable": body.disable, "min_severity": body.min_severity}
    return Response(questions.lint(question_of(service, body, **options, **bounds_of(service, body))))


def review(service: Service, request: Request) -> Response:
    """Return what a change between two commits does to each agent's prompt, and what it costs. Both trees are read from git."""
    body: ReviewBody = request.body
    agent = AgentBody(cwd=body.cwd, model=body.model, provider=body.provider)
    return Response(questions.review(_repository_question(service, agent, body, range=f"{body.base}...{body.head}")))


def lock(service: Service, request: Request) -> Response:
    """Return what a repository's prompts consist of, and a sentence for each difference from `foreword.lock`. Nothing is written."""
    body: RepositoryBody = request.body
    return Response(questions.lock(_repository_question(service, AgentBody(cwd=body.cwd), body)))


def _repository_question(service: Service, agent: AgentBody, body: RepositoryBody, **fields: Any) -> Question:
    """Return a question about a whole repository."""
    waits.announce("inspect")
    check_repository(service, body.cwd)
    layouts = [check_layout_name(name) for name in body.layouts]
    return question_of(service, agent, layout="", layouts=layouts, **fields)


def _cost_fields(service: Service, body: AgentsBody) -> dict[str, Any]:
    """Return the fields that ask what files cost, if the body does. Raises a Problem if its sender may not see sessions."""
    if not body.cost:
        return {}
    check_sessions(service)
    if "sessions" not in service.caller.rights:
        raise Problem("forbidden", "cost needs the right 'sessions', which the token does not have")
    return {"cost": True, "utc": True, "served": service.workspace(body.cwd).inside}


ROUTES = (
    Route("POST", "/agents", "inspections", "read", False, agents, AgentsForm, AgentsBody, None, QUESTION),
    Route("POST", "/align", "inspections", "read", False, align, AlignForm, AlignBody, None, QUESTION),
    Route("POST", "/lint", "inspections", "read", False, lint, LintForm, LintBody, None, QUESTION),
    Route("POST", "/review", "inspections", "read", False, review, ReviewForm, ReviewBody, None, QUESTION),
    Route("POST", "/lock", "inspections", "read", False, lock, LockForm, RepositoryBody, None, QUESTION),
)  # fmt: skip
