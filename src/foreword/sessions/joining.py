"""Join the logs of each session, and count every request once. Pure."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from operator import itemgetter, le
from typing import NamedTuple

from .costs import cost_of
from .pages import Pages
from .records import Entry
from .values import TokenCounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from .costs import RateCard
    from .records import LogRecord
    from .values import Event


UNLOGGED = "unlogged|"


class Session(NamedTuple):
    """What an agent did in one run: all of its logs."""

    id: str
    agent: str
    version: str
    path: str
    cwd: str
    branch: str
    entries: Sequence[Entry]
    copies: int
    own_cost: float | None
    events: tuple[Event, ...]
    problems: tuple[tuple[str, str], ...]


def join_records(records: Iterable[LogRecord], card: RateCard, providers: Mapping[str, str]) -> list[Session]:
    """Return the sessions that these logs belong to. A request that is in several logs belongs to the one that it comes from."""
    groups: dict[tuple[str, str], list[LogRecord]] = {}
    for record in records:
        groups.setdefault((record.log.agent, record.log.session), []).append(record)
    ordered = sorted(groups.items(), key=_origin_order)
    owners: dict[str, dict[int, tuple[str, str]]] = {}  # by agent and the hash of a request's key
    sessions: list[Session] = []
    spent: dict[tuple[str, str], Sequence[Entry]] = {}
    for name, group in ordered:
        group.sort(key=lambda record: (bool(record.log.thread), _first_time(record), record.log.path))
        entries, copies, parents = _own_entries(name, group, owners.setdefault(name[0], {}))
        inherited = [entry for parent in parents for entry in spent[parent]]
        logged = unlogged_entries(group, inherited, entries, bool(copies), card, providers.get(name[0], ""))
        entries = _sort(entries, list(logged))
        spent[name] = entries
        main = group[0].log
        events = tuple(event for record in group for event in record.log.events)
        problems = tuple(dict.fromkeys(problem for record in group for problem in record.log.problems))
        versions = [record.log.version for record in group if record.log.version]
        sessions.append(
            Session(
                main.session,
                main.agent,
                versions[0] if versions else "",
                main.path,
                main.cwd,
                main.branch,
                entries,
                copies,
                main.own_cost,
                events,
                problems,
            )
        )
    return sessions


def _first_time(record: LogRecord) -> float:
    return min((entry.time for entry in record.entries if entry.time), default=0.0)


def _origin_order(group: tuple[tuple[str, str], list[LogRecord]]) -> tuple[object, ...]:
    """Sort sessions so that one comes before its forks: a fork starts with copies, which it cannot rebuild."""
    name, records = group
    main = min(records, key=lambda record: bool(record.log.thread))
    first = main.entries[0] if len(main.entries) else None
    times = array("d", (entry.time for entry in main.entries))
    return (
        min(times, default=0.0),
        first is None or first.made != "rebuilt",
        max(times, default=0.0),
        name,
    )


def _sort(entries: Sequence[Entry], more: list[Entry]) -> Sequence[Entry]:
    """Return entries in the order of their times."""
    if not isinstance(entries, Pages):
        return sorted([*entries, *more], key=lambda entry: entry.time)
    count = len(entries)
    times = array("d", (entry.time for entry in entries))
    times.extend(entry.time for entry in more)
    if not more and all(map(le, times, times[1:])):
        return entries
    order = sorted(range(len(times)), key=times.__getitem__)
    return Pages(entries[index] if index < count else more[index - count] for index in order).plain()


def _own_entries(
    name: tuple[str, str], group: Sequence[LogRecord], owners: dict[int, tuple[str, str]]
) -> tuple[Sequence[Entry], int, list[tuple[str, str]]]:
    """Return a session's own entries, how many are copies, and the sessions that these are copies of."""
    own: Pages[Entry] = Pages()
    repeated: dict[str, Entry] = {}
    copies = 0
    parents: dict[tuple[str, str], None] = {}
    for record in group:
        for entry in record.entries:
            key = hash(entry.key)
            owner = owners.get(key)
            if owner is None:
                owners[key] = name
                own.append(entry)
            elif owner is not name:
                copies += 1
                parents[owner] = None
            elif entry.tokens.input > repeated.setdefault(entry.key, entry).tokens.input:
                repeated[entry.key] = entry
    if not repeated:
        return own.plain(), copies, list(parents)
    largest = (max(entry, repeated.get(entry.key, entry), key=lambda row: row.tokens.input) for entry in own)
    return Pages(largest).plain(), copies, list(parents)


