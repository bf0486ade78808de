"""Foreword's data types, all of them immutable values.

Each class's docstring describes its fields; the library's reference page is generated from these docstrings.
"""

from __future__ import annotations

from ..errors import (
    CallError,
    check_encodable,
    check_provider,
    check_servers,
    check_unique_names,
    check_workspace,
    expect,
    to_pairs,
    to_tuple,
)
from .residents import RESIDENT_KINDS as RESIDENT_KINDS
from .residents import Resident as Resident
from .residents import Skill as Skill
from .residents import checked_residents
from .tool_forms import tools_from
from .tools import Tool as Tool
from .values import digest as digest
from .values import digest_bytes as digest_bytes
from .values import replace as replace
from .values import value as value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal

    Lifetime = Literal["release", "project", "conversation", "turn"]
    Role = Literal["system", "developer", "user", "tool"]
    Severity = Literal["error", "warning", "info"]
    Encoding = Literal["utf-8", "any", "raw", "visible"]
    LineEnds = Literal["lf", "keep"]
    Fences = Literal["lines", "inside", "sections"]
    Described = Literal["", "line", "text", "empty"]
    Repair = Literal["lines", "symbols", "colons", "values", "fields", "rows"]
    Fate = Literal[
        "used",
        "unused",
        "absent",
        "blank",
        "shadowed",
        "waiting",
        "duplicate",
        "unreadable",
        "binary",
        "cut",
        "refused",
        "untrusted",
        "unread",
        "elsewhere",
    ]

LIFETIMES = ("release", "project", "conversation", "turn")
PROMPT_ROLES = ("system", "developer", "user")


# Where the agent works, and the agent


@value
class Workspace:
    """Where the agent works. Creating one reads nothing; fields that are None are resolved when the workspace is read.

    >>> Workspace("shop").cwd
    'shop'

    Fields:
        cwd: The agent's working directory.
        root: The top directory of the project. None means the git repository around `cwd`, or `cwd` itself.
        home: The user's home directory. None means the one in the environment.
        platform: The operating system, as in `sys.platform`. None means this machine's.
        environment: The environment variables. None means those of this process.
        is_repository: Whether `root` is a git repository. Set when the workspace is resolved.
        inside: Real directories that must contain the project's files, wherever links lead; a service lists its roots here.
    """

    cwd: str = "."
    root: str | None = None
    home: str | None = None
    platform: str | None = None
    environment: Mapping[str, str] | None = None
    is_repository: bool = False
    inside: Sequence[str] = ()

    def _check(self) -> None:
        check_workspace(self.__dict__)


@value
class Access:
    """One row of a scope: a path that is allowed or denied.

    >>> Scope(deny=[Access("secrets")]).deny[0].recursive
    True

    Fields:
        path: An absolute path, `~/…`, or a path relative to the working directory.
        permission: `read` or `write`. Empty means `write` (and so `read`) in `allow`, and `read` (and so `write`) in `deny`.
        recursive: Whether everything below the path is included.
    """

    path: str
    permission: Literal["read", "write", ""] = ""
    recursive: bool = True

    def _check(self) -> None:
        expect("Access.path", self.path, str)
        if self.permission not in ("read", "write", ""):
            raise CallError(f"Access.permission must be 'read' or 'write', not {self.permission!r}")


@value
class Scope:
    """The paths that the agent may access. Write access includes read access, and a denied path overrides an allowed one.

    >>> Scope([Access("src", "write")]).deny
    ()

    Fields:
        allow: The paths it may access.
        deny: The paths it may not access.
    """

    allow: Sequence[Access] = ()
    deny: Sequence[Access] = ()

    def _check(self) -> None:
        to_tuple("Scope.allow", self.allow, Access)
        to_tuple("Scope.deny", self.deny, Access)


@value
class Document:
    """Text, together with the file it came from.

    >>> Document("base.md", "Be brief.").text
    'Be brief.'

    Fields:
        path: The file, or a name for text that did not come from one.
        text: The text.
        hash: The file's hash, empty if it is not known.
        line: The line in the file where the text starts.
        cut_from: The file's size in bytes if only its beginning was read, otherwise 0.
        syntax: The language of a template, if it differs from its section's.
        fields: Pairs of a name and a value that a layout can print beside the text, such as a label.
        pieces: The text in pieces with their origins, if it does not consist of consecutive lines of the file. Empty otherwise.
    """

    path: str
    text: str
    hash: str = ""
    line: int = 1
    cut_from: int = 0
    syntax: str = ""
    fields: Sequence[tuple[str, str]] = ()
    pieces: Sequence[Piece] = ()


