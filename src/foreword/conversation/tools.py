"""Convert tool definitions to and from their stored form: JSON in a stable order. Pure."""

from __future__ import annotations

import json

from ..encoding.edition import parse_tools, tool_rows
from ..errors import CallError
from ..vocabulary import Edition
from ..vocabulary.tools import Tool, tool_definition, tool_from
from .state import state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


def serialize_tools(tools: Iterable[Tool]) -> str:
    """Write tool definitions as JSON, sorted by name. A provider caches them before everything else, so their order must not vary."""
    rows = {tool.name: tool_definition(tool) for tool in tools}
    ordered = [rows[name] for name in sorted(rows)]
    try:
        return json.dumps(ordered, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError:
        raise CallError(
            f"the schema or options of {_invalid_tool(ordered)} cannot be written as JSON: they contain NaN, an infinity or"
            " themselves"
        ) from None


def _invalid_tool(rows: Iterable[Mapping[str, Any]]) -> str:
    """Name the tool that cannot be written as JSON, for an error message."""
    for row in rows:
        try:
            json.dumps(row, allow_nan=False)
        except ValueError:
            return f"the tool {row['name']!r}"
    return "a tool"


def tools_by_name(definitions: str) -> dict[str, Any]:
    """Return tool definitions by name, from their JSON."""
    return {row["name"]: row for row in parse_tools(definitions)}


def are_same_tools(one: str, other: str) -> bool:
    """Whether two JSON texts define the same tools, in any order."""
    return one == other or tools_by_name(one) == tools_by_name(other)


def with_new_tools(known: str, latest: str) -> str:
    """Return the known definitions unchanged, followed by those of new tools."""
    old = parse_tools(known)
    names = {row["name"] for row in old}
    rows = [*old, *(row for row in parse_tools(latest) if row["name"] not in names)]
    return json.dumps(rows, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def tools_in_use(edition: Edition) -> list[Tool]:
    """Return the active tools of a conversation, as its edition describes them."""
    active = state_of(edition).active
    return [tool_from(row) for row in (active["tools"] if active else tool_rows(edition))]


def all_tools(edition: Edition) -> list[Tool]:
    """Return every tool that an edition describes, active or not."""
    return [*map(tool_from, tool_rows(edition)), *tools_in_use(edition)]
