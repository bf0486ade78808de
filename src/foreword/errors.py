"""The errors that Foreword raises, and argument checks. Each message is one sentence that says what would be accepted.

    ForewordError
    ├── CallError         an invalid argument, option or setting
    │   └── MissingError  a directory, layout, template or skill that does not exist
    ├── LayoutError       an invalid layout
    ├── TemplateError     a template that cannot be used
    │   ├── TemplateSyntaxError  it cannot be parsed, or includes a template that it cannot include
    │   └── TemplateRenderError  it cannot be rendered: a name is undefined, or it needs too much time or memory
    ├── HookError         a required hook of an extension failed
    └── StoreError        the store cannot be reached or refuses an operation
        ├── StoreBusyError  it can be reached, but did not complete this call in time
        └── StaleError    someone else wrote in the meantime

An invalid file in the workspace does not raise an error: it is reported as a Finding, and the prompt is still built.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Self


class ForewordError(Exception):
    """The base class of all errors. `str(error)` is one sentence for a person.

    `key` is the dotted key of the layout, setting or request that is wrong, such as `section.base.text`. It is empty if the error is not
    about a key.

    If a list of valid names would help, `listing` says what it contains: `templates`, `conversations`, `prompts` or `keys`. The command
    line adds the command that prints the list, and the service adds the route that returns it.

    >>> try:
    ...     assemble(Workspace("."), layout="opel")
    ... except ForewordError as error:
    ...     print(error)
    unknown layout 'opel'; did you mean 'opal'? (for a file, pass its path, such as ./own.toml)
    """

    key = ""
    listing = ""

    def at(self, key: str) -> Self:
        """Set the key that this error is about, and return the error."""
        self.key = key
        return self

    def with_list(self, listing: str) -> Self:
        """Set what a list of valid names contains, and return the error."""
        self.listing = listing
        return self


class CallError(ForewordError):
    """An argument, option or setting is invalid.

    >>> try:
    ...     Agent(role="chief")
    ... except CallError as error:
    ...     print(error)
    Agent.role must be 'main' or 'sub', not 'chief'
    """


class MissingError(CallError):
    """A directory, layout, template or skill does not exist.

    >>> try:
    ...     Assembler(Workspace("."), "foreword").skill("deploy")
    ... except MissingError as error:
    ...     print(error)
    no skill 'deploy'; no skills were found
    """


class MirrorError(CallError):
    """A conversation would use a layout that mirrors a released program, and the caller has not allowed that."""


class LayoutError(ForewordError):
    """A layout is invalid: a key is unknown, or a value is invalid.

    If its TOML is invalid, `line` and `column` say where, counting from 1; otherwise they are None.

    >>> try:
    ...     assemble(Workspace("."), assignments=[("sections", 5)])
    ... except LayoutError as error:
    ...     print(error)
    layout foreword: sections must be a list of strings, not 5
    """

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line, self.column = line, column


class TemplateError(ForewordError):
    """A template cannot be parsed or rendered.

    `line` and `column` count from 1, columns in code points; `end_column` is the column after the last character. All three are
    None if the error is about the template as a whole. `message` does not contain the position, and `str(error)` does.

    >>> TemplateError("a tag is not closed", 3, 7).line
    3
    """

    def __init__(
        self, message: str, line: int | None = None, column: int | None = None, end_column: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.line, self.column, self.end_column = line, column, end_column

    def __str__(self) -> str:
        if self.line is None:
            return self.message
        sentence, newline, excerpt = self.message.partition("\n")
        return f"{sentence} (line {self.line}, column {self.column}){newline}{excerpt}"


class TemplateSyntaxError(TemplateError):
    """A template cannot be parsed, or something that it includes is missing or includes it. It fails with any values.

    >>> str(TemplateSyntaxError("a tag is not closed", 3, 7))
    'a tag is not closed (line 3, column 7)'
    """


class TemplateRenderError(TemplateError):
    """A template cannot be rendered with these values: a name is undefined, an expression is invalid, or the output is too long.

    >>> TemplateRenderError("the output is too long").line is None
    True
    """


class HookError(ForewordError):
    """A required hook of an extension failed, so nothing may be sent to a model.

    >>> issubclass(HookError, ForewordError)
    True
    """


class StoreError(ForewordError):
    """The store cannot be reached or refuses an operation.

    >>> issubclass(StoreError, ForewordError)
    True
    """


class StoreBusyError(StoreError):
    """The store can be reached but did not complete this call in time: a row or the file was locked, or all connections were in use.

    >>> issubclass(StoreBusyError, StoreError)
    True
    """


class ForgottenError(StoreError):
    """The conversation or edition to change is not in the store, for example because it was removed in the meantime."""


class StaleError(StoreError):
    """Someone else wrote in the meantime, so the version to replace is no longer the newest.

    >>> issubclass(StaleError, StoreError)
    True
    """


def similar_name(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the known name that is most similar, or an empty string if none is: `cutoff` is the least share of equal characters."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, sorted(known), n=1, cutoff=cutoff)), "")


def suggestion(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return `; did you mean 'x'?` if a known name is similar, otherwise a list of the known names."""
    names = sorted(known)
    similar = similar_name(name, names, cutoff)
    if similar:
        return f"; did you mean {similar!r}?"
    shown = names if len(names) <= _MAX_NAMES else [*names[:_MAX_NAMES], f"… ({len(names)} in all)"]
    return f"; known: {', '.join(shown)}" if names else ""


