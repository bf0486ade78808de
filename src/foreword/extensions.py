"""Everything an extension author must read.

An extension is a value with functions in it; leave out what you do not need. Install it under the entry-point group `foreword`
(the entry names an `Extension`, or a function that gives one), or pass it in a list. Extensions run in the order of that list,
installed ones by name. One that raises, or gives something else than it should, is reported as a finding and skipped, unless the
extension lists that hook in `required`: then the turn stops with an error. Nothing in a workspace is ever an extension.

    from foreword.extensions import Extension, Start

    def before_agent_start(prompt, message, about):
        return Start(prompt=prompt + "\\n\\nToday is release day.")

    release_day = Extension("release-day", before_agent_start=before_agent_start)
"""

from __future__ import annotations

from .errors import CallError, ForewordError, HookError, expect, suggestion
from .findings import WrongType, entries_of, finding, kind_of
from .vocabulary import Document, Finding, Tool, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, NoReturn

    from .vocabulary import Prompt, Workspace

    Message = Mapping[str, Any]

GROUP = "foreword"


@value
class About:
    """For which conversation a hook is called. `tools` are the names of the active tools; `edition` is 0 before the first one."""

    conversation: str
    cwd: str
    model: str
    tools: Sequence[str]
    edition: int


@value
class Start:
    """What `before_agent_start` may return: a prompt for every model call until the next user prompt, and a message (user role)
    that follows the current one.
    """

    prompt: str | None = None
    message: str | None = None


@value
class Resources:
    """What `resources_discover` may give: folders of skills, and folders of layouts and templates by their prefix."""

    skills: Sequence[str] = ()
    packs: Mapping[str, str] = {}


@value
class Extension:
    """What a package adds to Foreword."""

    name: str
    before_agent_start: Callable[[str, str, About], Start | None] | None = None
    context: Callable[[list[Message], About], list[Message] | None] | None = None
    resources_discover: Callable[[str, About], Resources | None] | None = None
    listen: Callable[[str, dict[str, Any]], None] | None = None
    rules: Sequence[Callable[[frozenset[str]], str | list[str] | None]] = ()
    sources: Mapping[str, Callable[[Workspace], Sequence[Document]]] = {}
    checks: Sequence[Callable[[Prompt], Iterable[Finding]]] = ()
    packs: Mapping[str, str] = {}
    variables: Mapping[str, Callable[[str, Workspace], str | None]] = {}
    tools: Sequence[Tool] = ()
    required: Sequence[str] = ()


EVENTS = {
    "before_agent_start": "per user prompt, with the prompt as the extensions before left it, the user's message, and an About; gives a Start",
    "context": "per turn, with the list of messages and an About; gives the list to send, which is for this call only",
    "resources_discover": "before a process first gathers for a conversation ('start') and on every reload ('reload'), with an About; gives Resources",
    "listen": "after an edition was made, or a change was met: the name of the event, and a mapping with what came of it; gives nothing",
    "rules": "when guidelines are listed, with the names of the tools; gives a sentence, several, or None",
    "sources": "when a find of that name is gathered, with the workspace; gives documents, put behind what was found; skills and residents with front matter",
    "checks": "when a prompt was built or is linted; gives findings",
    "packs": "folders of layouts, templates and wording by their prefix",
    "variables": "types of variables of the bracket language; a function gives the value of a name in a workspace, or None",
    "tools": "tools that are added to those of the agent, unless it has none on purpose (`tools=[]`)",
    "required": "names of hooks whose failure stops the turn with a HookError; the others are reported and skipped",
}

# What each hook is called with.
HOOKS = {
    "before_agent_start": ("prompt", "message", "about"),
    "context": ("messages", "about"),
    "resources_discover": ("reason", "about"),
    "listen": ("event", "what"),
}

# What `listen` hears of, and what it is told with it.
HEARD = {
    "constructed": "a conversation has its first edition",
    "warn": "something has changed, and a finding said so; the edition stays",
    "append": "something has changed, and a message said so; with a new tool the edition has a new number",
    "format": "the prompt was built anew from what was found before; if it reads otherwise, the edition has a new number",
    "gather": "everything was looked for again; if the prompt reads otherwise, the edition has a new number",
}
CARRIED = {"conversation": "its id", "edition": "the number of the edition in use from now on"}


def installed() -> list[Extension]:
    """The extensions of installed packages, by the name of their entry. Asked only by commands that need them."""
    from importlib.metadata import entry_points

    return [_loaded(entry) for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))]


