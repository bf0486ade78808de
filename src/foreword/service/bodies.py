"""The types of request bodies and queries, which are used to parse requests and to describe them in the OpenAPI document."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ..errors import APIS
from ..template.languages import LANGUAGES
from ..vocabulary.tools import FIELD_OF_KEY
from .message_schema import MESSAGE_SCHEMA

Text = Annotated[str, Meta(max_length=1_000_000)]
ShortText = Annotated[str, Meta(max_length=16_000)]
Name = Annotated[str, Meta(min_length=1, max_length=512)]
ToolName = Annotated[str, Meta(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9_.:-]+$")]
Label = Annotated[str, Meta(max_length=512)]
Plain = Annotated[str, Meta(max_length=512, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
ServerName = Annotated[str, Meta(min_length=1, max_length=512, pattern=r"^[!-~][ -~]*$")]
ToolType = Annotated[str, Meta(max_length=128, pattern=r"^[A-Za-z0-9_.-]*$")]
Path = Annotated[str, Meta(max_length=4096, pattern=r"^[^\x00]*$")]
PackName = Annotated[str, Meta(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9_.-]+$")]
# The name of a stored template, optionally with a label or a version; empty for the default one. The same rules as `parse_reference`.
TemplateName = Annotated[
    str,
    Meta(
        max_length=401,
        pattern=r"^([^@\s\x00-\x1f\x7f-\x9f]([^@\x00-\x1f\x7f-\x9f]{0,198}[^@\s\x00-\x1f\x7f-\x9f])?"
        r"(@([A-Za-z][A-Za-z0-9_.-]{0,199}|[0-9]{1,9}))?)?$",
    ),
]
# What the user says: empty, or more than white space.
UserText = Annotated[str, Meta(max_length=1_000_000, extra_json_schema={"pattern": r"\S|^(?![\s\S])"})]
if TYPE_CHECKING:
    RequestForm = str
    Syntax = str
else:
    RequestForm = Literal[tuple(APIS)]
    Syntax = Literal[tuple(LANGUAGES)]
_MAX_DEPTH = 100
MAX_TOOLS = 5000
Message = Annotated[dict[str, Any], Meta(extra_json_schema=MESSAGE_SCHEMA)]
Moment = Annotated[datetime, Meta(tz=True)]


def check_depth(content: object, name: str) -> None:
    """Raise a ValueError if the content is nested too deeply, because recursive code will encode and decode it again later."""
    level: list[Any] = [content] if content else []
    depth = 0
    while level:
        if depth == _MAX_DEPTH:
            raise ValueError(f"{name} may be nested at most {_MAX_DEPTH} levels deep")
        level = [
            inner
            for node in level
            for inner in (node.values() if isinstance(node, dict) else node)
            if inner and isinstance(inner, (dict, list))
        ]
        depth += 1


def check_user_text(message: str) -> None:
    if message.isspace():
        raise ValueError("the message contains only white space, which providers refuse; omit it")


def check_moment(moment: datetime | None, name: str = "now") -> None:
    try:
        _ = moment and moment.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{name} must be between the years 1 and 9999 in UTC") from None


class ToolBody(Struct, forbid_unknown_fields=True):
    """A tool that the agent has."""

    name: ToolName
    description: Text = ""
    snippet: Text = ""
    guidelines: list[Text] = []
    schema: dict[str, Any] | None = None
    server: Plain = ""
    defer: bool = False
    strict: bool | None = None
    allowed_callers: list[Label] = []
    type: ToolType = ""
    options: dict[str, Any] | None = None
    loads_skills: bool | None = None

    def __post_init__(self) -> None:
        check_depth(self.schema or {}, "schema")
        check_depth(self.options or {}, "options")


# The same rules as those of `Tool`.
_TOOL: dict[str, Any] = {
    "properties": {
        "type": {"not": {"const": "function"}},
        "options": {"propertyNames": {"not": {"enum": list(FIELD_OF_KEY)}}},
    },
    "anyOf": [
        {"required": ["type"], "properties": {"type": {"minLength": 1}, "schema": {"maxProperties": 0}}},
        {
            "properties": {
                "type": {"maxLength": 0},
                "options": {"propertyNames": {"not": {"const": "parameters"}}},
            }
        },
    ],
}
Tools = Annotated[list[Annotated[ToolBody, Meta(extra_json_schema=_TOOL)]], Meta(max_length=MAX_TOOLS)]


class AccessBody(Struct, forbid_unknown_fields=True):
    """A path that the agent is allowed or forbidden to access. An allowed path is writable unless `permission` is `read`."""

    path: Annotated[str, Meta(min_length=1, max_length=4096, pattern=r"^[^\x00]*$")]
    permission: Literal["read", "write"] | None = None
    recursive: bool = True


class ScopeBody(Struct, forbid_unknown_fields=True):
    """The paths that the agent may access, all of them inside the served folders."""

    allow: list[AccessBody] = []
    deny: list[AccessBody] = []


class ResidentBody(Struct, forbid_unknown_fields=True):
    """Knowledge or a workflow that the prompt lists in addition to those that are found in files."""

    kind: Literal["knowledge", "workflow"]
    slug: Annotated[str, Meta(min_length=1, max_length=512, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
    description: Annotated[str, Meta(min_length=1, max_length=16_384)]


class AgentBody(Struct, forbid_unknown_fields=True, kw_only=True):
    """Where the agent works, and its properties.

    `cwd` is always required. An existing conversation keeps the other fields that a request omits, except `plan` and `skill`; `"tools": []`
    removes its tools. A layout that mirrors a released program is refused unless `mirror` is true.

    `settings` sets keys of the layout (`{"skills.validation": "strict"}`), and `wording` replaces its wording, for this request only; they
    may not read more files than a workspace's own settings. `packs` adds folders of layouts, templates and wording, by prefix; each
    must be in a folder that the service allows (`--pack-root`).

    `template_name` is the stored template for layouts that use one: `support`, `support@staging` for a label, or `support@3` for a version.
    """

    cwd: Path
    model: Label = ""
    provider: Label = ""
    tools: Tools | None = None
    layout: Label = ""
    mirror: bool = False
    session: Label = ""
    sub_agent: bool | None = None
    base: Text = ""
    skill: Label = ""
    plan: Text = ""
    scope: ScopeBody | None = None
    language: Label = ""
    docs: list[tuple[Name, Path]] = []
    servers: dict[ServerName, Text] | None = None
    residents: list[ResidentBody] = []
    settings: dict[Name, Any] = {}
    wording: dict[Name, Text] = {}
    packs: dict[PackName, Path] = {}
    template_name: TemplateName = ""
    now: Moment | None = None

    def __post_init__(self) -> None:
        check_moment(self.now)
        check_depth(self.settings, "settings")


class DriftQuery(Struct, forbid_unknown_fields=True):
    """The agent for the comparison. Omitted parameters default to those of the edition.

    `tool` is a tool's name, for which the edition's definition is used if there is one; `tools`, `scope`, `docs`, `servers`,
    `residents`, `settings`, `wording` and `packs` are JSON.
    """

    cwd: Path | UnsetType = UNSET
    model: Label | UnsetType = UNSET
    provider: Label | UnsetType = UNSET
    layout: Label | UnsetType = UNSET
    mirror: bool | UnsetType = UNSET
    tool: list[ToolName] | UnsetType = UNSET
    tools: Tools | UnsetType = UNSET
    session: Label | UnsetType = UNSET
    sub_agent: bool | UnsetType = UNSET
    base: ShortText | UnsetType = UNSET
    skill: Label | UnsetType = UNSET
    plan: ShortText | UnsetType = UNSET
    scope: ScopeBody | UnsetType = UNSET
    language: Label | UnsetType = UNSET
    docs: list[tuple[Name, Path]] | UnsetType = UNSET
    servers: dict[ServerName, ShortText] | UnsetType = UNSET
    residents: list[ResidentBody] | UnsetType = UNSET
    settings: dict[Name, Any] | UnsetType = UNSET
    wording: dict[Name, ShortText] | UnsetType = UNSET
    packs: dict[PackName, Path] | UnsetType = UNSET
    now: Moment | UnsetType = UNSET

    def __post_init__(self) -> None:
        check_moment(self.now or None)
        check_depth(self.settings or {}, "settings")


class MessagesBody(AgentBody, forbid_unknown_fields=True, kw_only=True):
    """An agent, the user's message, and the messages so far.

    `form` asks for the body of a request to a provider (`request`) and, if it needs any, its headers (`request_headers`).
    """

    message: UserText = ""
    messages: list[Message] = []
    form: RequestForm | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_user_text(self.message)
        check_depth(self.messages, "messages")

    def check_request(self) -> None:
        """Raise a ValueError if a request is asked for that would have no messages, which providers refuse."""
        if self.form and not self.message and not self.messages:
            raise ValueError("a request (`form`) needs what the user says (`message`) or the history (`messages`)")


# The same rule as `MessagesBody.check_request`.
REQUEST_HAS_MESSAGES: dict[str, Any] = {
    "anyOf": [
        {"properties": {"form": {"type": "null"}}},
        {"required": ["message"], "properties": {"message": {"type": "string", "minLength": 1}}},
        {"required": ["messages"], "properties": {"messages": {"type": "array", "minItems": 1}}},
    ]
}


class TurnBody(MessagesBody, forbid_unknown_fields=True, kw_only=True):
    """An agent, the user's message, and the messages so far.

    A `message` starts a new user request. If `new_prompt` is true, the last of `messages` does too.
    """

    schema_rules: ClassVar[dict[str, Any]] = REQUEST_HAS_MESSAGES
    new_prompt: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_request()