_MAX_NAMES = 20


def show(content: Any) -> str:
    """Return a value's repr in at most 80 characters."""
    try:
        text = repr(content)
    except ValueError:  # Python refuses to print a number with this many digits
        return "a very long number"
    except RecursionError:
        return "a value that is nested too deeply"
    return text if len(text) <= 80 else text[:79] + "…"


# Argument checks: a call that would fail later, or silently do the wrong thing, fails immediately

# The roles that providers accept, and those that a turn converts to user messages.
ROLES = ("user", "assistant", "system", "developer", "tool", "function", "model")
CONVERTED_ROLES = ("summary", "branch_summary", "execution", "custom")
ROLES_WITH_CONTENT = ("user", "system", "developer", "tool")
ROLES_WITH_TEXT = ("summary", "branch_summary", "custom")
# A tool may return nothing, and a model's message may have only calls or nothing at all.
ROLES_NOT_BLANK = ("user", "system", "developer", *ROLES_WITH_TEXT)
# The keys of a block of text, some of them only if a model wrote it.
TEXT_KEYS = frozenset(("type", "text", "cache_control", "citations", "annotations", "logprobs"))
# Each API of a provider, by the name that a client of the service uses, with the ends of its endpoints' paths. The part before the
# hyphen names the provider and its module; the function in it is named after the whole API.
APIS = {
    "anthropic": ("/messages",),
    "openai-responses": ("/responses",),
    "openai-chat": ("/chat/completions",),
    "gemini": (":generateContent", ":streamGenerateContent"),
    "bedrock": ("/converse",),
}
PROVIDERS = tuple(dict.fromkeys(api.partition("-")[0] for api in APIS))
# The values of `sys.platform`, without versions.
PLATFORMS = (
    *("aix", "android", "cygwin", "darwin", "dragonfly", "emscripten", "freebsd", "gnu", "haiku", "ios", "linux"),
    *("netbsd", "openbsd", "sunos", "wasi", "win32"),
)
_OTHER_PLATFORM_NAMES = {
    **dict.fromkeys(("windows", "win", "win64", "nt"), "win32"),
    **dict.fromkeys(("macos", "mac", "osx", "mac os", "os x"), "darwin"),
}
_MAX_ID_LENGTH = 512


