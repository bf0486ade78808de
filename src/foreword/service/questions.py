"""Routes that ask about a prompt without a conversation. Each returns what the command of the same name prints with `--json`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from ..errors import check_messages
from ..errors import show as quote
from ..programs import questions
from ..programs.align.answer import align_answer
from ..programs.align.plan import plan_alignment
from ..programs.caching import compare_caches
from ..programs.question import Question
from ..programs.subjects import build_subject, read_subject
from ..store import waits
from .bodies import AgentBody, ToolBody
from .inspection_bodies import (
    AgentsBody,
    AlignBody,
    BlameBody,
    CacheBody,
    DiffBody,
    LintBody,
    PathsBody,
    QuestionBody,
    RepositoryBody,
    ReviewBody,
    ShowBody,
    SkillsQuery,
    TokensBody,
    WhyBody,
)
from .request import Request
from .responses import Problem, Response
from .service import Service, check_layout_name
from .sessions import check_sessions

if TYPE_CHECKING:
    from ..inspection.subject import Subject


def show(service: Service, request: Request) -> Response:
    """Return the prompt with its passages, candidates, findings, tokens and tools. Nothing is stored."""
    return Response(questions.show(_question_with_layout(service, request.body)))


def why(service: Service, request: Request) -> Response:
    """Return every file that was considered and its fate. If `path` is set, return only candidates at or below it or with that name."""
    body: WhyBody = request.body
    paths = {"path": _checked_path(service, body, body.path, "path"), "for": body.touched}
    return Response(questions.why(_question_with_layout(service, body, **paths)))


def blame(service: Service, request: Request) -> Response:
    """Return the prompt's lines, each with its origin.

    With `git`, each line also has its commit, author and time; with `by`, the response contains the tokens of each author, file or age.
    """
    body: BlameBody = request.body
    if not (body.git or body.by):
        return Response(questions.blame(question_of(service, body)))
    waits.announce("inspect")
    _check_repository(service, body.cwd)
    return Response(questions.blame(question_of(service, body, git=True, by=body.by or "")))


def tokens(service: Service, request: Request) -> Response:
    """Return the number of tokens in the prompt, in each section and its sources, and in each tool's definition.

    With `prompt`, count that stored prompt, by default for the model that it was built for.
    """
    body: TokensBody = request.body
    if body.prompt is UNSET:
        return Response(questions.tokens(_question_with_layout(service, body)))
    stored = AgentBody(cwd="", model=body.model, provider=body.provider)
    return Response(questions.tokens(question_of(service, stored, prompt=body.prompt)))


def instructions_for_files(service: Service, request: Request) -> Response:
    """Return the instructions that an agent in `cwd` receives when it touches `paths` in a new conversation."""
    body: PathsBody = request.body
    return Response(questions.touch(question_of(service, body, paths=body.paths, how=body.how)))


def diff(service: Service, request: Request) -> Response:
    """Return how two prompts differ, and which sources caused each change."""
    body: DiffBody = request.body
    waits.announce("build")
    bodies = [prompt for prompt in (body.new, body.old) if not isinstance(prompt, str)]
    counted_for = bodies[0] if bodies else AgentBody(cwd="")
    old, new = (_subject(service, prompt) for prompt in (body.old, body.new))
    comparison = questions.compare_subjects(old, new, counted_for.model, counted_for.provider, service.prices())
    return Response(questions.diff_form(comparison))


def cache(service: Service, request: Request) -> Response:
    """Return how well a prompt can be cached: by each provider, in its order of sections, and when it is built again.

    With `old`, return how much of that prompt's cache is kept when the new prompt replaces it.
    """
    body: CacheBody = request.body
    waits.announce("inspect")
    question = question_of(service, body, turns=int(body.turns))
    if body.old is UNSET:
        if body.new is not UNSET:
            raise Problem("invalid-request", "new needs old, the prompt that it replaces")
        return Response(questions.cache(question))
    old, new = _subject(service, body.old), _subject(service, body if body.new is UNSET else body.new)
    return Response(compare_caches(question, old, new).form)


def agents(service: Service, request: Request) -> Response:
    """Return what each released agent does with each instruction file: loaded, on touch, cut or never, with the reason.

    With `cost`, which needs the right `sessions`, return also what each file cost in the sessions of the last 30 days.
    """
    body: AgentsBody = request.body
    waits.announce("inspect")
    layouts = [check_layout_name(name) for name in body.layouts or filter(None, [body.layout])]
    paths = [_checked_path(service, body, path, "paths") for path in body.paths]
    # The service's default layout is not one of the agents to compare.
    question = question_of(
        service, body, layout="", layouts=layouts, paths=paths, all=body.all, **_bounds(service, body)
    )
    return Response(questions.agents(question.with_fields(**_cost_fields(service, body))))


def align(service: Service, request: Request) -> Response:
    """Return the fewest changes after which every agent reads every instruction once, and what each reads before and after. Nothing is written."""
    body: AlignBody = request.body
    waits.announce("inspect")
    _check_repository(service, body.cwd)
    question = question_of(service, AgentBody(cwd=body.cwd), layout="")
    return Response(align_answer(plan_alignment(question, body.agents, merge=body.merge, links=body.links)))


def lint(service: Service, request: Request) -> Response:
    """Return likely mistakes in the prompt's sources."""
    body: LintBody = request.body
    waits.announce("inspect")
    options = {"recursive": body.recursive, "disable": body.disable, "min_severity": body.min_severity}
    return Response(questions.lint(question_of(service, body, **options, **_bounds(service, body))))


