"""Name the changes that would have saved most, each priced from the requests themselves. Pure."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from .costs import Rates
    from .joining import Session
    from .records import Collapse, Entry

MOST = 3
_SHORT, _LONG = 300, 3600
_WORDS = {
    "file": "keep {name} as it is during a session",
    "server": "keep the tools of the MCP server {name} the same, and in the same order, from the start of a session",
    "tool": "keep the tools the same during a session: {name} in all requests, or in none",
    "clock": "keep dates and times out of the prompt, or at its end",
    "setting": "keep {name} the same during a session",
    "model": "stay with one model during a session",
    "message": "do not rewrite earlier messages",
}
# The log may have only the number of tools.
_ANY_TOOLS = "keep the tools the same during a session"


class Advice(NamedTuple):
    """A change, what it would have saved, and on what evidence."""

    change: str
    saving: int
    evidence: str


def advise(
    sessions: Iterable[tuple[Session, Sequence[Entry]]],
    rates_of: Callable[[Session, Entry], Rates | None],
    servers: Mapping[str, int] | None = None,
) -> list[Advice]:
    """Return the three changes that would have saved most. `servers` are MCP servers that were never called, with their cost."""
    groups: dict[tuple[str, str], tuple[int, int]] = {}  # how often, and what it cost
    rows = list(sessions)
    for _, entries in rows:
        for entry in entries:
            if entry.collapse is not None and entry.collapse.cost and entry.collapse.cause in _WORDS:
                name = entry.collapse.path or entry.collapse.name
                key = entry.collapse.cause, name if entry.collapse.cause != "model" else ""
                count, cost = groups.get(key, (0, 0))
                groups[key] = count + 1, cost + entry.collapse.cost
    found = [_for_cause(cause, name, count, cost) for (cause, name), (count, cost) in groups.items()]
    found.append(_for_lifetime(rows, rates_of))
    for server, cost in (servers or {}).items():
        found.append(Advice(f"switch off the MCP server {server}", cost, "its tools were sent, and never called"))
    return sorted((row for row in found if row.saving > 0), key=lambda row: (-row.saving, row.change))[:MOST]


def _for_cause(cause: str, name: str, count: int, cost: int) -> Advice:
    times = "once" if count == 1 else f"{count:,} times"
    change = _WORDS[cause] if name or cause != "tool" else _ANY_TOOLS
    return Advice(change.format(name=name or "it"), cost, f"the cache broke {times} because of it")


def _for_lifetime(
    rows: list[tuple[Session, Sequence[Entry]]], rates_of: Callable[[Session, Entry], Rates | None]
) -> Advice:
    """Return what a lifetime of one hour would have saved: fewer prefixes written again, but every write costs more.

    Only providers that sell an hour count, and all of their sessions: nobody knows at the start of one whether there will be a pause.
    """
    saving = count = 0
    for session, entries in rows:
        for entry in entries:
            rates = rates_of(session, entry)
            if rates is None or rates.long <= rates.written:
                continue
            kept = 0
            if entry.collapse and _is_short(entry.collapse):
                count += 1
                saving += entry.collapse.cost or 0
                kept = entry.collapse.lost.written
            saving -= max(entry.tokens.written - entry.tokens.long - kept, 0) * (rates.long - rates.written)
    pauses = "1 pause" if count == 1 else f"{count:,} pauses"
    return Advice(
        "cache for one hour instead of five minutes", saving if count else 0, f"{pauses} of five minutes to one hour"
    )


def _is_short(collapse: Collapse) -> bool:
    return bool(collapse.cause == "lifetime" and collapse.pause and _SHORT < collapse.pause <= _LONG)
