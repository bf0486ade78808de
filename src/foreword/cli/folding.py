"""Fold the rows of a long table of agents: a link and its target, files that nobody reads, and files that are treated alike."""

from __future__ import annotations

import os

from ..inspection.agents import AgentTable, FileRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..inspection.agents import Verdict

    Labelled = tuple[FileRow, str]

MIN_ROWS = 13
"""Shorter tables are printed as they are."""
_MIN_ALIKE = 3
_READ = ("loaded", "cut", "on-touch", "listed", "elsewhere")


def fold(
    table: AgentTable, labels: Sequence[str], cell: Callable[[Verdict], str]
) -> tuple[AgentTable, list[str], list[str]]:
    """Return the table with fewer rows, their labels, and notes about rows that are left out. `cell` is what a verdict prints."""
    rows = list(zip(table.rows, labels, strict=True))
    if len(rows) < MIN_ROWS:
        return table, list(labels), []
    rows = _join_links(rows)
    unread = [label for row, label in rows if all(verdict.name == "never" for verdict in row.verdicts)]
    notes = []
    if len(unread) >= _MIN_ALIKE:
        rows = [(row, label) for row, label in rows if label not in unread]
        notes = [
            f"{len(unread)} files that none of these agents reads: {', '.join(unread[:3])} and {len(unread) - 3} more"
        ]
        if len(unread) == _MIN_ALIKE:
            notes = [f"{len(unread)} files that none of these agents reads: {', '.join(unread)}"]
    rows = _join_alike(rows, cell)
    return AgentTable(table.agents, [row for row, _ in rows]), [label for _, label in rows], notes


def fold_alike(
    table: AgentTable, labels: Sequence[str], cell: Callable[[Verdict], str]
) -> tuple[AgentTable, list[str]]:
    """Return a table, and its labels, in which two files with the same name and the same cells are already one row."""
    rows = _join_alike(list(zip(table.rows, labels, strict=True)), cell, at_least=2)
    return AgentTable(table.agents, [row for row, _ in rows]), [label for _, label in rows]


def _join_links(rows: Iterable[Labelled]) -> list[Labelled]:
    """Return one row for a file and the links to it. An agent reads it if it reads one of them."""
    by_file: dict[str, list[Labelled]] = {}
    for row, label in rows:
        by_file.setdefault(os.path.realpath(row.path), []).append((row, label))
    joined = []
    for group in by_file.values():
        first = next((pair for pair in group if not os.path.islink(pair[0].path)), group[0])
        others = [label for row, label in group if row is not first[0]]
        label = f"{first[1]} = {', '.join(others)}" if others else first[1]
        verdicts = [_best(column) for column in zip(*(row.verdicts for row, _ in group), strict=True)]
        joined.append((FileRow(first[0].path, verdicts), label))
    return joined


def _best(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict with which an agent reads most of a file."""
    return min(verdicts, key=lambda verdict: _READ.index(verdict.name) if verdict.name in _READ else len(_READ))


def _join_alike(rows: Sequence[Labelled], cell: Callable[[Verdict], str], at_least: int = _MIN_ALIKE) -> list[Labelled]:
    """Return the rows, with those of files with the same name, or in the same folder of rules, and the same verdicts as one."""
    groups: dict[tuple[str, ...], list[Labelled]] = {}
    for row, label in rows:
        folder, name = os.path.split(row.path)
        key = (folder if os.path.basename(os.path.dirname(folder)).startswith(".") else name, *map(cell, row.verdicts))
        groups.setdefault(key, []).append((row, label))
    joined: list[Labelled] = []
    for group in groups.values():
        if len(group) < at_least or any(" alike" in label for _, label in group):
            joined += group
        else:
            joined.append((group[0][0], f"{group[0][1]} and {len(group) - 1} alike"))
    order = {row.path: number for number, (row, _) in enumerate(rows)}
    return sorted(joined, key=lambda pair: order[pair[0].path])
