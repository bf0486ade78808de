"""The table of agents with one letter for each verdict, for a screen that is too low for the table with words."""

from __future__ import annotations

from .columns import display_width, pad, shorten_middle
from .folding import fold_alike
from .terminal import paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..inspection.agents import AgentTable, Verdict

MARKS = {
    "loaded": "+",
    "listed": "l",
    "cut": "%",
    "on-touch": "t",
    "elsewhere": "e",
    "shadowed": "s",
    "copy": "=",
    "blank": "b",
    "unused": "u",
    "never": "-",
}
OTHER = "!"
MEANINGS = {
    "+": "loaded",
    "l": "listed",
    "%": "cut",
    "t": "on touch",
    "e": "elsewhere",
    "s": "shadowed",
    "=": "copy",
    "b": "blank",
    "u": "unused",
    "-": "never",
    OTHER: "refused or unreadable",
}
_MIN_PATH_WIDTH = 28
_MIN_NAME_WIDTH = 3
_GAP = 1


def compact_lines(
    table: AgentTable, labels: Sequence[str], colours: Mapping[str, str], width: int, max_lines: int
) -> Iterator[str]:
    """Yield the lines of the table: the agents' names, shortened if necessary, the files, and what the letters mean.

    Rows beyond `max_lines` are counted.
    """
    table, labels = fold_alike(table, labels, _mark_of)
    columns = _column_widths([view.name for view in table.agents], width - _MIN_PATH_WIDTH)
    path_width = min(
        max(_MIN_PATH_WIDTH, width - sum(columns) - _GAP * len(columns)),
        max(display_width(label) for label in ("file", *labels)),
    )

    def line(label: str, cells: Sequence[str]) -> str:
        return (" " * _GAP).join((pad(shorten_middle(label, path_width), path_width), *cells)).rstrip()

    yield paint(
        line("file", [pad(view.name[:column], column) for view, column in zip(table.agents, columns, strict=True)]),
        "bold",
    )
    count = max_lines - 3 if len(table.rows) > max_lines - 2 else len(table.rows)
    used = set()
    for label, row in zip(labels[:count], table.rows[:count], strict=True):
        marks = [_mark_of(verdict) for verdict in row.verdicts]
        used.update(marks)
        cells = [
            paint(pad(mark, column), colours.get(verdict.name, "dim"))
            for mark, verdict, column in zip(marks, row.verdicts, columns, strict=True)
        ]
        yield line(label, cells)
    if count < len(table.rows):
        yield f"… {len(table.rows) - count:,} more rows"
    yield ", ".join(f"{mark} {meaning}" for mark, meaning in MEANINGS.items() if mark in used)


def _column_widths(names: Sequence[str], room: int) -> list[int]:
    """Return how much of each name is shown, so that all fit into the room. The longest names are shortened first."""
    widths = [display_width(name) for name in names]
    while sum(widths) + _GAP * len(widths) > room and max(widths) > _MIN_NAME_WIDTH:
        widths[max(range(len(widths)), key=lambda number: (widths[number], number))] -= 1
    return widths


def _mark_of(verdict: Verdict) -> str:
    return MARKS.get(verdict.name, OTHER)
