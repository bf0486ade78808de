"""Parse TOML from untrusted files and requests."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_DOTS = 200
MAX_DEPTH = 100
_DOTS = re.compile(r"\.+")
_ONE_STRING = re.compile(r'([ \t]*[A-Za-z0-9_.-]+[ \t]*=)[ \t]*"[^"\\]*(?:\\.[^"\\]*)*"[ \t\r]*')


def load_toml(text: str) -> dict[str, Any]:
    """Parse TOML. Raises a ValueError or RecursionError if it is invalid.

    The time that the parser needs grows with the square of the parts of a dotted key, so a line must not have many.
    """
    import tomllib

    if text.count(".") > MAX_DOTS:
        for number, line in enumerate(text.split("\n"), 1):
            if line.count(".") > MAX_DOTS and _count_dots(line) > MAX_DOTS:
                raise ValueError(f"a line has more than {MAX_DOTS} dots (at line {number}, column 1)")
    content = tomllib.loads(text)
    if _is_deep(content):
        raise ValueError(f"its tables and arrays are nested more than {MAX_DEPTH} levels deep")
    return content


def _is_deep(content: dict[str, Any]) -> bool:
    level: list[Any] = [content]
    for _ in range(MAX_DEPTH):
        parts = (part for outer in level for part in (outer.values() if isinstance(outer, dict) else outer))
        level = [part for part in parts if isinstance(part, (dict, list))]
        if not level:
            return False
    return True


def _count_dots(line: str) -> int:
    """Return how many dots may be part of keys. Several in a row count once."""
    string = _ONE_STRING.fullmatch(line)
    return len(_DOTS.findall(string[1] if string and "'''" not in line else line))