def review(service: Service, request: Request) -> Response:
    """Return what a change between two commits does to each agent's prompt, and what it costs. Both trees are read from git."""
    body: ReviewBody = request.body
    agent = AgentBody(cwd=body.cwd, model=body.model, provider=body.provider)
    return Response(questions.review(_repository_question(service, agent, body, range=f"{body.base}...{body.head}")))


def lock(service: Service, request: Request) -> Response:
    """Return what a repository's prompts consist of, and a sentence for each difference from `foreword.lock`. Nothing is written."""
    body: RepositoryBody = request.body
    return Response(questions.lock(_repository_question(service, AgentBody(cwd=body.cwd), body)))


def list_skills(service: Service, request: Request) -> Response:
    """Return the skills that an agent in `cwd` finds, and whether the prompt lists each."""
    query: SkillsQuery = request.query
    tools = [ToolBody(name) for name in query.tools.split(",")] if query.tools else None
    return Response(
        questions.skills(question_of(service, QuestionBody(cwd=query.cwd, layout=query.layout, tools=tools)))
    )


def read_skill(service: Service, request: Request) -> Response:
    """Return the message that activating a skill sends. Nothing is stored."""
    return Response(questions.skill(question_of(service, request.body, name=request.text("name"))))


def question_of(service: Service, body: AgentBody, **fields: Any) -> Question:
    """Return the question that a body asks, limited to the served folders."""
    waits.announce("build")
    check_messages(getattr(body, "messages", ()))
    workspace = service.workspace(body.cwd)
    common = {
        "cwd": workspace.cwd,
        "inside": workspace.inside,
        "home": service.home,
        "layout": check_layout_name(body.layout) or service.default_layout,
        **service.layout_options(body),
        "now": body.now,
        **service.agents.fields(body, workspace),
    }
    template = service.stored_template(body.template_name)
    return Question({**common, **fields}, store=service.store, template=template)


def _question_with_layout(service: Service, body: ShowBody, **fields: Any) -> Question:
    """Return a question about a layout's name or its text."""
    if body.layout and body.layout_text:
        raise Problem("invalid-request", "pass either layout or layout_text, not both")
    return question_of(service, body, layout_text=body.layout_text, **fields)


def _repository_question(service: Service, agent: AgentBody, body: RepositoryBody, **fields: Any) -> Question:
    """Return a question about a whole repository."""
    waits.announce("inspect")
    _check_repository(service, body.cwd)
    layouts = [check_layout_name(name) for name in body.layouts]
    return question_of(service, agent, layout="", layouts=layouts, **fields)


def _check_repository(service: Service, cwd: str) -> None:
    """Raise a Problem if the repository is larger than the served folder, because git and a lock file cover all of it."""
    if service.served_root(service.workspace(cwd)) is not None:
        raise Problem(
            "outside-roots",
            f"the repository that contains cwd {quote(cwd)} is larger than the served folder; start the service with --root to"
            " serve all of it",
        )


def _subject(service: Service, prompt: QuestionBody | str) -> Subject:
    """Return the prompt that a body describes or a reference names."""
    if isinstance(prompt, str):
        return read_subject(prompt, question_of(service, AgentBody(cwd="")))
    return build_subject(question_of(service, prompt))


def _checked_path(service: Service, body: AgentBody, path: str, name: str) -> str:
    """Return a path from a request. Raises a Problem if it leads out of the served folders."""
    if path:
        service.path(os.path.join(service.path(body.cwd), path), name)
    return path


def _cost_fields(service: Service, body: AgentsBody) -> dict[str, Any]:
    """Return the fields that ask what files cost, if the body does. Raises a Problem if its sender may not see sessions."""
    if not body.cost:
        return {}
    check_sessions(service)
    if "sessions" not in service.caller.rights:
        raise Problem("forbidden", "cost needs the right 'sessions', which the token does not have")
    return {"cost": True, "utc": True, "served": service.workspace(body.cwd).inside}


def _bounds(service: Service, body: AgentBody) -> dict[str, Any]:
    """Return the root for commands that search the whole repository, if the repository is larger than the served folder."""
    root = service.served_root(service.workspace(body.cwd))
    return {"root": root} if root else {}
