"""Divide the tokens and the cost of requests among their parts. Pure.

The parts of a request are laid out in the order in which the provider reads them, each with its size in bytes. The recorded tokens are
stretched over that line: the first were read from the cache, the next were written to it, and the rest is fresh. What falls on a part
belongs to it. Rounding happens once, at the end, so that the rows add up to the total exactly.
"""

from __future__ import annotations

from bisect import insort

from .costs import apportion, cost_of
from .values import EXACTNESS, TOKEN_BYTES, TokenCounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .chains import Step
    from .costs import Rates
    from .records import Entry
    from .values import LoggedRequest, LogPart

    Key = Callable[[LogPart], str]

SECTIONS = {
    "tool": "tools",
    "prompt": "own prompt",
    "clock": "own prompt",
    "file": "instructions",
    "server": "server instructions",
    "skills": "skills",
    "skill": "skills",
    "message": "conversation",
    "answer": "conversation",
    "summary": "conversation",
    "result": "tool results",
    "unknown": "not in the log",
}
ANSWERS = "answers"
NOT_IN_LOG = SECTIONS["unknown"]
_MCP = "mcp__"
# The kinds of tokens, by their position in `TokenCounts`.
_FRESH, _WRITTEN, _READ, _OUT = range(4)
_MOST_CHANGES = 10_000


def section_of(part: LogPart) -> str:
    return SECTIONS.get(part.kind, NOT_IN_LOG)


def key_for(dimension: str) -> Key:
    """Return the function that names a part's row in this dimension. Parts that do not belong to any are named after their section."""

    def key(part: LogPart) -> str:
        if dimension == "file" and part.kind == "file":
            return part.path
        if dimension == "tool" and part.kind in ("tool", "result") and part.name:
            return part.name
        if dimension == "server" and part.kind in ("tool", "server") and (part.path or part.kind == "server"):
            return part.path or part.name or section_of(part)
        if dimension == "skill" and part.kind in ("skills", "skill") and part.name:
            return part.name
        return section_of(part)

    return section_of if dimension == "section" else key


class Row:
    """What is known of one key so far: in how many requests it was, its tokens by kind, as in `TokenCounts`, and its cost."""

    __slots__ = ("cost", "counts", "exactness", "is_priced", "times")

    def __init__(self) -> None:
        self.times, self.exactness, self.is_priced = 0, 0, False
        self.counts = [0.0, 0.0, 0.0, 0.0]
        self.cost = 0.0