@value
class Agent:
    """The agent that a prompt is for. In an existing conversation, fields that are left out keep the values of its edition, except
    the plan and the skill.

    >>> Agent([Tool("read_file")], "gpt-5").model
    'gpt-5'

    Fields:
        tools: The agent's tools. None keeps the tools of an existing conversation, and means no tools in a new one; an empty list
            always means no tools.
        model: The name of the model.
        provider: The name of the provider: anthropic, openai or gemini.
        role: `main` for the main agent (the default) or `sub` for a sub-agent.
        session: The id of the session, if the prompt shows one.
        base: Text that replaces the layout's base text, or the address of a template such as `$user/greet`. A `Document` keeps its
            file as the origin.
        skill: The active skill, or its name.
        plan: The text of the active plan. A `Document` keeps its file as the origin.
        scope: The paths it may access. None means write access to the workspace.
        language: The language in which it answers.
        docs: Documentation about the agent itself, as pairs of a label and a path or URL.
        servers: The instructions of the MCP servers that the agent uses, by the server's name. None keeps those of an existing
            conversation.
        residents: Knowledge and workflows that the prompt lists in addition to those that are found in files.
    """

    tools: Sequence[Tool] | None = None
    model: str = ""
    provider: str = ""
    role: Literal["", "main", "sub"] = ""
    session: str = ""
    base: str | Document = ""
    skill: str | Skill = ""
    plan: str | Document = ""
    scope: Scope | None = None
    language: str = ""
    docs: Sequence[tuple[str, str]] = ()
    servers: Mapping[str, str] | None = None
    residents: Sequence[Resident] = ()

    def _check(self) -> None:
        if self.tools:
            self.__dict__["tools"] = to_tuple("Agent.tools", tools_from("Agent.tools", self.tools), Tool)
            check_unique_names(self.tools)
        for name in ("model", "provider", "session", "language"):
            if type(text := getattr(self, name)) is not str or not text.isascii():
                expect(f"Agent.{name}", text, str)
                check_encodable(f"the {name}", text)
            self.__dict__[name] = "" if text.isspace() and name != "provider" else text  # as for a blank base
        if self.provider:
            check_provider(self.provider)
        if self.role not in ("", "main", "sub"):
            raise CallError(f"Agent.role must be 'main' or 'sub', not {self.role!r}")
        if {type(self.base), type(self.plan), type(self.skill)} != {str}:
            expect("Agent.base", self.base, str, Document)
            expect("Agent.plan", self.plan, str, Document)
            expect("Agent.skill", self.skill, str, Skill)
        if self.scope is not None:
            expect("Agent.scope", self.scope, Scope)
        if self.docs:
            self.__dict__["docs"] = to_pairs("Agent.docs", self.docs)
        if self.servers is not None:
            check_servers(self.servers)
        if self.residents:
            self.__dict__["residents"] = checked_residents(self.residents)


# Where text comes from


@value
class Origin:
    """Where a piece of text came from.

    Fields:
        kind: The kind of origin: file, template, tool, …
        path: The file, the address or the key's name, depending on the kind.
        lines: The first and last line in that file. None if the origin has no lines.
        tag: If a template's tag inserted the text, the template's path and the tag's first and last line. None otherwise.
    """

    kind: str
    path: str = ""
    lines: tuple[int, int] | None = None
    tag: tuple[str, int, int] | None = None


@value
class Piece:
    """A run of text with one origin.

    Fields:
        text: The text.
        origin: Where it came from.
    """

    text: str
    origin: Origin

    # There are thousands of pieces, and this is twice as fast as the method that `value` adds.
    def __init__(self, text: str, origin: Origin) -> None:
        self.__dict__["text"], self.__dict__["origin"] = text, origin


# What was found


@value
class Candidate:
    """A file that was considered for the prompt, and what happened to it.

    Fields:
        path: The file.
        layer: Where it comes from: user, project, …
        fate: What happened to it.
        reason: Why, in words; empty if the fate needs no explanation.
        target: The file that explains the fate: the one it duplicates, points to or is shadowed by. For a `waiting` file, the paths
            that it applies to.
    """

    path: str
    layer: str
    fate: Fate
    reason: str = ""
    target: str = ""

    def __init__(self, path: str, layer: str, fate: Fate, reason: str = "", target: str = "") -> None:
        self.__dict__.update(path=path, layer=layer, fate=fate, reason=reason, target=target)


@value
class Finding:
    """Something a person should know. Create one with `findings.finding`, which looks up the severity of its code.

    >>> assemble(Workspace("."), Agent(skill="deploy"), "foreword").findings[0].code
    'argument-unused'

    Fields:
        code: The kind of finding.
        severity: How serious it is.
        message: One sentence, which may be followed by an excerpt.
        path: The file it is about, if any.
        line: The line in that file, counted from 1. None if it is not known.
        column: The column in that line, counted from 1 in code points. None if it is not known.
        end_column: The column after the last character. None if it is not known.
    """

    code: str
    severity: Severity
    message: str
    path: str = ""
    line: int | None = None
    column: int | None = None
    end_column: int | None = None


