"""Finds the lines that two versions of a text have in common, in the same order.

Time is almost linear, whatever the lines are: lines that occur once in both versions are matched first, then what is between them. In
unusual texts some common lines are missed.
"""

from __future__ import annotations

from bisect import bisect_left

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MAX_DEPTH = 24


def same_lines(old: Sequence[bytes], new: Sequence[bytes]) -> dict[int, int]:
    """Return the index in `old` of each line of `new` that is in both, by its index in `new`."""
    same: dict[int, int] = {}
    pending = [(0, len(old), 0, len(new), 0)]
    while pending:
        first, last, new_first, new_last, depth = pending.pop()
        while first < last and new_first < new_last and old[first] == new[new_first]:
            same[new_first] = first
            first, new_first = first + 1, new_first + 1
        while first < last and new_first < new_last and old[last - 1] == new[new_last - 1]:
            last, new_last = last - 1, new_last - 1
            same[new_last] = last
        if first == last or new_first == new_last or depth == _MAX_DEPTH:
            continue
        anchors = _anchors(old, new, range(first, last), range(new_first, new_last))
        for index, new_index in anchors:
            same[new_index] = index
            pending.append((first, index, new_first, new_index, depth + 1))
            first, new_first = index + 1, new_index + 1
        if anchors:
            pending.append((first, last, new_first, new_last, depth + 1))
    return same


def _anchors(old: Sequence[bytes], new: Sequence[bytes], rows: range, new_rows: range) -> list[tuple[int, int]]:
    """Return the longest series of lines that occur once in each version, in the same order in both."""
    old_indexes, new_indexes = _unique_lines(old, rows), _unique_lines(new, new_rows)
    pairs = [(index, new_indexes[line]) for line, index in old_indexes.items() if line in new_indexes]
    ends: list[int] = []  # the last index in `new` of the best series of each length
    best: list[int] = []  # the pair at that index
    before: list[int] = []
    for number, (_, new_index) in enumerate(pairs):
        length = bisect_left(ends, new_index)
        before.append(best[length - 1] if length else -1)
        ends[length : length + 1] = [new_index]
        best[length : length + 1] = [number]
    series, number = [], best[-1] if best else -1
    while number >= 0:
        series.append(pairs[number])
        number = before[number]
    return series[::-1]


def _unique_lines(lines: Sequence[bytes], rows: range) -> dict[bytes, int]:
    """Return the lines that occur once in these rows, in order, each with its index."""
    indexes: dict[bytes, int] = {}
    repeated: set[bytes] = set()
    for index in rows:
        if lines[index] in indexes:
            repeated.add(lines[index])
        indexes.setdefault(lines[index], index)
    return {line: index for line, index in indexes.items() if line not in repeated}
