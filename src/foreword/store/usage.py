"""The usage that providers reported for an edition's calls: the values, and the SQL that all stores share."""

from __future__ import annotations

from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any


@value
class CallUsage:
    """The usage of one call. `input` includes tokens that were `read` from the cache or `written` to it; `time` is in seconds.

    `read` and `written` are None if the provider did not report them.
    """

    input: int
    read: int | None
    written: int | None
    output: int
    cost: float | None
    time: int

    @property
    def is_reported(self) -> bool:
        """Whether the provider reported how much was cached."""
        return self.read is not None

    @property
    def cached(self) -> int:
        """How many tokens the provider has cached after this call, according to its report."""
        return (self.read or 0) + (self.written or 0)


@value
class UsageRow:
    """The total usage of an edition's calls, and how many tokens its last two calls left in the provider's cache, and when.

    `read` and `written` omit the calls that did not report them: `unreported` is how many those are, and `unreported_input` is their
    input. `last_input` is the input of the last call.
    """

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
    unreported: int = 0
    unreported_input: int = 0
    last_input: int = 0


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
    unreported: int = 0
    unreported_input: int = 0


_COLUMNS = ", ".join(UsageRow.__annotations__)
SELECT_USAGE = f"SELECT {_COLUMNS} FROM foreword_usage WHERE team = ? AND conversation = ? AND number = ?"
SELECT_ALL_USAGE = f"SELECT number, {_COLUMNS} FROM foreword_usage WHERE team = ? AND conversation = ? ORDER BY number"
_SUMS = ", ".join(
    f"{name} = foreword_usage.{name} + excluded.{name}"
    for name in ("input", "read", "written", "output", "unreported", "unreported_input")
)
# To be formatted with a lock, so that the edition is not deleted meanwhile.
ADD_USAGE = f"""
    INSERT INTO foreword_usage (team, conversation, number, {_COLUMNS})
    SELECT team, conversation, number, 1, ?, ?, ?, ?, CAST(? AS double precision), ?, ?, 0, 0, ?, ?, ?
    FROM foreword_editions WHERE team = ? AND conversation = ? AND number = ?{{}}
    ON CONFLICT (team, conversation, number) DO UPDATE SET
        calls = foreword_usage.calls + 1, {_SUMS},
        cost = coalesce(foreword_usage.cost + excluded.cost, excluded.cost, foreword_usage.cost),
        cached = excluded.cached, time = excluded.time,
        cached_before = foreword_usage.cached, time_before = foreword_usage.time, last_input = excluded.last_input
    RETURNING {_COLUMNS}
"""


def usage_parameters(team: str, conversation: str, number: int, call: CallUsage) -> Sequence[Any]:
    """Return the parameters of `ADD_USAGE`."""
    counts = call.input, call.read or 0, call.written or 0, call.output, call.cost, call.cached, call.time
    unreported = (0, 0) if call.is_reported else (1, call.input)
    return *counts, *unreported, call.input, team, conversation, number


_SECONDS_PER_DAY = 86_400
_BATCH_SIZE = 500
_TOTALS = (
    "sum(calls), sum(input), sum(read), sum(written), sum(output), sum(cost), sum(unreported), sum(unreported_input)"
)


def daily_usage(
    select: Callable[[str, Sequence[object]], list[tuple[Any, ...]]], team: str, conversations: Sequence[str]
) -> list[DailyUsage]:
    """Return the usage of these conversations of a team by day, oldest first."""
    days: list[DailyUsage] = []
    for start in range(0, len(conversations), _BATCH_SIZE):
        batch = conversations[start : start + _BATCH_SIZE]
        statement = (
            f"SELECT time / {_SECONDS_PER_DAY} AS day, {_TOTALS} FROM foreword_usage"
            f" WHERE team = ? AND conversation IN ({', '.join('?' * len(batch))}) GROUP BY 1"
        )
        for day, calls, input, read, written, output, cost, unreported, unreported_input in select(
            statement, [team, *batch]
        ):
            counts = int(calls), int(input), int(read), int(written), int(output)
            days.append(DailyUsage(day, *counts, cost, int(unreported), int(unreported_input)))
    return add_days(days)


def add_days(rows: Iterable[DailyUsage]) -> list[DailyUsage]:
    """Return one row for each day, oldest first."""
    days: dict[int, DailyUsage] = {}
    for row in rows:
        days[row.day] = _add(days[row.day], row) if row.day in days else row
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
        one.unreported + other.unreported,
        one.unreported_input + other.unreported_input,
    )
