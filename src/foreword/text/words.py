"""Finds the words that changed between two strings: first by line, then by word within changed lines.

This works for prompts of any size: items that occur exactly once in each text are anchors, and the text between two anchors is
compared exactly if it is short. All comparisons are counted; when the budget is used up, the rest is reported as one change.
"""

from __future__ import annotations

import re
from bisect import bisect_left

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Spans = list[tuple[int, int, int, int]]

MAX_COMPARISONS = 3_000_000  # for one pair of texts; this many take about a second
_LINE_COST = 50  # the cost of comparing two lines word by word, in comparisons
_MAX_TABLE_SIZE = 250_000  # how many comparisons may be made between two anchors
# A word with its accents, a line end, blanks, or one symbol; joined emoji are one symbol.
_TOKENS = re.compile(
    "[\\w\u0300-\u036f]+|\n|[^\\S\n]+|[^\\w\\s](?:\u200d[^\\w\\s]|[\ufe0f\u0300-\u036f\U0001f3fb-\U0001f3ff])*"
)
_MAX_WORD = 40  # a longer one, such as a key or a sentence in Chinese, is compared character by character
_CHARACTERS = re.compile("\\w[\u0300-\u036f]*|.", re.DOTALL)


def changed_spans(old: str, new: str, max_comparisons: int = MAX_COMPARISONS) -> Spans:
    """Return the changes in order, as ranges of the old and the new text. Adjacent changes are merged."""
    if old == new:
        return []
    start, end = _common_ends(old, new)
    old_lines, new_lines = _lines(old[start : len(old) - end]), _lines(new[start : len(new) - end])
    budget = [max_comparisons]
    spans: Spans = []
    hunks = _line_by_line(_hunks(old_lines, new_lines, budget), old_lines, new_lines)
    for a, b, c, d in _to_character_ranges(hunks, old_lines, new_lines, start, start):
        if a == b or c == d or budget[0] <= 0:
            spans.append((a, b, c, d))
            continue
        old_words, new_words = _words(old[a:b]), _words(new[c:d])
        budget[0] -= _LINE_COST + 4 * (len(old_words) + len(new_words))
        spans += _to_character_ranges(
            _simplify(_hunks(old_words, new_words, budget), old_words, new_words), old_words, new_words, a, c
        )
    return _align_to_lines(_merge(spans, old), old, new)


def common_prefix_length(first: str, second: str) -> int:
    """Return the length of the common prefix of two strings."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if first[low:middle] == second[low:middle] else (low, middle - 1)
    return low


def _common_ends(old: str, new: str) -> tuple[int, int]:
    """Return the lengths of the common prefix and suffix of two strings, in complete lines."""
    start = common_prefix_length(old, new)
    start = old.rfind("\n", 0, start) + 1
    rest = min(len(old), len(new)) - start
    end = common_prefix_length(old[len(old) - rest :][::-1], new[len(new) - rest :][::-1])
    # The first line of the suffix may be incomplete.
    line_end = old.find("\n", len(old) - end) if end else -1
    return start, len(old) - line_end - 1 if line_end >= 0 else 0


def _lines(text: str) -> list[str]:
    """Return the lines with their line feeds."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _words(text: str) -> list[str]:
    """Return the words, blanks and symbols of a text, and the characters of very long words."""
    words = _TOKENS.findall(text)
    if all(len(word) <= _MAX_WORD for word in words):
        return words
    return [part for word in words for part in ([word] if len(word) <= _MAX_WORD else _CHARACTERS.findall(word))]


def _hunks(old: Sequence[str], new: Sequence[str], budget: list[int]) -> Spans:
    """Return the changes between two lists, as ranges of both. `budget` contains the remaining number of comparisons."""
    spans: Spans = []
    pending = [(0, len(old), 0, len(new))]
    while pending:
        a, b, c, d = _without_common_ends(old, new, *pending.pop())
        if a == b or c == d:
            spans += [(a, b, c, d)] if a < b or c < d else []
            continue
        anchors = _anchors(old, a, b, new, c, d) if budget[0] > 0 else []
        budget[0] -= b - a + d - c
        cells = (b - a) * (d - c)
        if anchors:
            for x, y in [*anchors, (b, d)]:
                pending.append((a, x, c, y))
                a, c = x + 1, y + 1
        elif cells <= min(budget[0], _MAX_TABLE_SIZE):
            budget[0] -= cells
            spans += _smallest_change(old, a, b, new, c, d)
        else:
            spans.append((a, b, c, d))
    return sorted(spans)


def _without_common_ends(
    old: Sequence[str], new: Sequence[str], a: int, b: int, c: int, d: int
) -> tuple[int, int, int, int]:
    """Return the ranges without their common beginning and end."""
    while a < b and c < d and old[a] == new[c]:
        a, c = a + 1, c + 1
    while a < b and c < d and old[b - 1] == new[d - 1]:
        b, d = b - 1, d - 1
    return a, b, c, d


def _line_by_line(hunks: Spans, old: Sequence[str], new: Sequence[str]) -> Spans:
    """Pair the lines of a change that replaces lines with the same number of lines."""
    spans: Spans = []
    for a, b, c, d in hunks:
        if b - a == d - c:
            spans += [(x, x + 1, y, y + 1) for x, y in zip(range(a, b), range(c, d), strict=True) if old[x] != new[y]]
        else:
            spans.append((a, b, c, d))
    return spans


