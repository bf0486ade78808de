"""Find and remove cache breakpoints that the caller has set in tools and messages. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

BREAKPOINT_KEYS = ("cache_control", "prompt_cache_breakpoint")
# The keys under which a message or block contains other blocks. A tool's schema and a call's arguments may have keys with the same names
# as a breakpoint, which are not breakpoints.
_NESTING_KEYS = ("content", "source", "tool", "definition")

_MAX_DEPTH = 50  # lists and blocks inside each other; no API accepts nearly as many


def breakpoints_in(content: Any, depth: int = 0) -> Iterator[Any]:
    """Yield the breakpoints in tools, messages or blocks, including those inside tool results and documents."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(content, list | tuple):
        for entry in content:
            yield from breakpoints_in(entry, depth + 1)
    elif isinstance(content, dict):
        for key in _NESTING_KEYS:
            yield from breakpoints_in(content.get(key), depth + 1)
        yield from (content[key] for key in BREAKPOINT_KEYS if content.get(key))


def without_first_breakpoints(content: Any, count: int) -> Any:
    """Return tools, messages or blocks without their first `count` breakpoints. The provider's cache stays valid without them."""
    return _remove(content, count)[0]


def _remove(content: Any, count: int, depth: int = 0) -> tuple[Any, int]:
    """Return the content without its first `count` breakpoints, and how many are still to be removed."""
    if count <= 0 or depth > _MAX_DEPTH:
        return content, count
    if isinstance(content, list | tuple):
        entries = []
        for entry in content:
            changed, count = _remove(entry, count, depth + 1)
            entries.append(changed)
        return entries, count
    if not isinstance(content, dict):
        return content, count
    fields = dict(content)
    for key in _NESTING_KEYS:
        if key in fields:
            fields[key], count = _remove(fields[key], count, depth + 1)
    for key in BREAKPOINT_KEYS:
        if fields.get(key) and count > 0:
            del fields[key]
            count -= 1
    return fields, count