def expect(name: str, content: object, *kinds: type) -> None:
    """Raise a CallError unless a value has one of these types."""
    if not isinstance(content, kinds):
        type_names = " or ".join(kind.__name__ for kind in kinds)
        raise CallError(f"{name} must be {type_names}, not {type(content).__name__}")


def path_text(name: str, content: Any) -> str:
    """Convert a string or an `os.PathLike` to a string."""
    text = content.__fspath__() if hasattr(content, "__fspath__") and not isinstance(content, type) else content
    if not isinstance(text, str):
        raise CallError(f"{name} must be a string or a path, not {type(content).__name__}")
    return text


def check_workspace(fields: dict[str, Any]) -> None:
    """Raise a CallError if a workspace's field has the wrong type. `os.PathLike` paths are converted to strings."""
    for name in ("cwd", "root", "home"):
        if name == "cwd" or fields[name] is not None:
            fields[name] = path_text(f"Workspace.{name}", fields[name])
    if fields["platform"] is not None:
        expect("Workspace.platform", fields["platform"], str)
        if problem := describe_unknown_platform(fields["platform"]):
            raise CallError(f"Workspace.platform: {problem}")
    expect_mapping("Workspace.environment", fields["environment"])


def describe_unknown_platform(name: str) -> str:
    """Return what is wrong with the name of a platform, or empty if `sys.platform` may have this value on some system."""
    if not name or name in PLATFORMS or name.rstrip(".0123456789") in PLATFORMS:
        return ""
    meant = _OTHER_PLATFORM_NAMES.get(name.lower()) or (name.lower() if name.lower() in PLATFORMS else "")
    hint = f"; did you mean {meant!r}?" if meant else suggestion(name, PLATFORMS)
    return f"{show(name)} is not the name of a platform as in sys.platform{hint}"


def to_tuple(name: str, content: Any, kind: type | None = None) -> tuple[Any, ...]:
    """Return the entries of a list, tuple, generator or other ordered iterable, which is read once.

    Strings are rejected because they would be split into characters, and sets and mappings because they are not lists.
    """
    if type(content) is not tuple:
        if isinstance(content, (str, bytes, bytearray)):
            raise CallError(f"{name} must be a list, not a single {type(content).__name__}")
        if isinstance(content, (set, frozenset)) or hasattr(content, "keys"):
            raise CallError(f"{name} must be a list or another ordered iterable, not {type(content).__name__}")
        try:
            entries = iter(content)
        except TypeError:
            raise CallError(f"{name} must be a list, not {type(content).__name__}") from None
        content = tuple(entries)
    if kind is not None:
        for entry in content:
            if not isinstance(entry, kind):
                raise CallError(f"{name} must be a list of {kind.__name__}, not of {type(entry).__name__}")
    return tuple(content)


def expect_mapping(name: str, content: object) -> None:
    """Raise a CallError unless a value is a mapping or None."""
    if content is not None and not (hasattr(content, "keys") and hasattr(content, "__getitem__")):
        raise CallError(f"{name} must be a mapping such as a dict, not {type(content).__name__}")


def check_id(id: str) -> None:
    """Raise a CallError if a string cannot be a conversation's id in a store or in a request's path."""
    expect("the id of a conversation", id, str)
    if not 1 <= len(id) <= _MAX_ID_LENGTH:
        raise CallError(f"the id of a conversation must have 1 to {_MAX_ID_LENGTH} characters, not {len(id)}")
    if not is_plain(id):
        raise CallError(f"the id of a conversation must not contain control characters or lone surrogates: {show(id)}")


def is_id(text: str) -> bool:
    """Whether a string can be a conversation's id."""
    return 1 <= len(text) <= _MAX_ID_LENGTH and is_plain(text)


def is_plain(text: str) -> bool:
    """Whether a string has neither control characters nor surrogates."""
    if text.isprintable():
        return True
    return not any(
        character < " " or "\x7f" <= character <= "\x9f" or "\ud800" <= character <= "\udfff" for character in text
    )


