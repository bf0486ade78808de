"""Find the position of a key in a layout's TOML, for errors about that key."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_TABLE = re.compile(r"\s*(\[\[?)\s*([^\[\]#]+?)\s*\]\]?")
_KEY = re.compile(r"\s*((?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*'))*)\s*=")
_QUOTES = ('"""', "'''")


def position_of(text: str, key: str) -> tuple[int, int, int] | None:
    """Return the line, column and end column of a key such as `section.base.text`, or of the innermost table around it.

    Returns None if the text contains neither.
    """
    positions = dict(_keys(text))
    while key and key not in positions:
        key = key.rpartition(".")[0]
    return positions.get(key)


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
