"""What a caller can do wrong, and what Foreword answers: one sentence that says what would be right.

    ForewordError
    ├── CallError       an argument, option or setting that cannot be
    │   └── MissingError  it names something that is not there
    ├── LayoutError     a layout that says something the vocabulary does not know
    ├── TemplateError   a template that cannot be parsed or rendered
    ├── HookError       a hook that its extension requires has failed
    └── StoreError      the store cannot be reached, or refuses
        └── StaleError  someone else has written meanwhile

A user's file that is wrong is not an error but a Finding: work goes on.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any


class ForewordError(Exception):
    """The base of all; `str(error)` is one sentence for a person."""


class CallError(ForewordError):
    """An argument, option or setting that cannot be."""


class MissingError(CallError):
    """A directory, layout, template or skill was named that is not there."""


class LayoutError(ForewordError):
    """A layout that says something the vocabulary does not know."""


class TemplateError(ForewordError):
    """A template that cannot be parsed or rendered.

    Lines and columns count from 1, columns in code points; `end_column` is the column after the last character. All three are
    None where the error is about the template as a whole.
    """

    def __init__(
        self, message: str, line: int | None = None, column: int | None = None, end_column: int | None = None
    ) -> None:
        super().__init__(message)
        self.line, self.column, self.end_column = line, column, end_column


class HookError(ForewordError):
    """A hook that its extension requires has failed, so nothing may be sent to a model."""


class StoreError(ForewordError):
    """The store cannot be reached, or refuses."""


class StaleError(StoreError):
    """Someone else has written meanwhile: what was to be replaced is no longer the newest."""


def suggestion(given: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` where something known is close, else the list of all that is known."""
    from difflib import get_close_matches

    names = sorted(known)
    close = get_close_matches(given, names, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {close[0]!r}?"
    shown = names if len(names) <= _SHOWN else [*names[:_SHOWN], f"… ({len(names)} in all)"]
    return f"; known: {', '.join(shown)}" if names else ""


_SHOWN = 20


# Checks of arguments: a call that would go wrong later, or silently, is refused at once

# The roles of messages that a provider knows, and those that a turn turns into user messages.
ROLES = ("user", "assistant", "system", "developer", "tool", "function", "model")
OWN_ROLES = ("summary", "branch_summary", "execution", "custom")
WITH_CONTENT = ("user", "system", "developer", "tool")
PROVIDERS = ("anthropic", "openai", "gemini")
# What at least one provider accepts: Gemini takes dots and colons, the others letters, digits, `_` and `-`.
_IN_TOOL_NAMES = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:")
_LONGEST_TOOL_NAME = 128
_LONGEST_ID = 512


def expect(what: str, given: object, *kinds: type) -> None:
    """Refuse a value of another kind."""
    if not isinstance(given, kinds):
        names = " or ".join(kind.__name__ for kind in kinds)
        raise CallError(f"{what} must be {names}, not {type(given).__name__}")


def ordered(what: str, given: Any, kind: type | None = None) -> tuple[Any, ...]:
    """The entries of a list, tuple, generator or any other iterable that has an order, read once.

    A text would become its characters, and a set or a mapping has no order to keep.
    """
    if type(given) is not tuple:
        if isinstance(given, (str, bytes, bytearray)):
            raise CallError(f"{what} must be a list, not one {'text' if isinstance(given, str) else 'run of bytes'}")
        if isinstance(given, (set, frozenset)) or hasattr(given, "keys"):
            raise CallError(f"{what} must be a list or another iterable with an order, not {type(given).__name__}")
        try:
            entries = iter(given)
        except TypeError:
            raise CallError(f"{what} must be a list, not {type(given).__name__}") from None
        given = tuple(entries)
    if kind is not None:
        for each in given:
            if not isinstance(each, kind):
                raise CallError(f"{what} must be a list of {kind.__name__}, not of {type(each).__name__}")
    return tuple(given)


def expect_mapping(what: str, given: object) -> None:
    """Refuse what is not a mapping of names."""
    if given is not None and not (hasattr(given, "keys") and hasattr(given, "__getitem__")):
        raise CallError(f"{what} must be a mapping such as a dict, not {type(given).__name__}")


def check_id(id: str) -> None:
    """Refuse what cannot be the id of a conversation in a store or in the path of a request."""
    expect("the id of a conversation", id, str)
    if not 1 <= len(id) <= _LONGEST_ID:
        raise CallError(f"the id of a conversation has 1 to {_LONGEST_ID} characters; this one has {len(id)}")
    if not is_plain(id):
        raise CallError(
            f"the id of a conversation holds no control characters and no half surrogate pairs; {id!r} does"
        )


def is_plain(text: str) -> bool:
    """Whether a text is without control characters and surrogates."""
    if text.isprintable():
        return True
    return not any(each < " " or "\x7f" <= each <= "\x9f" or "\ud800" <= each <= "\udfff" for each in text)


def check_tool(name: object, schema: object) -> None:
    """Refuse the name of a tool that no provider accepts, and a schema that is not JSON Schema as a mapping."""
    expect("the name of a tool", name, str)
    text = str(name)
    if not text or len(text) > _LONGEST_TOOL_NAME or not _IN_TOOL_NAMES.issuperset(text):
        shown = text if len(text) <= 60 else f"{text[:60]}…"
        raise CallError(
            f"no provider accepts a tool named {shown!a}; a name has 1 to {_LONGEST_TOOL_NAME} letters, digits, '_', '-',"
            " '.' or ':'"
        )
    if schema is not None and (not hasattr(schema, "keys") or isinstance(schema, type)):
        hint = "; parse it with json.loads" if isinstance(schema, (str, bytes)) else ""
        raise CallError(
            f"the schema of the tool {text!r} must be a mapping (JSON Schema), not {type(schema).__name__}{hint}"
        )
    if schema:
        from json import dumps

        try:
            dumps(schema)
        except (TypeError, ValueError, RecursionError) as error:
            raise CallError(f"the schema of the tool {text!r} cannot be written as JSON: {error}") from None


def check_provider(name: str) -> None:
    """Refuse a misspelled provider. Others than the known ones exist, so only what resembles a known one is refused."""
    lower = name.lower()
    if not lower or lower in PROVIDERS:
        return
    from difflib import get_close_matches

    close = get_close_matches(lower, PROVIDERS, n=1, cutoff=0.8)
    if close:
        raise CallError(f"unknown provider {name!r}; did you mean {close[0]!r}?")


def check_text_form(what: str, text: str) -> None:
    """Refuse text that cannot be written as UTF-8."""
    if not text.isascii() and any("\ud800" <= each <= "\udfff" for each in text):
        raise CallError(f"{what} cannot be written as UTF-8: {text!a} holds half a character")


def check_moment(now: object) -> None:
    """Refuse a time that is not a datetime."""
    if now is not None and not (hasattr(now, "astimezone") and hasattr(now, "tzinfo")):
        raise CallError(f"now must be a datetime, not {type(now).__name__}")


def check_message(message: object) -> None:
    """Refuse a message of the user that is not a text."""
    if not isinstance(message, str):
        hint = "; pass earlier messages as messages=[…]" if isinstance(message, (list, tuple, dict)) else ""
        raise CallError(f"the message must be a text, not {type(message).__name__}{hint}")


def checked_messages(messages: Any) -> tuple[Mapping[str, Any], ...]:
    """The history as a tuple of messages in the form of a provider; what a model could not be sent is refused."""
    history = ordered("messages", messages)
    for number, each in enumerate(history, 1):
        _check_entry(each, number)
    return history


def _check_entry(each: Any, number: int) -> None:
    if not hasattr(each, "keys") or not hasattr(each, "get"):
        convert = next((name for name in ("model_dump", "to_dict", "dict") if hasattr(each, name)), "")
        hint = f"; pass message.{convert}()" if convert else ', such as {"role": "user", "content": "…"}'
        raise CallError(f"message {number} must be a mapping, not {type(each).__name__}{hint}")
    role = each.get("role")
    if role is None and isinstance(each.get("type"), str):
        return  # an item of OpenAI's Responses API: a call, its output, reasoning
    if not isinstance(role, str) or role not in ROLES + OWN_ROLES:
        from .errors import suggestion

        if not isinstance(role, str):
            raise CallError(f"message {number} has no role; known roles: {', '.join(ROLES + OWN_ROLES)}")
        raise CallError(f"message {number} has the unknown role {role!r}{suggestion(role, ROLES + OWN_ROLES)}")
    content = each.get("content")
    if content is not None and not isinstance(content, (str, list, tuple)):
        raise CallError(f"the content of message {number} must be a text or a list, not {type(content).__name__}")
    if content is None and role in WITH_CONTENT and "parts" not in each:
        raise CallError(f"message {number} ({role}) has no content")
    for part in content if isinstance(content, (list, tuple)) else ():
        if part is None or isinstance(part, (int, float, list, tuple)):
            raise CallError(f"the content of message {number} must be a list of blocks, not of {type(part).__name__}")


def check_turn(function: str, turn: Any, kind: type) -> None:
    """Refuse what is not a turn where a request for a provider is made."""
    if not isinstance(turn, kind):
        raise CallError(
            f"{function} takes a Turn, as Conversation.turn gives it (Conversations().open(…).turn(…)), not {type(turn).__name__}"
        )


def pairs(what: str, given: Sequence[Any]) -> tuple[tuple[str, Any], ...]:
    """Pairs of a name and its content, each as a tuple."""
    entries = ordered(what, given)
    for each in entries:
        if not isinstance(each, (tuple, list)) or len(each) != 2 or not isinstance(each[0], str):
            raise CallError(f"{what} must be a list of pairs (name, content); {each!r} is not one")
    return tuple((name, content) for name, content in entries)
