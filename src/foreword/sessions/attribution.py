"""Divide the tokens and the cost of requests among their parts. Pure.

The parts of a request are laid out in the order in which the provider reads them, each with its size in bytes. The recorded tokens are
stretched over that line: the first were read from the cache, the next were written to it, and the rest is fresh. What falls on a part
belongs to it. Rounding happens once, at the end, so that the rows add up to the total exactly.
"""

from __future__ import annotations

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
        self.rows: dict[str, Row] = {}
        self.tokens = TokenCounts()
        self.cost = 0
        self.unpriced = 0
        self.requests = 0
        self._lines: dict[str, _PartLine] = {}
        self._servers: dict[str, bool] = {}

    def start_log(self) -> None:
        """Forget the requests of the log before."""
        self._lines = {}

    def follow(self, step: Step) -> None:
        """Follow a thread to this request. Every request of a log has to be followed, whether it is added or not."""
        if not step.request.made:
            return
        line = self._lines.get(step.request.thread)
        if line is None:
            line = self._lines[step.request.thread] = _PartLine(self._key)
        line.move(step.shared, step.request.tail)
        for part in step.request.tail:
            if part.name.startswith(_MCP):
                server = part.name[len(_MCP) :].partition("__")[0]
                self._servers[server] = self._servers.get(server, False) or part.kind != "tool"

    def unused_servers(self) -> list[str]:
        """Return the MCP servers whose tools were sent and never called."""
        return [server for server, is_called in self._servers.items() if not is_called]

    def add_step(self, step: Step, rates: Rates | None) -> None:
        """Add the request that was followed last in its thread."""
        line = self._lines[step.request.thread] if step.request.made else _PartLine(self._key)
        self._add(step.request, line, rates)

    def add(self, request: LoggedRequest, parts: Sequence[LogPart], rates: Rates | None) -> None:
        """Add a request that consists of these parts."""
        line = _PartLine(self._key)
        line.move(0, parts)
        self._add(request, line, rates)

    def _add(self, request: LoggedRequest, line: _PartLine, rates: Rates | None) -> None:
        tokens = request.tokens
        self.add_total(tokens, rates)
        exactness = EXACTNESS.index(request.made) if request.made else len(EXACTNESS) - 1
        rows, is_priced = self.rows, rates is not None
        for key in line.keys_of(tokens.input):
            row = rows.get(key) or self._row(key)
            row.times += 1
            if exactness > row.exactness:
                row.exactness = exactness
            if is_priced:
                row.is_priced = True
        for kind, count, whole, shares in line.divide(tokens):
            scale = count / whole
            price = 0.0 if rates is None else _kind_cost(tokens, kind, rates) / whole
            for key, size in shares:
                row = rows[key]
                row.counts[kind] += size * scale
                row.cost += size * price
        if tokens.out:
            row = self._row(ANSWERS)
            row.times += 1
            row.counts[_OUT] += tokens.out
            if rates is not None:
                row.is_priced = True
                row.cost += tokens.out * rates.out

    def add_whole(self, key: str, tokens: TokenCounts, rates: Rates | None, exactness: str, times: int = 1) -> None:
        """Add tokens that belong to one key alone."""
        self.add_total(tokens, rates, times)
        row = self.rows.setdefault(key, Row())
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
        row, other, lost = self.rows.setdefault(cause, Row()), self.rows[rest], entry.collapse.lost
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

    def _row(self, key: str) -> Row:
        row = self.rows.get(key)
        if row is None:
            row = self.rows[key] = Row()
        return row

    def final_rows(self) -> list[tuple[str, int, TokenCounts, int | None, str]]:
        """Return the rows, most expensive first: key, times, tokens, cost and exactness. They add up to the total."""
        keys = list(self.rows)
        rows = [self.rows[key] for key in keys]
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


