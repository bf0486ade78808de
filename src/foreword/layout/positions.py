"""Find the line of a layout's TOML that an error is about. Every error names its key, such as `section.base.text`."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_TABLE = re.compile(r"\s*(\[\[?)\s*([^\[\]#]+?)\s*\]\]?")
_KEY = re.compile(r"\s*((?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*'))*)\s*=")
_QUOTES = ('"""', "'''")


def position_of(text: str, message: str) -> tuple[int, int, int] | None:
    """Return the line, column and end column of the most specific key that a message names, or None if it names none.

    A message may quote the last part of the key: "section.base: unknown key 'txt'".
    """
    best: tuple[int, int, int] | None = None
    best_length = 0
    for key, position in _keys(text):
        table, _, name = key.rpartition(".")
        is_quoted = repr(name) in message and (not table or _names(message, table))
        if len(key) > best_length and (_names(message, key) or is_quoted):
            best, best_length = position, len(key)
    return best


def _names(message: str, key: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(key)}(?!\w)", message) is not None


def _keys(text: str) -> Iterator[tuple[str, tuple[int, int, int]]]:
    """Yield the full name and the position of each table and key. The second `[[guideline]]` is named `guideline 2`."""
    table, quotes = "", ""
    rows: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if quotes:
            quotes = "" if quotes in line else quotes
            continue
        if match := _TABLE.match(line):
            table = _plain(match[2])
            if match[1] == "[[":
                rows[table] = rows.get(table, 0) + 1
                table = f"{table} {rows[table]}"
            yield table, (number, match.start(2) + 1, match.end(2) + 1)
        elif match := _KEY.match(line):
            key = _plain(match[1])
            yield f"{table}.{key}" if table else key, (number, match.start(1) + 1, match.end(1) + 1)
        quotes = next((mark for mark in _QUOTES if line.count(mark) % 2), "")


def _plain(key: str) -> str:
    """Return a key without quotation marks and spaces."""
    return ".".join(part.strip().strip("\"'") for part in key.split("."))
