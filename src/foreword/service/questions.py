"""Routes that ask about a prompt without a conversation. Each returns what the command of the same name prints with `--json`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from ..encoding.forms import ExplainedForm
from ..errors import check_messages
from ..errors import show as quote
from ..programs import questions
from ..programs.caching import DEFAULT_TURNS, MAX_TURNS, compare_caches
from ..programs.question import Question
from ..programs.subjects import build_subject, read_subject
from ..store import waits
from ..wire.forms import (
    CacheForm,
    CacheReusesForm,
    CountedForm,
    DifferenceForm,
    LineForm,
    MessageForm,
    ShowForm,
    TouchedForm,
)
from ..wire.git_forms import AuthorshipForm, AuthorSumsForm
from ..wire.skills import SkillForm
from .bodies import AgentBody, Label, Path, ToolBody, TurnBody
from .request import Request
from .responses import Problem, Response
from .route import QUESTION, Route
from .service import Service, check_layout_name

if TYPE_CHECKING:
    from ..inspection.subject import Subject


ToolNames = Annotated[str, Meta(max_length=8192, pattern=r"^([A-Za-z0-9_.:-]{1,128}(,[A-Za-z0-9_.:-]{1,128})*)?$")]


LAYOUT_LIMIT = 100_000


LayoutText = Annotated[str, Meta(max_length=LAYOUT_LIMIT)]


Reference = Annotated[
    str, Meta(max_length=1024, pattern=r"^(conversation:[^\x00-\x1f\x7f-\x9f]+|sha256:[0-9a-f]{64})$")
]


_EMPTY = {"type": "string", "maxLength": 0}


_ONE_LAYOUT = {"anyOf": [{"type": "object", "properties": {name: _EMPTY}} for name in ("layout", "layout_text")]}


_RULE_WITH_FILE = {
    "anyOf": [
        {"type": "object", "properties": {"for": _EMPTY}},
        {"type": "object", "required": ["path"], "properties": {"path": {"type": "string", "minLength": 1}}},
    ]
}


class QuestionBody(TurnBody, forbid_unknown_fields=True, kw_only=True):
    """The body of a turn. Its messages do not affect the prompt, and a layout that mirrors a program is accepted."""

    schema_rules: ClassVar[dict[str, Any]] = {}

    def check_request(self) -> None:
        """Do nothing, because the answer contains no request."""


class ShowBody(QuestionBody, forbid_unknown_fields=True, kw_only=True):
    """The body of a turn. `layout_text` is a layout in TOML, used instead of `layout` and untrusted, like a workspace's own."""

    schema_rules: ClassVar[dict[str, Any]] = _ONE_LAYOUT
    layout_text: LayoutText = ""


class TokensBody(ShowBody, forbid_unknown_fields=True, kw_only=True):
    """The body of a turn. `prompt` names a stored prompt to count instead: `conversation:ID` or `conversation:ID@EDITION`, or its id (`sha256:…`).

    `cwd`, which has no effect on a stored prompt, defaults to the first served folder.
    """

    cwd: Path = ""
    prompt: Reference | UnsetType = UNSET


class WhyBody(ShowBody, forbid_unknown_fields=True, kw_only=True):
    """The body of a turn, and a path or file name to explain. `for` is a file that the agent touches, if `path` is a rule."""

    schema_rules: ClassVar[dict[str, Any]] = {"allOf": [_ONE_LAYOUT, _RULE_WITH_FILE]}
    path: Path = ""
    touched: Path = field(default="", name="for")


class BlameBody(QuestionBody, forbid_unknown_fields=True, kw_only=True):
    """The body of a turn. If `git` is true, each line has its commit; `by` sums the tokens by author, file or age instead."""

    git: bool = False
    by: Literal["author", "file", "age"] | None = None


class CacheBody(QuestionBody, forbid_unknown_fields=True, kw_only=True):
    """The body of a turn. With `old`, the response compares two prompts: `new`, by default the prompt of this body, replaces `old`.

    Each is the body of a turn, an edition (`conversation:ID` or `conversation:ID@EDITION`) or the id of a prompt (`sha256:…`). The cost of the change
    is calculated over `turns` turns.
    """

    schema_rules: ClassVar[dict[str, Any]] = {"dependentRequired": {"new": ["old"]}}
    old: QuestionBody | Reference | UnsetType = UNSET
    new: QuestionBody | Reference | UnsetType = UNSET
    turns: Annotated[float, Meta(ge=0, le=MAX_TURNS, multiple_of=1)] = DEFAULT_TURNS


