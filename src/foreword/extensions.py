"""The interface for extension authors; this page is all you need to read.

An extension is a value that contains functions; leave out those you do not need. Install it under the entry-point group `foreword`
(the entry names an `Extension`, or a function that returns one), or pass it in a list. Extensions run in the order of that list,
installed ones by name. A function that raises an exception or returns the wrong type is reported as a finding and skipped, unless the
extension lists that hook in `required`: then the turn stops with an error. Files in a workspace are never loaded as extensions.

    from foreword.extensions import Extension, Start

    def before_agent_start(prompt, message, about):
        return Start(prompt=prompt + "\\n\\nToday is release day.")

    release_day = Extension("release-day", before_agent_start=before_agent_start)
"""

from __future__ import annotations

from .errors import CallError, ForewordError, HookError, expect, suggestion
from .findings import WrongType, finding, list_of, type_in_words
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
    """The conversation that a hook is called for.

    Fields:
        conversation: The id of the conversation.
        cwd: The agent's working directory.
        model: The name of the model.
        tools: The names of the active tools.
        edition: The number of the edition in use, 0 before the first one.
    """

    conversation: str
    cwd: str
    model: str
    tools: Sequence[str]
    edition: int


@value
class Start:
    """The result of `before_agent_start`.

    >>> Start(message="The build is broken.").prompt is None
    True

    Fields:
        prompt: The system prompt for every model call until the next user request. None leaves it unchanged.
        message: A message with the user role that follows the current one. None adds no message.
    """

    prompt: str | None = None
    message: str | None = None


@value
class Resources:
    """The result of `resources_discover`.

    Fields:
        skills: Folders of skills.
        packs: Folders of layouts and templates, by prefix.
    """

    skills: Sequence[str] = ()
    packs: Mapping[str, str] = {}


@value
class Extension:
    """What a package adds to Foreword.

    >>> Extension("acme", before_agent_start=lambda system, prompt, about: Start(message="The build is broken.")).name
    'acme'

    Fields:
        name: The name of the extension, used in findings.
        before_agent_start: Called for each user request with the system prompt as earlier extensions left it, the user's message and
            an About. Returns a Start.
        context: Called for each turn with the list of messages, without those of the prompt, and an About. Returns the list to send
            in this call only.
        resources_discover: Called before a process first reads the workspace for a conversation ('start') and on every reload
            ('reload'), with an About. Returns Resources.
        listen: Called after an event with its name and a mapping of details. Returns nothing.
        rules: Called when guidelines are listed, with the names of the tools. Each returns a sentence, a list of sentences, or None.
        sources: Functions by the name of a lookup rule, called with the workspace when that rule runs. Each returns documents,
            which come after the files found on disk; skills and resident files need front matter.
        checks: Called with the prompt after it is built, and by lint. Each returns findings.
        packs: Folders of layouts, templates and wording, by prefix.
        variables: Variable types for the bracket language. Each function returns the value of a name in a workspace, or None.
        tools: Tools that are added to the agent's, unless it has an empty list of tools.
        required: The names of hooks whose failure stops the turn with a HookError; failures of others are reported and skipped.
    """

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


# The arguments of each hook.
HOOKS = {
    "before_agent_start": ("prompt", "message", "about"),
    "context": ("messages", "about"),
    "resources_discover": ("reason", "about"),
    "listen": ("event", "details"),
}

# The events that `listen` is called for, and the details that come with them.
EVENTS = {
    "constructed": "a conversation has its first edition",
    "warn": "something changed and was reported as a finding; the edition stays the same",
    "announce": "something changed and was announced in a message; if a tool was added, the edition has a new number",
    "append": "something changed and was announced in a message, or a new edition was built because that is cheaper",
    "format": "the prompt was built again from the same inputs; if its text changed, the edition has a new number",
    "gather": "the workspace was read again; if the text of the prompt changed, the edition has a new number",
}
DETAILS = {"conversation": "its id", "edition": "the number of the edition in use from now on"}


def installed() -> list[Extension]:
    """Return the extensions of installed packages, sorted by the name of their entry point."""
    from importlib.metadata import entry_points

    return [_load(entry) for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))]