def check_provider(name: str) -> None:
    """Raise a CallError if a provider's name is misspelled. Any unknown name is accepted unless it resembles a known one."""
    lower = name.lower()
    if not lower or lower in PROVIDERS:
        return
    from difflib import get_close_matches

    close = get_close_matches(lower, PROVIDERS, n=1, cutoff=0.8)
    if close:
        raise CallError(f"unknown provider {show(name)}; did you mean {close[0]!r}?")


def check_unique_names(tools: Iterable[Any]) -> None:
    """Raise a CallError if two tools have the same name."""
    names = [tool.name for tool in tools]
    if len(set(names)) < len(names):
        twice = max(names, key=names.count)
        raise CallError(f"two tools are named {twice!r}; a model calls a tool by its name, so names must be unique")


def check_servers(servers: Any) -> None:
    """Raise a CallError unless a value maps names of MCP servers to their instructions."""
    expect_mapping("Agent.servers", servers)
    for name, text in servers.items():
        expect("the name of a server", name, str)
        expect(f"the instructions of the server {name!r}", text, str)
        if not name.strip() or not is_plain(name):
            raise CallError(f"the name of a server must not be blank or contain control characters: {show(name)}")


def check_encodable(name: str, text: str) -> None:
    """Raise a CallError if a string cannot be encoded as UTF-8."""
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise CallError(f"{name} cannot be encoded as UTF-8: {text!a} has a lone surrogate")


def check_time(now: object) -> None:
    """Raise a CallError unless a time is None or a datetime with a time zone."""
    if now is None:
        return
    utcoffset = getattr(now, "utcoffset", None)
    if utcoffset is None or not hasattr(now, "astimezone"):
        raise CallError(f"now must be a datetime, not {type(now).__name__}")
    if utcoffset() is None:
        raise CallError(
            f"now has no time zone: {now!r}; pass datetime.now(UTC), or now.astimezone() if it is this machine's local time"
        )


def check_message(message: object, *, may_be_empty: bool = True) -> None:
    """Raise a CallError unless the user's message is a string with more than white space, or empty if it may be."""
    if not isinstance(message, str):
        hint = "; pass earlier messages as messages=[…]" if isinstance(message, (list, tuple, dict)) else ""
        raise CallError(f"the message must be a string, not {type(message).__name__}{hint}")
    if not message and not may_be_empty:
        raise CallError("the message is empty; pass what the user says")
    if message.isspace():
        raise CallError(f"the message {show(message)} contains only white space, which providers refuse; omit it")


def check_messages(messages: Any) -> tuple[Mapping[str, Any], ...]:
    """Return the messages as a tuple. Raises a CallError if one of them could not be sent to a model."""
    history = to_tuple("messages", messages)
    for number, message in enumerate(history, 1):
        _check_is_mapping(message, number)
        if message.get("role") is None and isinstance(message.get("type"), str):
            continue  # an item of OpenAI's Responses API: a call, its output, reasoning
        _check_role(message.get("role"), number)
        _check_content(message, number)
    return history


def _check_is_mapping(message: Any, number: int) -> None:
    if not hasattr(message, "keys") or not hasattr(message, "get"):
        converter = next((name for name in ("model_dump", "to_dict", "dict") if hasattr(message, name)), "")
        hint = f"; pass message.{converter}()" if converter else ', such as {"role": "user", "content": "…"}'
        raise CallError(f"message {number} must be a mapping, not {type(message).__name__}{hint}")


def _check_role(role: Any, number: int) -> None:
    known = ROLES + CONVERTED_ROLES
    if role in known:
        return
    problem = f"the unknown role {show(role)}" if isinstance(role, str) else "no role"
    similar = similar_name(role, known) if isinstance(role, str) else ""
    hint = f"did you mean {similar!r}?" if similar else f"known roles: {', '.join(known)}"
    raise CallError(f"message {number} has {problem}; {hint}")