class PathsBody(QuestionBody, forbid_unknown_fields=True, kw_only=True):
    """The body of a turn, and the files that the agent touches; their paths are relative to `cwd`."""

    paths: Annotated[list[Path], Meta(min_length=1, max_length=1000)]
    how: Literal["read", "edit", "create"] = "read"


class DiffBody(Struct, forbid_unknown_fields=True, kw_only=True):
    """Two prompts: each is the body of a turn, an edition (`conversation:ID` or `conversation:ID@EDITION`) or the id of a prompt (`sha256:…`)."""

    old: QuestionBody | Reference
    new: QuestionBody | Reference


class SkillsQuery(Struct, forbid_unknown_fields=True):
    """Where the agent works, its layout, and the names of its tools, separated by commas: they decide whether the prompt lists skills."""

    cwd: Path = ""
    layout: Label = ""
    tools: ToolNames = ""


def show(service: Service, request: Request) -> Response:
    """Return the prompt with its passages, candidates, findings, tokens and tools. Nothing is stored."""
    return Response(questions.show(_question_with_layout(service, request.body)))


def why(service: Service, request: Request) -> Response:
    """Return every file that was considered and its fate. If `path` is set, return only candidates at or below it or with that name."""
    body: WhyBody = request.body
    paths = {"path": checked_path(service, body, body.path, "path"), "for": body.touched}
    return Response(questions.why(_question_with_layout(service, body, **paths)))


def blame(service: Service, request: Request) -> Response:
    """Return the prompt's lines, each with its origin.

    With `git`, each line also has its commit, author and time; with `by`, the response contains the tokens of each author, file or age.
    """
    body: BlameBody = request.body
    if not (body.git or body.by):
        return Response(questions.blame(question_of(service, body)))
    waits.announce("inspect")
    check_repository(service, body.cwd)
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


def _subject(service: Service, prompt: QuestionBody | str) -> Subject:
    """Return the prompt that a body describes or a reference names."""
    if isinstance(prompt, str):
        return read_subject(prompt, question_of(service, AgentBody(cwd="")))
    return build_subject(question_of(service, prompt))


def checked_path(service: Service, body: AgentBody, path: str, name: str) -> str:
    """Return a path from a request. Raises a Problem if it leads out of the served folders."""
    if path:
        service.path(os.path.join(service.path(body.cwd), path), name)
    return path


def bounds_of(service: Service, body: AgentBody) -> dict[str, Any]:
    """Return the root for commands that search the whole repository, if the repository is larger than the served folder."""
    root = service.served_root(service.workspace(body.cwd))
    return {"root": root} if root else {}


def check_repository(service: Service, cwd: str) -> None:
    """Raise a Problem if the repository is larger than the served folder, because git and a lock file cover all of it."""
    if service.served_root(service.workspace(cwd)) is not None:
        raise Problem(
            "outside-roots",
            f"the repository that contains cwd {quote(cwd)} is larger than the served folder; start the service with --root to"
            " serve all of it",
        )


ROUTES = (
    Route("POST", "/show", "questions", "read", False, show, ShowForm, ShowBody, None, QUESTION),
    Route("POST", "/why", "questions", "read", False, why, list[ExplainedForm], WhyBody, None, QUESTION),
    Route("POST", "/blame", "questions", "read", False, blame, (list[LineForm], AuthorshipForm, AuthorSumsForm), BlameBody, None, QUESTION),
    Route("POST", "/tokens", "questions", "read", False, tokens, CountedForm, TokensBody, None, QUESTION),
    Route("POST", "/touch", "questions", "read", False, instructions_for_files, TouchedForm, PathsBody, None, QUESTION),
    Route("POST", "/diff", "questions", "read", False, diff, DifferenceForm, DiffBody, None, QUESTION),
    Route("POST", "/cache", "inspections", "read", False, cache, (CacheForm, CacheReusesForm), CacheBody, None, QUESTION),
    Route("GET", "/skills", "questions", "read", False, list_skills, list[SkillForm], None, SkillsQuery, QUESTION),
    Route("POST", "/skills/{name}", "questions", "read", False, read_skill, MessageForm, QuestionBody, None, QUESTION),
)  # fmt: skip