def _load(entry: Any) -> Extension:
    """Load an entry point's extension. If that fails, return an extension that reports the failure in every turn."""
    try:
        loaded = entry.load()
        extension = loaded if isinstance(loaded, Extension) else loaded()
        if isinstance(extension, Extension):
            check_extension(extension)
            return extension
        raise TypeError(f"{entry.value} is not an Extension and does not return one")
    except Exception as error:
        failure = error

    def loading(*_: object) -> NoReturn:  # its name appears in the finding
        raise failure

    return Extension(entry.name, context=loading, checks=[loading])


def check_extension(extension: Extension) -> None:
    """Raise a CallError if a hook does not accept its arguments or another field is invalid."""
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
        if function is not None and not _accepts(function, len(arguments)):
            raise CallError(
                f"extension {extension.name!r}: {hook} is called as {hook}({', '.join(arguments)}) but does not accept these arguments"
            )
    for hook in extension.required:
        if hook not in HOOKS:
            raise CallError(f"{where} requires {hook!r}, which is not a hook{suggestion(str(hook), HOOKS)}")
        if getattr(extension, hook) is None:
            raise CallError(f"{where} requires {hook!r}, but does not define it")


def _accepts(function: Any, count: int) -> bool:
    """Whether a function accepts this many arguments. A function without a signature is assumed to accept them."""
    from inspect import signature

    if not callable(function):
        return False
    try:
        parameters = signature(function)
    except (TypeError, ValueError):
        return True
    try:
        parameters.bind(*range(count))
    except TypeError:
        return False
    return True


def run(
    extension: Extension,
    function: Callable[..., Any],
    findings: list[Finding],
    *args: Any,
    returns: type = object,
    list_items: type | None = None,
    check: Callable[[list[Any]], object] | None = None,
) -> Any:
    """Call an extension's function and return its result: None, an instance of `returns`, or a list of `list_items` that passes `check`.

    If the function raises an exception or returns another type, reports that and returns None, or raises a HookError for a required hook.
    """
    try:
        result = function(*args)
        if result is None:
            return None
        if list_items is None:
            entries = _single_result(result, returns)
        else:
            entries = list_of(result, list_items, f"a list of {list_items.__name__}")
        for entry in entries:
            _check_strings(entry)
        if check is not None:
            _check_entries(entries, check)
        return result if list_items is None else entries
    except Exception as error:
        outcome = f"returned {error}" if isinstance(error, WrongType) else f"raised {type(error).__name__}"
        outcome += f" ({error})" if isinstance(error, ForewordError) else ""
        name = getattr(function, "__name__", "a function")
        message = f"extension {extension.name!r}: {name} {outcome}"
        if any(getattr(extension, hook) is function for hook in extension.required):
            raise HookError(f"{message.rstrip(',')}; the extension requires it, so the turn was stopped") from error
        findings.append(finding("extension-failed", f"{message} and was skipped"))
        return None


def _single_result(result: Any, kind: type) -> list[Any]:
    if not isinstance(result, kind):
        name = kind.__name__
        raise WrongType(f"{type_in_words(result)}, not {name if name.endswith('s') else f'a {name}'},")
    return [result]


def _check_entries(entries: list[Any], check: Callable[[list[Any]], object]) -> None:
    try:
        check(entries)
    except CallError as error:
        raise WrongType(f"a list that cannot be used ({error}),") from None


def _check_strings(result: object) -> None:
    """Raise WrongType if a field of a result that must be a string is not one."""
    strings: list[object] = []
    if isinstance(result, Start):
        strings = [text for text in (result.prompt, result.message) if text is not None]
    elif isinstance(result, Document):
        strings = [result.path, result.text]
    elif isinstance(result, Resources):
        strings = [*list_of(result.skills, str, "Resources with a list of folders"), *result.packs.values()]
    invalid = [text for text in strings if not isinstance(text, str)]
    if invalid:
        raise WrongType(f"{type_in_words(result)} with {type_in_words(invalid[0])} instead of a string")


def run_checks(extensions: Sequence[Extension], prompt: Prompt) -> list[Finding]:
    """Run the extensions' checks on a prompt and return their findings."""
    findings: list[Finding] = []
    for extension in extensions:
        for check in extension.checks:
            findings.extend(run(extension, check, findings, prompt, list_items=Finding) or ())
    return findings