def _kind_cost(tokens: TokenCounts, kind: int, rates: Rates) -> int:
    if kind == _WRITTEN:
        return (tokens.written - tokens.long) * rates.written + tokens.long * rates.long
    return tokens.read * rates.read if kind == _READ else tokens.fresh * rates.fresh


class _PartLine:
    """The parts of a thread's current request, laid out by size, with sums by key at the end of every request so far.

    A request usually repeats the one before it, so only what is new has to be looked at.
    """

    def __init__(self, key: Key) -> None:
        self._key = key
        self._parts: list[tuple[str, int]] = []
        self._unknown_at: list[int] = []  # where there is something that the log does not show
        self._sums: list[tuple[int, int, dict[str, int]]] = [(0, 0, {})]  # number of parts, size, size by key

    def move(self, shared: int, tail: Sequence[LogPart]) -> None:
        """Go on to the next request, which shares its first parts with this one."""
        del self._parts[shared:]
        while self._sums[-1][0] > shared:
            self._sums.pop()
        while self._unknown_at and self._unknown_at[-1] >= shared:
            self._unknown_at.pop()
        key = self._key
        for part in tail:
            if part.kind == "unknown":
                self._unknown_at.append(len(self._parts))
            self._parts.append((key(part), part.size))
        count, size, sums = self._sums[-1]
        if count < len(self._parts):
            sums = dict(sums)
            for name, weight in self._parts[count:]:
                sums[name] = sums.get(name, 0) + weight
                size += weight
            self._sums.append((len(self._parts), size, sums))

    def _unknown(self, tokens: int) -> float:
        """Return the size of what the log does not show: what the known parts leave of the tokens."""
        known = self._sums[-1][1]
        if not known:
            return 1.0
        return max(tokens * TOKEN_BYTES - known, 0.0) if self._unknown_at else 0.0

    def keys_of(self, tokens: int) -> list[str]:
        """Return the keys of all parts."""
        names = [name for name, size in self._sums[-1][2].items() if size]
        return names if not self._unknown(tokens) or NOT_IN_LOG in names else [NOT_IN_LOG, *names]

    def _up_to(self, position: float) -> dict[str, float]:
        """Return the sizes by key of what comes before a position."""
        index = len(self._sums) - 1
        while self._sums[index][1] > position:
            index -= 1
        count, reached, known = self._sums[index]
        sums: dict[str, float] = dict(known)
        while reached < position and count < len(self._parts):
            name, weight = self._parts[count]
            taken = min(weight, position - reached)
            sums[name] = sums.get(name, 0) + taken
            reached += weight
            count += 1
        return sums

    def divide(self, tokens: TokenCounts) -> list[tuple[int, int, float, list[tuple[str, float]]]]:
        """Return for each kind of input tokens their number, the bytes that they fall on, and these bytes by key.

        What is not in the log comes first.
        """
        unknown = self._unknown(tokens.input)
        total = unknown + self._sums[-1][1]
        kinds = [kind for kind in (_READ, _WRITTEN, _FRESH) if tokens[kind]]
        divided: list[tuple[int, int, float, list[tuple[str, float]]]] = []
        before: dict[str, float] = {}
        reached = 0
        for kind in kinds:
            count = tokens[kind]
            reached += count
            position = total if kind == kinds[-1] else total * reached / tokens.input
            sums = self._up_to(position - unknown) if position > unknown else {}
            if unknown:
                sums[NOT_IN_LOG] = sums.get(NOT_IN_LOG, 0) + min(position, unknown)
            shares = [
                (key, share)
                for key, size in sums.items()
                if (share := size - before[key] if key in before else size) > 0
            ]
            whole = 0.0
            for _, share in shares:
                whole += share
            divided.append((kind, count, whole, shares) if whole > 0 else (kind, count, 1.0, self._last()))
            before = sums
        return divided

    def _last(self) -> list[tuple[str, float]]:
        """Return the last key alone, for tokens that are fewer than the parts can show."""
        return [(next(reversed(self._sums[-1][2]), NOT_IN_LOG), 1.0)]
