"""The nouns of Foreword: values that say what they are and cannot change.

A value is made with `@value`, not with `@dataclass`: dataclasses write and compile source code for every class, which costs
more than everything else at the start of a command. `typing` is left to the type checker for the same reason.
"""

from __future__ import annotations

from .errors import CallError, check_provider, check_text_form, check_tool, expect, expect_mapping, ordered, pairs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Literal, TypeVar, dataclass_transform

    V = TypeVar("V")
    Lifetime = Literal["release", "project", "conversation", "turn"]
    Severity = Literal["error", "warning", "info"]
    Fate = Literal[
        "used",
        "unused",
        "absent",
        "blank",
        "shadowed",
        "duplicate",
        "unreadable",
        "binary",
        "cut",
        "refused",
        "untrusted",
        "unread",
        "elsewhere",
    ]
else:

    def dataclass_transform(**_):
        return lambda decorator: decorator


@dataclass_transform(frozen_default=True)
def value(cls: type[V]) -> type[V]:
    """Make a class of annotated fields an immutable value: compared, hashed and shown by its fields.

    A field annotated as a Sequence takes any iterable with an order and keeps it as a tuple. A method `_check` is called last, to
    refuse fields that cannot be right.
    """
    fields = tuple(cls.__annotations__)
    defaults = {name: cls.__dict__[name] for name in fields if name in cls.__dict__}
    sequences = tuple(name for name in fields if cls.__annotations__[name].startswith("Sequence"))
    check = cls.__dict__.get("_check")
    known = frozenset(fields)
    size = len(fields)

    def __init__(self: Any, *given: Any, **named: Any) -> None:
        own = self.__dict__
        if len(given) != size or named:
            own.update(defaults)
        for name, content in zip(fields, given):  # noqa: B905  too many or too few are found out below
            own[name] = content
        if named:
            own.update(named)
        if len(own) != size or len(given) > size or (named and not named.keys() <= known):
            wrong = sorted(named.keys() - known) or [each for each in fields if each not in own] or given[size:]
            raise TypeError(
                f"{cls.__name__} takes ({', '.join(fields)}); wrong or missing: {', '.join(map(repr, wrong))}"
            )
        for name in sequences:
            content = own[name]
            if type(content) is not tuple:
                if type(content) is list:
                    own[name] = tuple(content)
                elif content is not None or not cls.__annotations__[name].endswith("| None"):
                    own[name] = ordered(f"{cls.__name__}.{name}", content)
        if check is not None:
            check(self)

    def __setattr__(self: Any, name: str, _: Any) -> None:
        raise AttributeError(f"{cls.__name__} is a value: use replace(value, {name}=…)")

    def __delattr__(self: Any, name: str) -> None:
        raise AttributeError(f"{cls.__name__} is a value: its field {name!r} cannot be deleted")

    def __eq__(self: Any, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    def __hash__(self: Any) -> int:
        return hash(tuple(map(self.__dict__.__getitem__, fields)))

    def __repr__(self: Any) -> str:
        return f"{cls.__name__}({', '.join(f'{name}={self.__dict__[name]!r}' for name in fields)})"

    for method in (__init__, __setattr__, __delattr__, __eq__, __hash__, __repr__):
        if method.__name__ not in cls.__dict__:
            setattr(cls, method.__name__, method)
    cls.__match_args__ = fields  # type: ignore[misc,attr-defined,unused-ignore]
    return cls


def replace(original: V, **changes: Any) -> V:
    """The same value with some fields changed."""
    return type(original)(**{**original.__dict__, **changes})


LIFETIMES = ("release", "project", "conversation", "turn")


# Where the agent works and for whom the prompt is


@value
class Workspace:
    """Where the agent works. Nothing is read when it is made: what is None is found out when it is gathered.

    `inside` are real folders that the project's files must lie in, wherever links lead: those that a service serves.
    """

    cwd: str = "."
    root: str | None = None
    home: str | None = None
    platform: str | None = None
    environment: Mapping[str, str] | None = None
    is_repository: bool = False
    inside: Sequence[str] = ()

    def _check(self) -> None:
        expect("Workspace.cwd", self.cwd, str)
        for name in ("root", "home", "platform"):
            content = getattr(self, name)
            if content is not None:
                expect(f"Workspace.{name}", content, str)
        expect_mapping("Workspace.environment", self.environment)


@value
class Tool:
    """A tool of the agent."""

    name: str
    description: str = ""
    snippet: str = ""
    guidelines: Sequence[str] = ()
    schema: Mapping[str, Any] | None = None

    def _check(self) -> None:
        check_tool(self.name, self.schema)
        for each in ("description", "snippet"):
            expect(f"the {each} of the tool {self.name!r}", getattr(self, each), str)
        ordered(f"the guidelines of the tool {self.name!r}", self.guidelines, str)


@value
class Access:
    """One row of a scope: a path the agent may read or write, with what is below it or without.

    The path is absolute, `~/…`, or relative to the working directory. A row that names no permission means all of them: it
    allows to write and so to read, or denies to read and so to write.
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
    """What the agent may touch. Write access implies read access; a denied path wins."""

    allow: Sequence[Access] = ()
    deny: Sequence[Access] = ()

    def _check(self) -> None:
        ordered("Scope.allow", self.allow, Access)
        ordered("Scope.deny", self.deny, Access)


@value
class Document:
    """A text and the file it stands in: the line on which it begins, and the size in bytes of a file that was read in part.

    `syntax` is the language of a template that brings its own; any other is written in that of its section.
    """

    path: str
    text: str
    hash: str = ""
    line: int = 1
    cut_from: int = 0
    syntax: str = ""


@value
class Agent:
    """For whom the prompt is. A `Document` given as base or plan keeps its file as origin.

    With `tools=None`, a known conversation keeps its tools and a new one has none; an empty list means none.
    """

    tools: Sequence[Tool] | None = None
    model: str = ""
    provider: str = ""
    role: Literal["main", "sub"] = "main"
    session: str = ""
    base: str | Document = ""
    skill: str | Skill = ""
    plan: str | Document = ""
    scope: Scope | None = None
    language: str = ""
    docs: Sequence[tuple[str, str]] = ()

    def _check(self) -> None:
        tools = ordered("Agent.tools", self.tools, Tool) if self.tools else ()
        names = [tool.name for tool in tools]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise CallError(f"two tools are named {twice!r}; a model knows a tool by its name, so each has its own")
        for name in ("model", "provider", "session", "language"):
            expect(f"Agent.{name}", getattr(self, name), str)
            check_text_form(f"the {name}", getattr(self, name))
        check_provider(self.provider)
        if self.role not in ("main", "sub"):
            raise CallError(f"Agent.role must be 'main' or 'sub', not {self.role!r}")
        expect("Agent.base", self.base, str, Document)
        expect("Agent.plan", self.plan, str, Document)
        expect("Agent.skill", self.skill, str, Skill)
        if self.scope is not None:
            expect("Agent.scope", self.scope, Scope)
        if self.docs:
            self.__dict__["docs"] = pairs("Agent.docs", self.docs)


# Where text comes from


@value
class Origin:
    """Where a piece of text came from. `lines` are the first and last line there, None where lines make no sense.

    `tag` are the lines of the tag that put it here, with the path of its template, if a template did.
    """

    kind: str
    path: str = ""
    lines: tuple[int, int] | None = None
    tag: tuple[str, int, int] | None = None


@value
class Piece:
    """A run of text with one origin."""

    text: str
    origin: Origin


ORIGINS = {
    "builtin": "text of a shipped layout or template; `path` is its address",
    "layout": "text of a layout that is not shipped; `path` is the layout and the section",
    "setting": "text of a key or of wording that a file of settings has written; `path` is that file",
    "template": "text of a template that is not shipped",
    "file": "exactly the characters of that file",
    "skill": "what the front matter of a SKILL.md says, or where it lies",
    "resident": "what the front matter of a resident file says",
    "caller": "given by the caller as text, or set by the call; then `path` is the key",
    "tool": "the snippet, name or guideline of that tool",
    "scope": "a path of the agent's scope",
    "environment": "a fact of the workspace or the agent: `path` names it (cwd, platform, now, …)",
    "variable": "the value of a template's variable; `path` names it",
    "extension": "a rule of an extension",
    "mark": "put in by Foreword itself: the mark of a cut, or what keeps content from closing its section",
}


# What was found


@value
class Candidate:
    """A file that was considered, and what became of it.

    `target` is the file that explains the fate: the one it duplicates, points at or is shadowed by.
    """

    path: str
    layer: str
    fate: Fate
    reason: str = ""
    target: str = ""


@value
class Finding:
    """Something a person should know. Create one with `findings.finding`, which looks up the severity of its code.

    Lines and columns count from 1, columns in code points. `end_column` is the column after the last character.
    """

    code: str
    severity: Severity
    message: str
    path: str = ""
    line: int | None = None
    column: int | None = None
    end_column: int | None = None


@value
class Skill:
    """A folder with a SKILL.md. The body is read when the skill is used, and empty until then."""

    name: str
    description: str
    path: str
    hidden: bool = False
    lines: tuple[int, int] = (1, 1)
    hash: str = ""
    body: str = ""
    body_line: int = 1


@value
class Resident:
    """A file of knowledge or workflow that is named in the prompt by its slug and description."""

    name: str
    description: str
    path: str
    lines: tuple[int, int] = (1, 1)
    hash: str = ""


@value
class Inputs:
    """What was found in a workspace for a layout, without agent and clock. `found` is by the name of the find.

    `looks` is what each find looked at; from it the next look knows what need not be read again. `includes` are the files that
    texts include, `bodies` the templates of sections, `templates` those and all they include by their address, `values` what
    their variables stand for, `types` the types of variables that extensions add.
    """

    workspace: Workspace
    found: Mapping[str, Sequence[Document | Skill | Resident]]
    candidates: Sequence[Candidate] = ()
    findings: Sequence[Finding] = ()
    stamps: Sequence[tuple[str, Any]] = ()
    looks: Mapping[str, Any] = {}
    includes: Mapping[str, Document | Finding] = {}
    bodies: Mapping[str, Document] = {}
    templates: Mapping[str, Document] = {}
    values: Mapping[str, str | Document] = {}
    types: Sequence[str] = ()


# What comes out


@value
class Passage:
    """One rendered section: its text, and the pieces that say where its words came from."""

    section: str
    start: int
    text: str
    lifetime: Lifetime
    pieces: Sequence[Piece]

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@value
class Prompt:
    """The finished prompt. Its id is the hash of its text."""

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
    """What a conversation is using: the prompt and the tool definitions, numbered from 1.

    Everything but the numbers is text, so that a store can keep each distinct text once: `tools` and `account` (passages,
    candidates, findings) are JSON, `inputs` is what was found for the layout, kept where the layout formats it again, and
    `made_for` says for which agent, workspace and template it was made. `state` is what the conversation remembers between
    turns, such as what was announced in a message.
    """

    number: int
    system: str
    tools: str = "[]"
    account: str = "{}"
    inputs: str = ""
    layout: str = ""
    made_for: str = "{}"
    made: str = ""
    state: str = "{}"


@value
class Turn:
    """What the model sees now: send `system`, `messages` and `tools`, and keep `history` for the next turn.

    `history` is without what `context` hooks changed and without the request for a summary, which are for this call only.
    `passages` tell where in the system prompt which lifetime ends.

    `root_end` is where the instruction file of the workspace's root ends; 0 if there is none, or it is not known.
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


@value
class TemplateVersion:
    """One version of the global template: versions are only ever added."""

    version: int
    template: str
    author: str = ""
    time: str = ""
    note: str = ""
    syntax: str = "brackets"


@value
class ConversationRow:
    """One conversation in a list."""

    id: str
    editions: int
    prompt: str
    layout: str
    made: str


def include_key(root: str, path: str, target: str) -> str:
    """By which name an included file is known: the text that was found, the file that includes it, and what it says there."""
    return f"{root}\n{path}\n{target}"


def digest(text: str) -> str:
    """`sha256:…` of a text."""
    return "sha256:" + str(_sha256()(text.encode("utf-8", "surrogatepass")).hexdigest())


def _sha256() -> Callable[[bytes], Any]:
    """The built-in small hash, found once: `hashlib` would load all of OpenSSL, 4 ms of every start."""
    global _found_sha256
    if _found_sha256 is None:
        try:
            from _sha2 import sha256  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            try:
                from _sha256 import sha256  # type: ignore[import-not-found,no-redef,unused-ignore]
            except ImportError:
                from hashlib import sha256  # type: ignore[assignment,unused-ignore]
        _found_sha256 = sha256
    return _found_sha256


_found_sha256: Callable[[bytes], Any] | None = None