def _anchors(old: Sequence[str], a: int, b: int, new: Sequence[str], c: int, d: int) -> list[tuple[int, int]]:
    """Return the positions of items that occur exactly once in each range, limited to those in the same order."""
    new_positions: dict[str, int] = {}
    for y in range(c, d):
        new_positions[new[y]] = -1 if new[y] in new_positions else y
    old_positions: dict[str, int] = {}
    for x in range(a, b):
        old_positions[old[x]] = -1 if old[x] in old_positions else x
    pairs = [
        (x, new_positions[word]) for word, x in old_positions.items() if x >= 0 and new_positions.get(word, -1) >= 0
    ]
    return [pairs[index] for index in longest_increasing([y for _, y in pairs])]


def longest_increasing(numbers: Sequence[int]) -> list[int]:
    """Return the indexes of the longest increasing subsequence."""
    tails: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for index, value in enumerate(numbers):
        length = bisect_left(tails, value)
        previous.append(ends[length - 1] if length else -1)
        tails[length : length + 1] = [value]
        ends[length : length + 1] = [index]
    indexes: list[int] = []
    position = ends[-1] if ends else -1
    while position >= 0:
        indexes.append(position)
        position = previous[position]
    return indexes[::-1]


def _smallest_change(old: Sequence[str], a: int, b: int, new: Sequence[str], c: int, d: int) -> Spans:
    """Return the smallest change, found with a table of longest common subsequences."""
    rows = [[0] * (d - c + 1)]
    for x in range(b - 1, a - 1, -1):
        below, row, word = rows[-1], [0] * (d - c + 1), old[x]
        for y in range(d - c - 1, -1, -1):
            row[y] = below[y + 1] + 1 if word == new[c + y] else max(below[y], row[y + 1])
        rows.append(row)
    rows.reverse()
    spans: Spans = []
    x, y, from_x, from_y = 0, 0, 0, 0
    while x < b - a and y < d - c:
        if old[a + x] == new[c + y]:
            spans += [(a + from_x, a + x, c + from_y, c + y)] if x > from_x or y > from_y else []
            x, y = x + 1, y + 1
            from_x, from_y = x, y
        elif rows[x + 1][y] >= rows[x][y + 1]:
            x += 1
        else:
            y += 1
    return spans + ([(a + from_x, b, c + from_y, d)] if a + from_x < b or c + from_y < d else [])


def _simplify(hunks: Spans, old: Sequence[str], new: Sequence[str]) -> Spans:
    """Return the hunks, or a single hunk if the texts have few words in common, because scattered words would be unreadable."""
    removed = sum(len(old[x]) for a, b, _, _ in hunks for x in range(a, b) if not old[x].isspace())
    added = sum(len(new[y]) for _, _, c, d in hunks for y in range(c, d) if not new[y].isspace())
    size = sum(len(word) for word in old if not word.isspace()) + sum(len(word) for word in new if not word.isspace())
    is_rewritten = len(hunks) > 2 and removed + added > 0.8 * size
    return [(0, len(old), 0, len(new))] if is_rewritten else hunks


def _to_character_ranges(
    hunks: Spans, old: Sequence[str], new: Sequence[str], old_offset: int, new_offset: int
) -> Spans:
    """Convert ranges of two lists to ranges of the texts they were split from, which begin at these offsets."""
    spans: Spans = []
    x = y = 0
    for a, b, c, d in hunks:
        old_offset += sum(map(len, old[x:a]))
        new_offset += sum(map(len, new[y:c]))
        x, y = b, d
        removed, added = sum(map(len, old[a:b])), sum(map(len, new[c:d]))
        spans.append((old_offset, old_offset + removed, new_offset, new_offset + added))
        old_offset, new_offset = old_offset + removed, new_offset + added
    return spans


def _merge(spans: Spans, old: str) -> Spans:
    """Merge changes that are separated only by blanks."""
    joined: Spans = []
    for a, b, c, d in spans:
        if joined:
            first, last, new_first, new_last = joined[-1]
            between = old[last:a]
            if len(between) == c - new_last and (not between or (between.isspace() and "\n" not in between)):
                joined[-1] = (first, b, new_first, d)
                continue
        joined.append((a, b, c, d))
    return joined


def _align_to_lines(spans: Spans, old: str, new: str) -> Spans:
    """Move insertions and deletions to the beginning of a line if possible, because whole lines are easier to read."""
    aligned: Spans = []
    for index, (a, b, c, d) in enumerate(spans):
        following = spans[index + 1] if index + 1 < len(spans) else (len(old), 0, len(new), 0)
        text, start, end = (new, c, d) if a == b else (old, a, b)
        room = min(_MAX_SHIFT, following[0] - b, following[2] - d) if a == b or c == d else 0
        shift = best = 0
        while shift < room and text[start + shift] == text[end + shift]:
            shift += 1
            is_last_line = text[start + shift : start + shift + 1] == "\n" and end + shift == len(text)
            best = shift if text[start + shift - 1] == "\n" or is_last_line else best
        aligned.append((a + best, b + best, c + best, d + best))
    return aligned


_MAX_SHIFT = 200  # characters