def _check_content(message: Mapping[str, Any], number: int) -> None:
    content, role = message.get("content"), message["role"]
    if role == "execution":
        _check_execution(message, number)
    if content is None:
        if role in ROLES_WITH_TEXT or (role in ROLES_WITH_CONTENT and "parts" not in message):
            raise CallError(f"message {number} ({role}) has no content")
    elif isinstance(content, (list, tuple)):
        for block in content:
            if block is None or isinstance(block, (int, float, list, tuple)):
                kind = type(block).__name__
                raise CallError(f"the content of message {number} must be a list of blocks, not of {kind}")
    elif not isinstance(content, str):
        raise CallError(f"the content of message {number} must be a string or a list, not {type(content).__name__}")
    if role in ROLES_NOT_BLANK and is_blank_content(message.get("parts") if content is None else content):
        raise CallError(f"message {number} ({role}) is blank, which providers refuse; leave it out")


def is_blank_content(content: Any) -> bool:
    """Whether the content of a message is nothing but white space: a string, or a list without any other block than blank text."""
    if isinstance(content, str):
        return not content or content.isspace()
    return isinstance(content, (list, tuple)) and all(map(is_blank_block, content))


def is_blank_block(block: Any) -> bool:
    """Whether a block of a message is nothing but text that is only white space. Gemini's may have a signature to send back."""
    if hasattr(block, "keys"):
        block = block.get("text") if TEXT_KEYS.issuperset(block) else None
    return isinstance(block, str) and (not block or block.isspace())


def _check_execution(message: Mapping[str, Any], number: int) -> None:
    command, output = message.get("command"), message.get("output")
    if not isinstance(command, str) or not command.strip():
        raise CallError(f"message {number} (execution) has no command; pass the command that the user ran as a string")
    if output is not None and not isinstance(output, str):
        raise CallError(f"the output of message {number} must be a string, not {type(output).__name__}")


def check_turn(function: str, turn: Any, kind: type) -> None:
    """Raise a CallError unless a provider function's argument is a Turn that begins with the messages of its prompt."""
    checked: Any = turn
    if not isinstance(turn, kind):
        raise CallError(
            f"{function} takes a Turn, the result of Conversation.turn (Conversations().open(…).turn(…)), not {type(turn).__name__}"
        )
    if not checked.messages:
        raise CallError(
            f"{function}: the turn has no messages, and providers refuse such a request; pass what the user says, as in"
            ' conversation.turn("fix the failing test"), or the history as messages=[…]'
        )
    count = len(checked.leading)
    leading = checked.messages[:count]
    if len(leading) < count or not all(isinstance(message.get("content"), str) for message in leading):
        raise CallError(
            f"{function}: the first {count} messages of the turn must be those of its prompt (turn.leading);"
            " add yours after them, or replace leading too"
        )


def to_pairs(name: str, content: Sequence[Any]) -> tuple[tuple[str, Any], ...]:
    """Return pairs of a name and its content, as tuples. Raises a CallError if an entry is not such a pair."""
    entries = to_tuple(name, content)
    for entry in entries:
        if not isinstance(entry, (tuple, list)) or len(entry) != 2 or not isinstance(entry[0], str):
            raise CallError(f"{name} must be a list of pairs (name, content); {show(entry)} is not one")
    return tuple((name, content) for name, content in entries)


def check_trust(trust: Any) -> Any:
    """Return a mode of trust, or a function that decides about files. Raises a CallError for anything else."""
    if trust in ("", "off", "record", "ask") or callable(trust):
        return trust
    raise CallError(f"trust must be one of off, record, ask, or a function, not {trust!r}")


def check_untrusted(untrusted: Any) -> str:
    """Return what happens to untrusted files. Raises a CallError if it is not a known choice."""
    if untrusted in ("", "drop", "user"):
        return str(untrusted)
    raise CallError(f"untrusted must be drop or user, not {untrusted!r}")
