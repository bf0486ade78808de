"""What a request may say. The types that parse it are those that describe it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ..errors import OWN_ROLES, ROLES, WITH_CONTENT

Text = Annotated[str, Meta(max_length=1_000_000)]
ShortText = Annotated[str, Meta(max_length=16_000)]
Name = Annotated[str, Meta(min_length=1, max_length=512)]
ToolName = Annotated[str, Meta(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9_.:-]+$")]
Label = Annotated[str, Meta(max_length=512)]
Path = Annotated[str, Meta(max_length=4096, pattern=r"^[^\x00]*$")]
Syntax = Literal["brackets", "jinja"]
_DEEPEST = 100
# As `checked_messages` checks them. An item of OpenAI's Responses API has a type instead of a role.
_BLOCKS = {"items": {"type": ["string", "object"]}}
_CONTENT = {"type": ["string", "array"], **_BLOCKS}
_ANY_CONTENT = {"type": ["string", "array", "null"], **_BLOCKS}
_MESSAGE: dict[str, Any] = {
    "anyOf": [
        {"required": ["role", "content"], "properties": {"role": {"enum": WITH_CONTENT}, "content": _CONTENT}},
        {"required": ["role", "parts"], "properties": {"role": {"enum": WITH_CONTENT}, "content": _ANY_CONTENT}},
        {
            "required": ["role"],
            "properties": {
                "role": {"enum": [role for role in (*ROLES, *OWN_ROLES) if role not in WITH_CONTENT]},
                "content": _ANY_CONTENT,
            },
        },
        {"required": ["type"], "properties": {"type": {"type": "string"}, "role": {"type": "null"}}},
    ]
}
Message = Annotated[dict[str, Any], Meta(extra_json_schema=_MESSAGE)]
Moment = Annotated[datetime, Meta(tz=True)]


def _check_depth(form: object, what: str) -> None:
    """Whatever is kept is written and read again, here and elsewhere, by programs that go as deep as it is nested."""
    level: list[Any] = [form]
    for _ in range(_DEEPEST):
        level = [
            inner
            for each in level
            for inner in (each.values() if isinstance(each, dict) else each)
            if inner and isinstance(inner, (dict, list))
        ]
        if not level:
            return
    raise ValueError(f"{what} may be nested {_DEEPEST} levels deep, not deeper")


def _check_moment(now: datetime | None) -> None:
    try:
        _ = now and now.astimezone(UTC)
    except OverflowError:
        raise ValueError("now lies outside of the years that can be told in UTC") from None


class ToolBody(Struct, forbid_unknown_fields=True):
    """A tool of the agent."""

    name: ToolName
    description: Text = ""
    snippet: Text = ""
    guidelines: list[Text] = []
    schema: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        _check_depth(self.schema or {}, "a schema")


class AccessBody(Struct, forbid_unknown_fields=True):
    """A path that the agent may read or write, or may not. A path that is allowed may be written unless it says `read`."""

    path: Annotated[str, Meta(min_length=1, max_length=4096, pattern=r"^[^\x00]*$")]
    permission: Literal["read", "write"] | None = None
    recursive: bool = True


class ScopeBody(Struct, forbid_unknown_fields=True):
    """What the agent may reach; all paths lie in the folders that are served."""

    allow: list[AccessBody] = []
    deny: list[AccessBody] = []


class AgentBody(Struct, forbid_unknown_fields=True, kw_only=True):
    """Where the agent works and who it is. Without `tools`, a known conversation keeps its own; `[]` means none."""

    cwd: Path
    model: Label = ""
    provider: Label = ""
    tools: list[ToolBody] | None = None
    layout: Label = ""
    session: Label = ""
    sub_agent: bool = False
    base: Text = ""
    skill: Label = ""
    plan: Text = ""
    scope: ScopeBody | None = None
    language: Label = ""
    docs: list[tuple[Name, Path]] = []
    now: Moment | None = None

    def __post_init__(self) -> None:
        _check_moment(self.now)


class CompactBody(AgentBody, forbid_unknown_fields=True, kw_only=True):
    """An agent, what the user says, and the messages so far."""

    message: Text = ""
    messages: list[Message] = []

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_depth(self.messages, "messages")


class TurnBody(CompactBody, forbid_unknown_fields=True, kw_only=True):
    """An agent, what the user says, and the messages so far.

    A call with a `message` is a new prompt of the user; so is one with `new_prompt`, whose prompt is in `messages`.
    """

    new_prompt: bool = False


class PreviewBody(AgentBody, forbid_unknown_fields=True, kw_only=True):
    """An agent, and the template to look at; without one, the global template. Without a cwd, the first folder served.

    `syntax` is the language of the template; without one, it is that of the layout's own.
    """

    cwd: Path = ""
    template: str | None = None
    syntax: Syntax | None = None


class TemplateBody(Struct, forbid_unknown_fields=True):
    """The global template."""

    template: str


class CheckBody(Struct, forbid_unknown_fields=True):
    """A template to be checked."""

    template: str
    syntax: Syntax = "brackets"
    cwd: Path = ""


class ValuesBody(Struct, forbid_unknown_fields=True):
    """For whom the values of variables are asked."""

    cwd: Path = ""
    model: Label = ""
    conversation_id: Label = ""


# What a query may say

Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class AuthorQuery(Struct, forbid_unknown_fields=True):
    """Who sets the template, and why."""

    author: Annotated[str, Meta(max_length=200)] = ""
    note: Annotated[str, Meta(max_length=2000)] = ""


class SaveQuery(AuthorQuery, forbid_unknown_fields=True):
    """Who sets the template, why, and the language it is written in."""

    syntax: Syntax = "brackets"


class ListQuery(Struct, forbid_unknown_fields=True):
    """Which conversations: those whose id holds the search."""

    search: Annotated[str, Meta(max_length=512)] = ""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100
    offset: Count = 0


class DriftQuery(Struct, forbid_unknown_fields=True):
    """For which agent a fresh prompt is compared; what is not said is as the edition was made.

    `tool` names a tool, as the edition defines it if it has it; `tools`, `scope` and `docs` are JSON.
    """

    cwd: Path | UnsetType = UNSET
    model: Label | UnsetType = UNSET
    provider: Label | UnsetType = UNSET
    layout: Label | UnsetType = UNSET
    tool: list[ToolName] | UnsetType = UNSET
    tools: list[ToolBody] | UnsetType = UNSET
    session: Label | UnsetType = UNSET
    sub_agent: bool | UnsetType = UNSET
    base: ShortText | UnsetType = UNSET
    skill: Label | UnsetType = UNSET
    plan: ShortText | UnsetType = UNSET
    scope: ScopeBody | UnsetType = UNSET
    language: Label | UnsetType = UNSET
    docs: list[tuple[Name, Path]] | UnsetType = UNSET
    now: Moment | UnsetType = UNSET

    def __post_init__(self) -> None:
        _check_moment(self.now or None)


class FilesQuery(Struct, forbid_unknown_fields=True):
    """The beginning of a path, relative to cwd."""

    cwd: Path = ""
    prefix: Path = ""
