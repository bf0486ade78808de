"""Print lines of a prompt, each after a label that says where it came from."""

from __future__ import annotations

import sys

from .terminal import escape_for, is_terminal, paint, terminal_width, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..vocabulary import Origin
    from .paths import ShortPaths

# In `blame`, labels up to this percentage of the width are not shortened.
_MAX_LABEL_PERCENT = 45
_MIN_LABEL_WIDTH = 20


def write_labelled_lines(lines: Sequence[tuple[Origin | None, str, str]]) -> None:
    """Print each line after its label. On a terminal, long labels are shortened and long lines are wrapped."""
    from .columns import display_width, pad, shorten_middle, wrap

    is_wrapped, room = is_terminal(sys.stdout), terminal_width(sys.stdout)
    width = max((display_width(label) for _, label, _ in lines), default=0)
    if is_wrapped and width > max(room * _MAX_LABEL_PERCENT // 100, _MIN_LABEL_WIDTH):
        width = max(room // 3, _MIN_LABEL_WIDTH)
    for origin, label, text in lines:
        colour = "cyan" if origin and origin.kind == "file" else "dim"
        parts = [text]
        if is_wrapped:
            indent = _hanging_indent(text, (room - width - 3) // 2)
            first, *others = wrap(escape_for(sys.stdout, text), room - width - 3, room - width - 3 - indent)
            parts = [first, *(" " * indent + line for line in others)]
        for index, line in enumerate(parts):
            place = pad("" if index else shorten_middle(label, width), width)
            write(f"{paint(place, colour)} │ {line}".rstrip())


def _hanging_indent(text: str, limit: int) -> int:
    """Return the indent of a line's continuation: two more than the line's own, or aligned with the text of a list item."""
    start = len(text) - len(text.lstrip(" "))
    marker, blank, _ = text[start:].partition(" ")
    is_item = bool(blank) and (marker in ("-", "*", "+") or (marker[:-1].isdecimal() and marker[-1:] in (".", ")")))
    return min(start + (len(marker) + 1 if is_item else 2), limit)


def label_of(origin: Origin | None, line: int | None, paths: ShortPaths) -> str:
    """Return the origin of a line as text."""
    if origin is None:
        return ""
    path = paths.shorten(origin.path)
    place = f"{path}:{line}" if line else path
    return (
        place
        if origin.kind in ("file", "builtin", "layout", "skill", "template")
        else f"{origin.kind} {place}".rstrip()
    )
