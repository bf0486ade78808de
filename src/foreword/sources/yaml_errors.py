"""Explain the YAML parser's error messages."""

from __future__ import annotations

import re

_ERROR_POSITION = r" at line (\d+) column \d+"

_HINTS = {
    "mapping values are not allowed in this context": "a value that contains a colon and a space needs quotes",
    "did not find expected key": "a value that continues after a closing bracket or quote needs quotes around it",
    "did not find expected alphabetic or numeric character": "a value that begins with * or & needs quotes, and a quote above it may not be closed",
    "found character that cannot start any token": "a value that begins with such a character needs quotes",
}


def explain_yaml_error(error: str) -> tuple[str, int]:
    """Return the parser's error message without positions, with a hint if there is one, and the line in the file."""
    position = re.search(_ERROR_POSITION, error)
    reason = error[: position.start()] if position else error.partition(", while ")[0]
    if "unhashable" in reason:
        reason = "a field's name is a list or a set of fields"
    hint = _HINTS.get(reason)
    short_reason = reason if len(reason) <= 80 else reason[:79] + "…"
    return f"{short_reason}: {hint}" if hint else short_reason, int(position[1]) + 1 if position else 1
