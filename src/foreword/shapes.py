"""Validate nested data: whether a value is of the right kind, and whether a mapping has only known keys.

Layouts, settings, prices and agents come from files and requests. Each has a table of its keys and their kinds, and every error says
where the value is, what it must be and what it is.
"""

from __future__ import annotations

from .errors import CallError, show, suggestion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    Kind = tuple[str, Callable[[Any], bool]]  # its description, and the test


def is_list_of_strings(content: Any) -> bool:
    return isinstance(content, list | tuple) and all(isinstance(entry, str) for entry in content)


STRING: Kind = ("a string", lambda content: isinstance(content, str))
NAME: Kind = ("a string that is not blank", lambda content: isinstance(content, str) and bool(content.strip()))
STRINGS: Kind = ("a list of strings", is_list_of_strings)
SWITCH: Kind = ("true or false", lambda content: isinstance(content, bool))
WHOLE_NUMBER: Kind = ("a whole number", lambda content: type(content) is int)
COUNT: Kind = ("a whole number above zero", lambda content: type(content) is int and content > 0)
SIZE: Kind = ("a whole number", lambda content: type(content) is int and 0 <= content < 1 << 40)
# Written so that NaN is rejected too.
AMOUNT: Kind = ("a number from 0 to 1e9", lambda content: type(content) in (int, float) and 0 <= content < 1e9)
LIST: Kind = ("a list", lambda content: isinstance(content, list | tuple))
TABLE: Kind = ("a table of keys", lambda content: isinstance(content, dict))
TABLES: Kind = ("a table of tables", lambda content: TABLE[1](content) and all(map(TABLE[1], content.values())))
OBJECT: Kind = ("an object", TABLE[1])


def one_of(*choices: str) -> Kind:
    """Return the kind for strings that are one of these choices."""
    return f"one of {', '.join(choices)}", lambda content: isinstance(content, str) and content in choices


def check(content: Any, kind: Kind, name: str, error: type[Exception] = CallError) -> None:
    """Raise an error if a value is not of this kind. `name` says where the value is."""
    expected, fits = kind
    if not fits(content):
        hint = ""
        if expected.startswith("one of ") and isinstance(content, str):
            hint = suggestion(content, expected.removeprefix("one of ").split(", "))
        raise error(f"{name} must be {expected}, not {show(content)}{hint if '?' in hint else ''}")


def check_table(
    table: Any,
    kinds: Mapping[str, Kind],
    name: str = "",
    error: type[Exception] = CallError,
    required: Iterable[str] = (),
    also: Iterable[str] = (),
    kind: Kind = TABLE,
) -> None:
    """Raise an error unless a value is a table with only known keys, all required keys, and values of the right kinds.

    `also` contains keys that are checked elsewhere but may be suggested for a misspelled one. `kind` describes the table itself.
    """
    check(table, kind, name, error)
    prefix = f"{name}: " if name else ""
    for key, content in table.items():
        if key not in kinds:
            raise error(f"{prefix}unknown key {show(key)}{suggestion(str(key), (*kinds, *also))}")
        check(content, kinds[key], prefix + key, error)
    for key in required:
        if key not in table:
            raise error(f"{prefix}the key {key!r} is missing")