# Requests without a record


def unlogged_entries(
    group: Sequence[LogRecord],
    inherited: Sequence[Entry],
    own: Sequence[Entry],
    has_copies: bool,
    card: RateCard,
    provider: str,
) -> Iterator[Entry]:
    """Yield the requests without a record, from the sums that the program wrote: its total less what is logged.

    Several requests between two sums can only be told apart as a sum. A fork's sums begin with those of the session that it continues,
    whose requests are `inherited`.
    """
    main = group[0].log
    if not main.totals or (has_copies and not inherited):
        return
    logged = _Logged(group, inherited if has_copies else (), own)
    compactions = [event.after for event in main.events if event.kind == "compaction" and not event.thread]
    found = {model: TokenCounts() for model, *_ in main.totals}
    before = count = 0
    for model, position, time, total in main.totals:
        rest = total.minus(logged.sum(model, position, time)).minus(found[model])
        if min(rest) >= 0 and rest.input + rest.out > 0:
            found[model] = found[model].plus(rest)
            kind = "compaction" if any(before <= after <= position for after in compactions) else "side"
            price = card.rule(model, provider, time).rates
            cost = None if price is None else cost_of(rest, price)
            count += 1
            yield Entry(
                f"{UNLOGGED}{main.session}|{count}", "", time, model, rest, cost, kind, "rebuilt", "", None, None
            )
        before = position


class _Logged:
    """The requests of a session that are logged: those of the session that it continues, its own, and those of its sub-agents."""

    def __init__(self, group: Sequence[LogRecord], inherited: Sequence[Entry], own: Sequence[Entry]) -> None:
        start = min((entry.time for entry in own if entry.time), default=0.0)
        self._keys = {hash(entry.key) for entry in own} if inherited else None
        self._main: dict[str, TokenCounts] = {}
        for entry in inherited:
            if entry.time <= start:
                self._add(entry)
        self._rest = iter(group[0].entries)
        self._position = 0
        self._subs = _running_sums([(entry.time - 1, entry) for record in group[1:] for entry in record.entries])

    def _add(self, entry: Entry) -> None:
        self._main[entry.model] = self._main.get(entry.model, TokenCounts()).plus(entry.tokens)

    def sum(self, model: str, position: int, time: float) -> TokenCounts:
        """Return the tokens of a model up to a position in the main log, which is not before that of the last call."""
        while self._position < position and (entry := next(self._rest, None)) is not None:
            self._position += 1
            if self._keys is None or hash(entry.key) in self._keys:
                self._add(entry)
        times, sums = self._subs.get(model, _NOTHING)
        return self._main.get(model, TokenCounts()).plus(sums[bisect_right(times, time)])


_NOTHING: tuple[list[float], list[TokenCounts]] = ([], [TokenCounts()])


def _running_sums(rows: Iterable[tuple[float, Entry]]) -> dict[str, tuple[list[float], list[TokenCounts]]]:
    """Return for each model the places of its entries in order, and the tokens before each of them and at the end."""
    found: dict[str, tuple[list[float], list[TokenCounts]]] = {}
    for place, entry in sorted(rows, key=itemgetter(0)):
        places, sums = found.setdefault(entry.model, ([], [TokenCounts()]))
        places.append(place)
        sums.append(sums[-1].plus(entry.tokens))
    return found
