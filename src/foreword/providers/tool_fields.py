"""Reject tool fields that a provider or model does not accept, because otherwise they would be dropped silently."""

from __future__ import annotations

from ..errors import CallError, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

_FIELDS = ("type", "defer", "strict", "allowed_callers")
# Why a provider does not accept a field, to follow its name.
_REASONS = {
    "type": "has no tools of this type",
    "description": "describes its own tools itself",
    "defer": "cannot defer tools",
    "strict": "cannot enforce a tool's schema",
    "allowed_callers": "cannot restrict who calls a tool",
}


class UnsupportedToolError(CallError):
    """A provider does not accept one of a tool's fields."""


def reject_tool_fields(where: str, tools: Iterable[Mapping[str, Any]], fields: Iterable[str], hint: str = "") -> None:
    """Raise an UnsupportedToolError if a tool sets one of these fields, which `where` does not accept."""
    for tool in tools:
        for field in fields:
            if tool.get(field):
                raise UnsupportedToolError(
                    f"{where} {_REASONS[field]}, but the tool {tool['name']!r} sets {field}={show(tool[field])}; "
                    + (hint or "remove it, or leave out the tool")
                )


def without_tool_fields(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's definition with only the fields that every provider accepts."""
    return {key: content for key, content in tool.items() if key not in (*_FIELDS, "options")}