def _loaded(entry: Any) -> Extension:
    """The extension of an entry point. One that cannot be loaded is reported by every turn, and does nothing else."""
    try:
        loaded = entry.load()
        extension = loaded if isinstance(loaded, Extension) else loaded()
        if isinstance(extension, Extension):
            check_extension(extension)
            return extension
        raise TypeError(f"{entry.value} gives no Extension")
    except Exception as error:
        failure = error

    def loading(*_: object) -> NoReturn:
        raise failure

    return Extension(entry.name, context=loading, checks=[loading])


def check_extension(extension: Extension) -> None:
    """A CallError for a hook that does not take what it is called with, and for what else cannot be."""
    expect("the name of an extension", extension.name, str)
    where = f"the extension {extension.name!r}"
    for tool in extension.tools:
        expect(f"a tool of {where}", tool, Tool)
    for function in (*extension.rules, *extension.checks):
        if not callable(function):
            raise CallError(f"the rules and checks of {where} must be functions, not {type(function).__name__}")
    for name in ("sources", "packs", "variables"):
        if not hasattr(getattr(extension, name), "items"):
            raise CallError(f"the {name} of {where} must be a mapping, not {type(getattr(extension, name)).__name__}")
    for hook, arguments in HOOKS.items():
        function = getattr(extension, hook)
        if function is not None and not _takes(function, len(arguments)):
            raise CallError(f"{hook} of {where} is called as {hook}({', '.join(arguments)}), and does not take that")
    for hook in extension.required:
        if hook not in HOOKS:
            raise CallError(f"{where} requires {hook!r}, which is not a hook{suggestion(str(hook), HOOKS)}")
        if getattr(extension, hook) is None:
            raise CallError(f"{where} requires {hook!r}, but does not define it")


def _takes(function: Any, count: int) -> bool:
    """Whether a function can be called with so many arguments. One that does not say so is believed."""
    from inspect import signature

    if not callable(function):
        return False
    try:
        takes = signature(function)
    except (TypeError, ValueError):
        return True
    try:
        takes.bind(*range(count))
    except TypeError:
        return False
    return True


def run(
    extension: Extension,
    function: Callable[..., Any],
    findings: list[Finding],
    *given: Any,
    gives: type = object,
    lists: type | None = None,
) -> Any:
    """What a function of an extension gives: None, or one of a kind, or a list of a kind.

    If it raises, or gives something else, that is a finding, and it counts as None; for a required hook it is a HookError.
    """
    try:
        result = function(*given)
        if result is None:
            return None
        entries = _one(result, gives) if lists is None else entries_of(result, lists, f"a list of {lists.__name__}")
        for each in entries:
            _check(each)
        return result if lists is None else entries
    except Exception as error:
        did = f"gave {error}" if isinstance(error, WrongType) else f"raised {type(error).__name__}"
        did += f" ({error})" if isinstance(error, ForewordError) else ""
        name = getattr(function, "__name__", "a function")
        message = f"{name} of the extension {extension.name!r} {did}"
        if any(getattr(extension, hook) is function for hook in extension.required):
            raise HookError(f"{message.rstrip(',')}; the extension requires it, so the turn was stopped") from error
        findings.append(finding("extension-failed", f"{message} and was skipped"))
        return None


def _one(result: Any, kind: type) -> list[Any]:
    if not isinstance(result, kind):
        name = kind.__name__
        raise WrongType(f"{kind_of(result)}, not {name if name.endswith('s') else f'a {name}'},")
    return [result]


def _check(given: object) -> None:
    """Refuse a value of the right kind that holds something of a wrong one."""
    texts: list[object] = []
    if isinstance(given, Start):
        texts = [each for each in (given.prompt, given.message) if each is not None]
    elif isinstance(given, Document):
        texts = [given.path, given.text]
    elif isinstance(given, Resources):
        texts = [*entries_of(given.skills, str, "Resources with a list of folders"), *given.packs.values()]
    wrong = [each for each in texts if not isinstance(each, str)]
    if wrong:
        raise WrongType(f"{kind_of(given)} with {kind_of(wrong[0])} where a text belongs")


def checked(extensions: Sequence[Extension], prompt: Prompt) -> list[Finding]:
    """What the checks of the extensions find in a prompt."""
    found: list[Finding] = []
    for extension in extensions:
        for check in extension.checks:
            found.extend(run(extension, check, found, prompt, lists=Finding) or ())
    return found
