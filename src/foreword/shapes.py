"""Validates nested data: whether a value has the right shape, and whether a mapping has only known keys.

Layouts, settings, prices and agents come from files and requests. Each has a table of its keys and their shapes, and every error says
where the value is, what it must be and what it is.
"""

from __future__ import annotations

from .errors import CallError, ForewordError, show, suggestion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    Shape = tuple[str, Callable[[Any], bool]]  # its description, and the test


def is_list_of_strings(content: Any) -> bool:
    return isinstance(content, list | tuple) and all(isinstance(entry, str) for entry in content)


STRING: Shape = ("a string", lambda content: isinstance(content, str))
NAME: Shape = ("a string that is not blank", lambda content: isinstance(content, str) and bool(content.strip()))
STRINGS: Shape = ("a list of strings", is_list_of_strings)
NAMES: Shape = (
    "a list of strings that are not blank",
    lambda content: is_list_of_strings(content) and all(map(str.strip, content)),
)
SWITCH: Shape = ("true or false", lambda content: isinstance(content, bool))
WHOLE_NUMBER: Shape = ("a whole number", lambda content: type(content) is int)
COUNT: Shape = ("a whole number above zero", lambda content: type(content) is int and content > 0)
SIZE: Shape = ("a whole number", lambda content: type(content) is int and 0 <= content < 1 << 40)
# The comparison also rejects NaN.
AMOUNT: Shape = ("a number from 0 to 1e9", lambda content: type(content) in (int, float) and 0 <= content < 1e9)
LIST: Shape = ("a list", lambda content: isinstance(content, list | tuple))
TABLE: Shape = ("a table of keys", lambda content: isinstance(content, dict))
TABLES: Shape = ("a table of tables", lambda content: TABLE[1](content) and all(map(TABLE[1], content.values())))
OBJECT: Shape = ("an object", TABLE[1])


def one_of(*choices: str) -> Shape:
    """Return the shape of strings that are one of these choices."""
    return f"one of {', '.join(choices)}", lambda content: isinstance(content, str) and content in choices


def check(content: Any, shape: Shape, name: str, error: type[ForewordError] = CallError, key: str = "") -> None:
    """Raise an error unless a value has this shape. `name` says where the value is, and `key` is its dotted key, if that differs."""
    expected, fits = shape
    if not fits(content):
        hint = ""
        if expected.startswith("one of ") and isinstance(content, str):
            hint = suggestion(content, expected.removeprefix("one of ").split(", "))
        raise error(f"{name} must be {expected}, not {show(content)}{hint if '?' in hint else ''}").at(key or name)


def check_table(
    table: Any,
    shapes: Mapping[str, Shape],
    name: str = "",
    error: type[ForewordError] = CallError,
    required: Iterable[str] = (),
    extra_keys: Iterable[str] = (),
    shape: Shape = TABLE,
) -> None:
    """Raise an error unless a value is a table with only known keys, all required keys, and values of the right shapes.

    `extra_keys` contains keys that are checked elsewhere but may be suggested for a misspelled one. `shape` describes the table itself.
    """
    check(table, shape, name, error)
    prefix = f"{name}: " if name else ""
    for key, content in table.items():
        full_key = f"{name}.{key}" if name else key
        if key not in shapes:
            hint = suggestion(str(key), (*shapes, *extra_keys))
            raise error(f"{prefix}unknown key {show(key)}{hint}").at(full_key)
        check(content, shapes[key], prefix + key, error, full_key)
    for key in required:
        if key not in table:
            raise error(f"{prefix}the key {key!r} is missing").at(name)
