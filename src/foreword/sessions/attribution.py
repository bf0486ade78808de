"""Divide the tokens and the cost of requests among their parts. Pure.

The parts of a request are laid out in the order in which the provider reads them, each with its size in bytes. The recorded tokens are
stretched over that line: the first were read from the cache, the next were written to it, and the rest is fresh. What falls on a part
belongs to it. Rounding happens once, at the end, so that the rows add up to the total exactly.
"""

from __future__ import annotations

from .costs import apportion, cost_of
from .values import EXACTNESS, TokenCounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
# How many bytes a token has, for the part of a request that the log does not show.
_BYTES = 4


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
    """What is known of one key so far: in how many requests it was, its tokens and its cost."""

    __slots__ = ("cost", "exactness", "fresh", "is_priced", "long", "out", "read", "times", "written")

    def __init__(self) -> None:
        self.times, self.exactness, self.is_priced = 0, 0, False
        self.fresh = self.written = self.read = self.out = self.long = self.cost = 0.0


class Ledger:
    """Adds up requests by key."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self.rows: dict[str, Row] = {}
        self.tokens = TokenCounts()
        self.cost = 0
        self.unpriced = 0
        self.requests = 0

    def add(self, request: LoggedRequest, parts: Sequence[LogPart], rates: Rates | None) -> None:
        """Add a request, divided among its parts."""
        self.add_total(request.tokens, rates)
        exactness = EXACTNESS.index(request.made) if request.made else len(EXACTNESS) - 1
        tokens = request.tokens
        seen: set[str] = set()
        for key, kind, share in self._shares(tokens, parts):
            row = self._row(key, exactness, seen, rates)
            amount = getattr(tokens, kind) * share
            setattr(row, kind, getattr(row, kind) + amount)
            if rates is not None:
                row.cost += _kind_cost(tokens, kind, rates) * share
        if tokens.out:
            row = self._row(ANSWERS, 0, seen, rates)
            row.out += tokens.out
            if rates is not None:
                row.cost += tokens.out * rates.out

    def add_whole(self, key: str, tokens: TokenCounts, rates: Rates | None, exactness: str, times: int = 1) -> None:
        """Add tokens that belong to one key alone."""
        self.add_total(tokens, rates, times)
        row = self.rows.setdefault(key, Row())
        row.times += times
        row.exactness = max(row.exactness, EXACTNESS.index(exactness))
        row.fresh, row.written, row.read = (
            row.fresh + tokens.fresh,
            row.written + tokens.written,
            row.read + tokens.read,
        )
        row.out += tokens.out
        if rates is not None:
            row.is_priced = True
            row.cost += cost_of(tokens, rates)

    def add_collapse(self, cause: str, rest: str, entry: Entry, rates: Rates | None) -> None:
        """Add a request that collapsed: what was lost and what that cost more belong to the cause, everything else to the rest."""
        assert entry.collapse is not None
        self.add_whole(rest, entry.tokens, rates, entry.exactness)
        row, other, lost = self.rows.setdefault(cause, Row()), self.rows[rest], entry.collapse.lost
        row.times += 1
        for kind in ("fresh", "written"):
            amount = getattr(lost, kind)
            setattr(row, kind, getattr(row, kind) + amount)
            setattr(other, kind, getattr(other, kind) - amount)
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

    def _row(self, key: str, exactness: int, seen: set[str], rates: Rates | None) -> Row:
        row = self.rows.get(key)
        if row is None:
            row = self.rows[key] = Row()
        if key not in seen:
            seen.add(key)
            row.times += 1
            row.exactness = max(row.exactness, exactness)
            row.is_priced = row.is_priced or rates is not None
        return row

    def _shares(self, tokens: TokenCounts, parts: Sequence[LogPart]) -> list[tuple[str, str, float]]:
        """Return for each kind of tokens the keys that they fall on, with their shares of that kind."""
        weights = weigh(parts, tokens.input)
        total = sum(weights)
        if not total:
            weights, parts, total = [1.0], (_UNKNOWN,), 1.0
        ends, kinds = [], []
        position = 0.0
        for kind in ("read", "written", "fresh"):
            count = getattr(tokens, kind)
            if count:
                position += count / tokens.input * total
                ends.append(position)
                kinds.append(kind)
        if not ends:
            return []
        ends[-1] = float("inf")
        shares: dict[tuple[str, str], float] = {}
        index, start, name = 0, 0.0, self._key
        for part, weight in zip(parts, weights, strict=True):
            key, end = name(part), start + weight
            while end > ends[index]:
                shares[key, kinds[index]] = shares.get((key, kinds[index]), 0.0) + ends[index] - start
                start = ends[index]
                index += 1
            shares[key, kinds[index]] = shares.get((key, kinds[index]), 0.0) + end - start
            start = end
        sums = dict.fromkeys(kinds, 0.0)
        for (_, kind), weight in shares.items():
            sums[kind] += weight
        return [(key, kind, weight / sums[kind] if sums[kind] else 0.0) for (key, kind), weight in shares.items()]

    def settled(self) -> list[tuple[str, int, TokenCounts, int | None, str]]:
        """Return the rows, most expensive first: key, times, tokens, cost and exactness. They add up to the total."""
        keys = list(self.rows)
        rows = [self.rows[key] for key in keys]
        columns = [
            apportion(getattr(self.tokens, kind), [getattr(row, kind) for row in rows])
            for kind in ("fresh", "written", "read", "out")
        ]
        costs = apportion(self.cost, [row.cost for row in rows])
        settled = [
            (
                key,
                row.times,
                TokenCounts(*(column[index] for column in columns)),
                costs[index] if row.is_priced else None,
                EXACTNESS[row.exactness],
            )
            for index, (key, row) in enumerate(zip(keys, rows, strict=True))
        ]
        return sorted(settled, key=lambda row: (-(row[3] or 0), -row[2].input, row[0]))


def _kind_cost(tokens: TokenCounts, kind: str, rates: Rates) -> int:
    if kind == "written":
        return (tokens.written - tokens.long) * rates.written + tokens.long * rates.long
    return int(getattr(tokens, kind) * getattr(rates, kind))


def weigh(parts: Sequence[LogPart], tokens: int) -> list[float]:
    """Return the weights of parts: their sizes. What the log does not show gets what the known parts leave of the tokens."""
    weights = [float(part.size) for part in parts]
    unknown = [index for index, part in enumerate(parts) if part.kind == "unknown"]
    if unknown:
        rest = max(tokens * _BYTES - sum(weights), 0.0)
        for index in unknown:
            weights[index] = rest / len(unknown)
    return weights


def _unknown() -> LogPart:
    from .values import LogPart

    return LogPart("unknown", "", "", "", 0)


_UNKNOWN = _unknown()
