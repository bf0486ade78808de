"""The usage that providers reported for an edition's calls: the values, and the SQL that all stores share."""

from __future__ import annotations

from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


@value
class CallUsage:
    """The usage of one call. `input` includes tokens that were `read` from the cache or `written` to it; `time` is in seconds."""

    input: int
    read: int
    written: int
    output: int
    cost: float | None
    time: int

    @property
    def cached(self) -> int:
        """How many tokens the provider has cached after this call, according to its report."""
        return self.read + self.written


@value
class UsageRow:
    """The total usage of an edition's calls, and how many tokens its last two calls left in the provider's cache, and when."""

    calls: int
    input: int
    read: int
    written: int
    output: int
    cost: float | None
    cached: int = 0
    time: int = 0
    cached_before: int = 0
    time_before: int = 0


@value
class DailyUsage:
    """The total usage of the editions whose last call was on a day, which is counted from 1970."""

    day: int
    calls: int
    input: int
    read: int
    written: int
    output: int
    cost: float | None


_COLUMNS = ", ".join(UsageRow.__annotations__)
SELECT_USAGE = f"SELECT {_COLUMNS} FROM foreword_usage WHERE conversation = ? AND number = ?"
_SUMS = ", ".join(
    f"{name} = foreword_usage.{name} + excluded.{name}" for name in ("input", "read", "written", "output")
)
# To be formatted with a lock, so that the edition is not deleted meanwhile.
ADD_USAGE = f"""
    INSERT INTO foreword_usage (conversation, number, {_COLUMNS})
    SELECT conversation, number, 1, ?, ?, ?, ?, CAST(? AS double precision), ?, ?, 0, 0 FROM foreword_editions WHERE conversation = ? AND number = ?{{}}
    ON CONFLICT (conversation, number) DO UPDATE SET
        calls = foreword_usage.calls + 1, {_SUMS},
        cost = coalesce(foreword_usage.cost + excluded.cost, excluded.cost, foreword_usage.cost),
        cached = excluded.cached, time = excluded.time,
        cached_before = foreword_usage.cached, time_before = foreword_usage.time
    RETURNING {_COLUMNS}
"""


def usage_parameters(conversation: str, number: int, call: CallUsage) -> Sequence[Any]:
    """Return the parameters of `ADD_USAGE`."""
    return call.input, call.read, call.written, call.output, call.cost, call.cached, call.time, conversation, number


_SECONDS_PER_DAY = 86_400
_BATCH_SIZE = 500
_TOTALS = "sum(calls), sum(input), sum(read), sum(written), sum(output), sum(cost)"


def daily_usage(
    select: Callable[[str, Sequence[object]], list[tuple[Any, ...]]], conversations: Sequence[str]
) -> list[DailyUsage]:
    """Return the usage of these conversations by day, oldest first."""
    days: dict[int, DailyUsage] = {}
    for start in range(0, len(conversations), _BATCH_SIZE):
        batch = conversations[start : start + _BATCH_SIZE]
        statement = (
            f"SELECT time / {_SECONDS_PER_DAY} AS day, {_TOTALS} FROM foreword_usage"
            f" WHERE conversation IN ({', '.join('?' * len(batch))}) GROUP BY 1"
        )
        for day, calls, input, read, written, output, cost in select(statement, batch):
            row = DailyUsage(day, int(calls), int(input), int(read), int(written), int(output), cost)
            days[day] = _add(days[day], row) if day in days else row
    return [days[day] for day in sorted(days)]


def _add(one: DailyUsage, other: DailyUsage) -> DailyUsage:
    costs = [row.cost for row in (one, other) if row.cost is not None]
    return DailyUsage(
        one.day,
        one.calls + other.calls,
        one.input + other.input,
        one.read + other.read,
        one.written + other.written,
        one.output + other.output,
        sum(costs) if costs else None,
    )
