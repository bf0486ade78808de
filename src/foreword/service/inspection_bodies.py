"""The types of the requests that ask about a prompt without a conversation: the body of a turn, and the fields of one command."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from ..programs.caching import DEFAULT_TURNS, MAX_TURNS
from .bodies import Label, Path, TemplateName, TurnBody

LAYOUT_LIMIT = 100_000
ToolNames = Annotated[str, Meta(max_length=8192, pattern=r"^([A-Za-z0-9_.:-]{1,128}(,[A-Za-z0-9_.:-]{1,128})*)?$")]
LayoutText = Annotated[str, Meta(max_length=LAYOUT_LIMIT)]
Reference = Annotated[
    str, Meta(max_length=1024, pattern=r"^(conversation:[^\x00-\x1f\x7f-\x9f]+|sha256:[0-9a-f]{64})$")
]
# A branch, a tag, a commit id, or a name relative to one, such as HEAD~2.
Commit = Annotated[str, Meta(max_length=255, pattern=r"^(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9_./@{}~^+-]*$")]
_EMPTY = {"type": "string", "maxLength": 0}
_ONE_LAYOUT = {"anyOf": [{"type": "object", "properties": {name: _EMPTY}} for name in ("layout", "layout_text")]}
_RULE_WITH_FILE = {
    "anyOf": [
        {"type": "object", "properties": {"for": _EMPTY}},
        {"type": "object", "required": ["path"], "properties": {"path": {"type": "string", "minLength": 1}}},
    ]
}
Excerpt = Annotated[str, Meta(max_length=4096)]
Paths = Annotated[list[Path], Meta(max_length=1000)]


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
    min_severity: Literal["error", "warning", "info"] = "info"


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


class DiffBody(Struct, forbid_unknown_fields=True, kw_only=True):
    """Two prompts: each is the body of a turn, an edition (`conversation:ID` or `conversation:ID@EDITION`) or the id of a prompt (`sha256:…`)."""

    old: QuestionBody | Reference
    new: QuestionBody | Reference


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


class SkillsQuery(Struct, forbid_unknown_fields=True):
    """Where the agent works, its layout, and the names of its tools, separated by commas: they decide whether the prompt lists skills."""

    cwd: Path = ""
    layout: Label = ""
    tools: ToolNames = ""


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


class LayoutsQuery(Struct, forbid_unknown_fields=True):
    """The folder of the workspace whose own layouts to list."""

    cwd: Path = ""


class FilesQuery(Struct, forbid_unknown_fields=True):
    """The start of a path, relative to `cwd`."""

    cwd: Path = ""
    prefix: Path = ""
