"""Parses JSON files that a caller names. `json` is loaded only to say what is wrong with one: it compiles seven patterns."""

from __future__ import annotations

from ..errors import CallError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


def _reject_constant(name: str) -> NoReturn:
    """Reject `NaN` and infinities, which Python's parser accepts although they are not valid JSON."""
    raise ValueError(name)


class _Settings:
    """The settings of the scanner that `json` uses, by the names of `json.JSONDecoder`."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, _reject_constant


def parse_json(text: str, name: str) -> Any:
    """Return the value that a JSON text contains. Raises a CallError with this name if it is not valid."""
    content = text.strip(" \t\n\r")
    try:
        from _json import make_scanner

        value, end = make_scanner(_Settings)(content, 0)  # type: ignore[arg-type,unused-ignore]
        if end == len(content):
            return value
    except Exception:
        pass
    return _parse_with_json(text, name)


def _parse_with_json(text: str, name: str) -> Any:
    import json

    try:
        return json.loads(text, parse_constant=_reject_constant)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise CallError(f"{name}: the file is not valid JSON{where}") from None
