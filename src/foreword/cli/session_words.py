"""How times, tokens and costs of sessions are written."""

from __future__ import annotations

import sys

from ..text.lines import printable
from ..text.shares import cached_percent
from .terminal import SEVERITIES, count_of, paint, write, write_error, write_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..wire.session_forms import SessionTokensForm

_BARS = "▁▂▃▄▅▆▇█"
_DAYS = 60
_MOST_ALIKE = 4  # findings with the same code
_SMALL = 0.01  # dollars; smaller amounts have four decimal places
KINDS = ("fresh", "written", "read", "out")


def write_total(total: Mapping[str, Any]) -> None:
    tokens = total["tokens"]
    amounts = ", ".join(f"{amount(tokens[kind])} {kind}" for kind in KINDS)
    requests = count_of(total["requests"], "request")
    if total["cost"] is None:
        write_line(f"{requests} of models without a price ({amounts})")
    else:
        write_line(f"{money(total['cost'])} at list price for {requests} ({amounts})")
    if total["unpriced_tokens"] and total["cost"] is not None:
        write_line(f"{total['unpriced_tokens']:,} tokens are of models without a price, and not in this sum", indent=2)
    causes = total["collapse_cost"]
    if causes and all(cost is None for cost in causes.values()):
        write_line(f"the cache collapsed: {', '.join(causes)}", indent=2)
    elif causes:
        known = [cost for cost in causes.values() if cost is not None]
        parts = ", ".join(
            f"{cause} {money(cost)}" for cause, cost in sorted(causes.items(), key=lambda row: -(row[1] or 0))
        )
        write_line(f"{money(sum(known))} of it because the cache collapsed: {parts}", indent=2)


def write_days(days: Mapping[str, float | None]) -> None:
    """Print a line with a bar for each of the last days, if there are several with sessions. A day without a cost has a dot."""
    names = _last_days([day for day in days if day != "unknown"])
    costs = [days.get(name) or 0.0 for name in names]
    if len(costs) > 1 and max(costs) > 0:
        bars = "".join(_bar(cost / max(costs)) for cost in costs)
        write_line(f"{bars}  cost by day, {names[0]} to {names[-1]}")


def _last_days(days: Sequence[str]) -> list[str]:
    """Return all days from the first of these to the last, but no more than fit a line."""
    from datetime import date

    if not days:
        return []
    first, last = date.fromisoformat(days[0]).toordinal(), date.fromisoformat(days[-1]).toordinal()
    return [date.fromordinal(number).isoformat() for number in range(max(first, last - _DAYS + 1), last + 1)]


def _bar(share: float) -> str:
    return _BARS[min(int(share * len(_BARS)), len(_BARS) - 1)] if share else "·"


def write_advice(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the changes that would have saved most."""
    if rows:
        write("\n")
        write_line(paint("what would help", "bold"))
    for row in rows:
        write_line(printable(f"{money(row['saving'])}  {row['change']} ({row['evidence']})"), indent=2)


def when(time: str | None) -> str:
    return time[:16].replace("T", " ") if time else "?"


def age(time: str | None, now: float) -> str:
    """Return how long ago a time was, in at most four characters."""
    from datetime import datetime

    from .authorship import format_age

    return format_age(now - datetime.fromisoformat(time).timestamp()) if time else "?"


def models(names: Sequence[str], is_short: bool = False) -> str:
    """Return the first model's name, and how many others there are."""
    if not names:
        return "?"
    name = names[0].rpartition("/")[2].removeprefix("claude-") if is_short else names[0]
    return name + (f" +{len(names) - 1}" if len(names) > 1 else "")


def amount(count: int) -> str:
    """Return a number of tokens in at most five characters."""
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if count >= size:
            rounded = f"{count / size:.1f}"
            return f"{rounded if len(rounded) < 5 else f'{count / size:.0f}'}{unit}"
    return str(count)


def money(cost: float | None) -> str:
    if cost is None:
        return "no price"
    return f"${cost:,.2f}" if cost >= _SMALL or not cost else f"${cost:.4f}"


def money_column(costs: Sequence[float | None], total: float | None) -> list[str]:
    """Return amounts that are rounded so that they add up to the total as it is printed."""
    from ..sessions.costs import apportion

    places = 4 if total is not None and 0 < total < _SMALL else 2
    known = [cost for cost in costs if cost is not None]
    rounded = iter(apportion(round((total or 0.0) * 10**places), known))
    return ["no price" if cost is None else f"${next(rounded) / 10**places:,.{places}f}" for cost in costs]


def token_sum(tokens: SessionTokensForm) -> int:
    """Return how many tokens there are of all kinds."""
    return tokens["fresh"] + tokens["written"] + tokens["read"] + tokens["out"]


def hit_rate(tokens: Mapping[str, int]) -> str:
    total = tokens["fresh"] + tokens["written"] + tokens["read"]
    return cached_percent(tokens["read"] / total) if total else ""


def report_forms(findings: Sequence[Mapping[str, Any]]) -> None:
    """Print findings to standard error, and of those with the same code only the first."""
    counts: dict[str, int] = {}
    for entry in findings:
        counts[entry["code"]] = count = counts.get(entry["code"], 0) + 1
        if count <= _MOST_ALIKE:
            severity = paint(entry["severity"], SEVERITIES[entry["severity"]], sys.stderr)
            write_error(f"{severity}: {entry['message']} [{entry['code']}]", indent=2)
    for code, count in counts.items():
        if count > _MOST_ALIKE:
            write_error(f"{count - _MOST_ALIKE:,} more [{code}]; --json has all of them", indent=2)