@value
class Inputs:
    """What was found in a workspace for a layout, independent of the agent and the time.

    Fields:
        workspace: The resolved workspace.
        found: The documents, skills and residents, by the lookup rule's name.
        candidates: Every file that was considered.
        findings: What a person should know about the files.
        stamps: Every path that was examined, with its stamp; unchanged stamps mean unchanged inputs.
        lookup_results: The result of each lookup rule, so that the next search reads only what has changed.
        includes: The files that texts include, by `include_key`, or the finding that says why one is missing.
        bodies: The templates of sections, by section.
        templates: The templates of sections and everything that they include, by address.
        values: The values of template variables.
        types: The variable types that extensions add.
    """

    workspace: Workspace
    found: Mapping[str, Sequence[Document | Skill | Resident]]
    candidates: Sequence[Candidate] = ()
    findings: Sequence[Finding] = ()
    stamps: Sequence[tuple[str, Any]] = ()
    lookup_results: Mapping[str, Any] = {}
    includes: Mapping[str, Document | Finding] = {}
    bodies: Mapping[str, Document] = {}
    templates: Mapping[str, Document] = {}
    values: Mapping[str, str | Document] = {}
    types: Sequence[str] = ()


# What comes out


@value
class Passage:
    """One rendered section.

    Fields:
        section: The name of the section.
        start: Where it starts in the prompt, in code points.
        text: Its text.
        lifetime: How long its text stays the same.
        pieces: Its text in pieces, each with its origin.
        role: The role of the message that contains it.
        message: The number of that message, counted from 1; 0 in the system prompt.
        end: Where it ends in the prompt.
    """

    section: str
    start: int
    text: str
    lifetime: Lifetime
    pieces: Sequence[Piece]
    role: Role = "system"
    message: int = 0

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@value
class Prompt:
    """A finished prompt.

    >>> "Be brief." in assemble(Workspace("."), layout="foreword").text
    True

    Fields:
        layout: The name of its layout.
        text: The whole prompt: the system prompt, and any messages after it.
        passages: Its sections, in order.
        candidates: Every file that was considered.
        findings: What a person should know.
        id: The hash of the text.
    """

    layout: str
    text: str
    passages: Sequence[Passage]
    candidates: Sequence[Candidate] = ()
    findings: Sequence[Finding] = ()

    @property
    def id(self) -> str:
        return digest(self.text)


# Conversations


@value
class Edition:
    """A numbered version of a conversation's prompt and tool definitions.

    Everything except the number is text, so that a store can save each distinct text once.

    >>> conversations = Conversations()
    >>> turn = conversations.open("42", Workspace("."), layout="foreword").turn("Hello")
    >>> conversations.current("42")[0].system == turn.system
    True

    Fields:
        number: The number, counted from 1.
        system: The whole prompt: the system prompt, and any messages after it.
        tools: The tool definitions, as JSON.
        account: The passages, candidates and findings of the prompt, as JSON.
        inputs: What was found for the layout, as JSON; empty unless the layout can format it again.
        layout: The name or address of the layout.
        built_for: The agent, workspace and template it was built for, as JSON.
        created: When it was created, as an ISO time.
        state: What the conversation remembers between turns, as JSON.
    """

    number: int
    system: str
    tools: str = "[]"
    account: str = "{}"
    inputs: str = ""
    layout: str = ""
    built_for: str = "{}"
    created: str = ""
    state: str = "{}"


@value
class Turn:
    """What the model sees now: send `system`, `messages` and `tools`, and keep `history` for the next turn.

    >>> turn = Conversations().open("42", Workspace("."), layout="foreword").turn("Hello")
    >>> turn.messages[-1]["role"]
    'user'

    Fields:
        conversation: The id of the conversation.
        edition: The number of the edition in use.
        is_reused: Whether the edition is the same as in the previous turn.
        system: The system prompt.
        messages: The messages to send. Those that belong to the prompt come first.
        tools: The tool definitions.
        passages: The start, end and lifetime of each passage in `system`.
        findings: What a person should know.
        root_end: Where the root's instruction file ends in `system` and the `leading` messages together; 0 if that is not known.
        history: The messages to keep: without those of the prompt, changes by `context` hooks and requests for a summary.
        leading: The passages of each message that belongs to the prompt, with offsets in its content.
        sections: The name of the section of each of `passages`.
        model: The name of the model, if the agent has one. It decides what a provider's request may contain.
        changes: What some of the messages announce: the `text`, and the names of the tools that are `added`, `removed` or `restored`.
        provider: The name of the agent's provider, if it has one. Functions for another known provider refuse the turn.
    """

    conversation: str
    edition: int
    is_reused: bool
    system: str
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]]
    passages: Sequence[tuple[int, int, Lifetime]] = ()
    findings: Sequence[Finding] = ()
    root_end: int = 0
    history: Sequence[Mapping[str, Any]] = ()
    leading: Sequence[Sequence[tuple[int, int, Lifetime]]] = ()
    sections: Sequence[str] = ()
    model: str = ""
    changes: Sequence[Mapping[str, Any]] = ()
    provider: str = ""


def include_key(root: str, path: str, target: str) -> str:
    """Return the key of an included file: the file found for the layout, the file that includes it, and the path as written there."""
    return f"{root}\n{path}\n{target}"