class Ledger:
    """Adds up requests by key."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self._rows: dict[str, Row] = {}
        self.tokens = TokenCounts()
        self.cost = 0
        self.unpriced = 0
        self.requests = 0
        self._lines: dict[str, _PartLine] = {}
        self._servers: dict[str, bool] = {}

    @property
    def rows(self) -> dict[str, Row]:
        """What each key got from the logs so far."""
        self.start_log()
        return self._rows

    def start_log(self) -> None:
        """Give the parts of the log before what falls on them, and forget them."""
        for line in self._lines.values():
            line.cut(0)
        self._lines = {}

    def follow(self, step: Step) -> None:
        """Follow a thread to this request. Every request of a log has to be followed, whether it is added or not."""
        if not step.request.made:
            return
        line = self._lines.get(step.request.thread)
        if line is None:
            line = self._lines[step.request.thread] = _PartLine(self._key, self._rows)
        line.move(step.shared, step.request.tail)
        for part in step.request.tail:
            if part.name and part.name.startswith(_MCP):
                server = part.name[len(_MCP) :].partition("__")[0]
                self._servers[server] = self._servers.get(server, False) or part.kind != "tool"

    def unused_servers(self) -> list[str]:
        """Return the MCP servers whose tools were sent and never called."""
        return [server for server, is_called in self._servers.items() if not is_called]

    def add_step(self, step: Step, rates: Rates | None) -> None:
        """Add the request that was followed last in its thread."""
        if step.request.made:
            self._add(step.request, self._lines[step.request.thread], rates)
        else:
            self.add(step.request, (), rates)

    def add(self, request: LoggedRequest, parts: Sequence[LogPart], rates: Rates | None) -> None:
        """Add a request that consists of these parts."""
        line = _PartLine(self._key, self._rows)
        line.move(0, parts)
        self._add(request, line, rates)
        line.cut(0)

    def _add(self, request: LoggedRequest, line: _PartLine, rates: Rates | None) -> None:
        tokens = request.tokens
        self.add_total(tokens, rates)
        line.add(tokens, EXACTNESS.index(request.made) if request.made else len(EXACTNESS) - 1, rates)
        if tokens.out:
            row = _row_of(self._rows, ANSWERS)
            row.times += 1
            row.counts[_OUT] += tokens.out
            if rates is not None:
                row.is_priced = True
                row.cost += tokens.out * rates.out

    def add_whole(self, key: str, tokens: TokenCounts, rates: Rates | None, exactness: str, times: int = 1) -> None:
        """Add tokens that belong to one key alone."""
        self.add_total(tokens, rates, times)
        row = _row_of(self._rows, key)
        row.times += times
        row.exactness = max(row.exactness, EXACTNESS.index(exactness))
        for kind in range(len(row.counts)):
            row.counts[kind] += tokens[kind]
        if rates is not None:
            row.is_priced = True
            row.cost += cost_of(tokens, rates)

    def add_collapse(self, cause: str, rest: str, entry: Entry, rates: Rates | None) -> None:
        """Add a request that collapsed: what was lost and what that cost more belong to the cause, everything else to the rest."""
        assert entry.collapse is not None
        self.add_whole(rest, entry.tokens, rates, entry.exactness)
        self._rows[rest].times -= 1
        row, other, lost = _row_of(self._rows, cause), self._rows[rest], entry.collapse.lost
        row.times += 1
        for kind in (_FRESH, _WRITTEN):
            row.counts[kind] += lost[kind]
            other.counts[kind] -= lost[kind]
        if entry.collapse.cost is not None:
            row.is_priced = True
            row.cost += entry.collapse.cost
            other.cost -= entry.collapse.cost

    def add_total(self, tokens: TokenCounts, rates: Rates | None, times: int = 1) -> None:
        self.tokens = self.tokens.plus(tokens)
        self.requests += times
        if rates is None:
            self.unpriced += tokens.input + tokens.out
        else:
            self.cost += cost_of(tokens, rates)

    def final_rows(self) -> list[tuple[str, int, TokenCounts, int | None, str]]:
        """Return the rows, most expensive first: key, times, tokens, cost and exactness. They add up to the total."""
        keys, rows = list(self.rows), list(self._rows.values())
        kinds = (_FRESH, _WRITTEN, _READ, _OUT)
        columns = [apportion(self.tokens[kind], [row.counts[kind] for row in rows]) for kind in kinds]
        costs = apportion(self.cost, [row.cost for row in rows])
        divided = [
            (
                key,
                row.times,
                TokenCounts(*(column[index] for column in columns)),
                costs[index] if row.is_priced else None,
                EXACTNESS[row.exactness],
            )
            for index, (key, row) in enumerate(zip(keys, rows, strict=True))
        ]
        return sorted(divided, key=lambda row: (-(row[3] or 0), -row[2].input, row[0]))


def _row_of(rows: dict[str, Row], key: str) -> Row:
    row = rows.get(key)
    if row is None:
        row = rows[key] = Row()
    return row


def _kind_cost(tokens: TokenCounts, kind: int, rates: Rates) -> int:
    if kind == _WRITTEN:
        return (tokens.written - tokens.long) * rates.written + tokens.long * rates.long
    return tokens.read * rates.read if kind == _READ else tokens.fresh * rates.fresh


class _PartLine:
    """The parts of a thread's current request, laid out by size.

    A request usually repeats the one before it, so its tokens are not divided at once. What each byte gets is noted at the positions where
    that changes, as the difference to the byte before, and the parts get it when they are cut off.
    """

    def __init__(self, key: Key, rows: dict[str, Row]) -> None:
        self._key, self._rows = key, rows
        self._keys: list[str] = []
        self._ends = [0]  # where each part begins, and where the last one ends
        self._unknown_at: list[int] = []  # where there is something that the log does not show
        self._firsts: dict[
            str, tuple[int, int]
        ] = {}  # the first part of each key, and how many requests had been added
        self._positions: list[float] = []
        self._changes: dict[
            float, list[float]
        ] = {}  # at each position: of the tokens of each kind of input, and of the cost
        self._added = self._priced = 0
        self._exact = [0] * len(EXACTNESS)  # how many requests had been added up to the last one of this exactness

    def move(self, shared: int, tail: Sequence[LogPart]) -> None:
        """Go on to the next request, which shares its first parts with this one."""
        if shared < len(self._keys):
            self.cut(shared)
        key = self._key
        end = self._ends[-1]
        for part in tail:
            if part.kind == "unknown":
                self._unknown_at.append(len(self._keys))
            name = key(part)
            if part.size and name not in self._firsts:
                self._firsts[name] = len(self._keys), self._added
            self._keys.append(name)
            end += part.size
            self._ends.append(end)

    def add(self, tokens: TokenCounts, exactness: int, rates: Rates | None) -> None:
        """Add a request that consists of these parts. What is not in the log comes first."""
        self._added += 1
        self._exact[exactness] = self._added
        if rates is not None:
            self._priced = self._added
        known, whole = self._ends[-1], tokens.input
        unknown = self._unknown(whole)
        if unknown and NOT_IN_LOG not in self._firsts:
            self._count(NOT_IN_LOG, self._added - 1)
        total = unknown + known
        reached, before = 0, 0.0
        for kind in (_READ, _WRITTEN, _FRESH):
            count = tokens[kind]
            if not count:
                continue
            reached += count
            position = total if reached == whole else total * reached / whole
            price = 0.0 if rates is None else _kind_cost(tokens, kind, rates)
            self._spread(kind, count, price, before, position, unknown)
            before = position
        if len(self._positions) > _MOST_CHANGES:
            self._divide(0)

    def _spread(self, kind: int, count: int, price: float, start: float, end: float, unknown: float) -> None:
        """Divide tokens of one kind, and what they cost, among the bytes between two positions."""
        if start == end:  # they are too few to show, and belong to the byte before
            start -= 1
        count_each, price_each = count / (end - start), price / (end - start)
        if start < unknown:
            row, size = _row_of(self._rows, NOT_IN_LOG), min(end, unknown) - start
            row.counts[kind] += size * count_each
            row.cost += size * price_each
        if end > unknown:
            for position, sign in ((max(start - unknown, 0.0), 1), (end - unknown, -1)):
                change = self._change_at(position)
                change[kind] += sign * count_each
                change[_OUT] += sign * price_each

    def _change_at(self, position: float) -> list[float]:
        change = self._changes.get(position)
        if change is None:
            change = self._changes[position] = [0.0, 0.0, 0.0, 0.0]
            insort(self._positions, position)
        return change

    def _unknown(self, tokens: int) -> float:
        """Return the size of what the log does not show: what the known parts leave of the tokens."""
        known = self._ends[-1]
        if not known:
            return 1.0
        return max(tokens * TOKEN_BYTES - known, 0.0) if self._unknown_at else 0.0

    def cut(self, length: int) -> None:
        """Cut off all but the first parts, and give them what falls on them."""
        self._divide(length)
        for name in self._keys[length:]:
            first, added = self._firsts.get(name, (-1, 0))
            if first >= length:
                del self._firsts[name]
                self._count(name, added)
        del self._keys[length:], self._ends[length + 1 :]
        while self._unknown_at and self._unknown_at[-1] >= length:
            self._unknown_at.pop()

    def _divide(self, length: int) -> None:
        """Give all but the first parts what falls on them, from the last one to the first."""
        keys, ends, positions = self._keys, self._ends, self._positions
        fresh = written = read = cost = 0.0  # what each byte before the position gets
        position: float = ends[-1]
        for index in range(len(keys) - 1, length - 1, -1):
            start = ends[index]
            row: Row | None = None
            while position > start or (positions and positions[-1] > start):
                is_inside = bool(positions) and positions[-1] > start
                place = positions.pop() if is_inside else start
                size = position - place
                if fresh or written or read:
                    row = row or _row_of(self._rows, keys[index])
                    row.counts[_FRESH] += size * fresh
                    row.counts[_WRITTEN] += size * written
                    row.counts[_READ] += size * read
                    row.cost += size * cost
                position = place
                if is_inside:
                    change = self._changes.pop(place)
                    fresh -= change[_FRESH]
                    written -= change[_WRITTEN]
                    read -= change[_READ]
                    cost -= change[_OUT]
        if length:
            change = self._change_at(position)
            for kind, each in ((_FRESH, fresh), (_WRITTEN, written), (_READ, read), (_OUT, cost)):
                change[kind] -= each
        else:
            self._positions, self._changes = [], {}

    def _count(self, name: str, added: int) -> None:
        """Add to a row the requests that were added since its key was first in one of them."""
        if added == self._added:
            return
        row = _row_of(self._rows, name)
        row.times += self._added - added
        row.exactness = max(row.exactness, *(exactness for exactness, last in enumerate(self._exact) if last > added))
        row.is_priced = row.is_priced or self._priced > added
