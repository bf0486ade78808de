"""Read what all teams have: the lists that an operator sees, and which teams use an id.

A list by team and id, a count and the names of templates are one statement each, because every index begins with the team. With filters, each
team is asked on its own, and the answers are merged. One statement finds the newest conversation of every team. With these, a page of the
newest asks only the teams that can be on it, however many teams there are.
"""

from __future__ import annotations

from ..errors import MissingError, is_plain, show
from ..vocabulary import replace
from .listing import ConversationPage, details_of, find_conversations
from .rows import ALL_TEAMS, TemplateRow, check_limit, check_name
from .team_store import TEAMS
from .usage import add_days
from .walking import Position, age_of, end_of, kind_condition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .contract import Store
    from .listing import ConversationQuery
    from .rows import ConversationRow
    from .usage import DailyUsage
    from .walking import Examined, Select

_BATCH_SIZE = 500
# How often a team is asked for the newest conversations until it has some.
_MAX_ATTEMPTS = 50
# The kind is in an expression here, because SQLite would search its index.
_WITH_CONVERSATION = (
    "SELECT team FROM foreword_editions WHERE team IN ({}) AND conversation = ? AND kind + 0 IS NOT NULL ORDER BY team"
)
_WITH_TEMPLATE = "SELECT DISTINCT team FROM foreword_templates WHERE team IN ({}) AND name = ? ORDER BY team"
# When the newest conversation of each team was created, among those before a position. This reads one row for each team.
_NEWEST_OF_TEAMS = f"""
    WITH known AS ({TEAMS})
    SELECT team, (
        SELECT e.created FROM foreword_editions AS e WHERE e.team = known.team AND e.kind IS NOT NULL AND (e.created, e.id) < (?, ?)
        ORDER BY e.created DESC LIMIT 1
    ) FROM known
"""
# Conversations after a position, sorted by team and id.
_AFTER = """
    SELECT team, id, created, conversation, kind FROM foreword_editions
    WHERE (team, conversation) > (?, ?) AND kind IS NOT NULL ORDER BY team, conversation LIMIT ?
"""
_COUNT = """
    SELECT coalesce(sum(conversations), 0) FROM foreword_kinds AS k
    JOIN foreword_counts AS n ON n.team = k.team AND n.kind = k.id WHERE {}
"""
_TEMPLATES = """
    SELECT team, name, max(version) FROM foreword_templates WHERE (team, name) > (?, ?) AND name >= ? AND name < ?
    GROUP BY team, name ORDER BY team, name LIMIT ?
"""
_LABELS = """
    SELECT team, name, label, version FROM foreword_labels WHERE (team, name) >= (?, ?) AND (team, name) <= (?, ?) ORDER BY label
"""


class AllTeams:
    """The lists of a store, across its teams. Rows say which team they belong to."""

    team = ALL_TEAMS

    def __init__(self, store: Store) -> None:
        self._store = store

    def conversations(self, query: ConversationQuery) -> ConversationPage:
        """Return a page of conversations: sorted by team and id, or with the newest first."""
        check_limit(query.limit)
        if query.newest:
            return self._store.search(lambda select: _newest(select, query))
        if not query.prefix and not query.filters_kinds and not query.filters_times:
            return self._store.search(lambda select: _all_by_id(select, query))
        teams = self._store.teams()
        return self._store.search(lambda select: _by_id(select, teams, query))

    def count(self, query: ConversationQuery) -> tuple[int, bool]:
        if not query.prefix and not query.filters_times:
            condition, key = kind_condition(query)
            ((total,),) = self._store.search(lambda select: select(_COUNT.format(f"true{condition}"), key))
            return int(total), True
        counts = [self._store.for_team(team).count(query) for team in self._store.teams()]
        return sum(count for count, _ in counts), all(is_exact for _, is_exact in counts)

    def prompt(self, id: str) -> tuple[str, str] | None:
        stored = (self._store.for_team(team).prompt(id) for team in self._store.teams())
        return next((prompt for prompt in stored if prompt is not None), None)

    def template_names(self, prefix: str = "", limit: int = 100, after: str = "") -> list[TemplateRow]:
        """Return templates, sorted by team and name. `after` is the position of the last one before them."""
        check_limit(limit)
        position = split_position(after) if after else ("", "")
        if not all(map(is_plain, (*position, prefix))):
            return []

        def read_names(select: Select) -> list[TemplateRow]:
            found = select(_TEMPLATES, [*position, prefix, end_of(prefix), limit])
            labels: dict[tuple[str, str], dict[str, int]] = {(team, name): {} for team, name, _ in found}
            if found:
                for team, name, label, version in select(_LABELS, [*found[0][:2], *found[-1][:2]]):
                    labels.get((team, name), {})[label] = version
            return [TemplateRow(name, newest, labels[team, name], team) for team, name, newest in found]

        return self._store.search(read_names)

    def daily_usage(self, rows: Iterable[ConversationRow]) -> list[DailyUsage]:
        """Return the usage of these conversations by day, oldest first."""
        ids: dict[str, list[str]] = {}
        for row in rows:
            ids.setdefault(row.team, []).append(row.id)
        return add_days(day for team, found in ids.items() for day in self._store.for_team(team).daily_usage(found))

    def with_conversation(self, id: str) -> list[str]:
        """Return the teams that have a conversation with this id."""
        return self._teams_with(_WITH_CONVERSATION, id)

    def with_template(self, name: str) -> list[str]:
        """Return the teams that have a template with this name."""
        check_name(name)
        return self._teams_with(_WITH_TEMPLATE, name)

    def _teams_with(self, select_teams: str, key: str) -> list[str]:
        teams = self._store.teams()
        batches = [teams[start : start + _BATCH_SIZE] for start in range(0, len(teams), _BATCH_SIZE)]

        def search(select: Select) -> list[str]:
            found = []
            for batch in batches:
                found += select(select_teams.format(", ".join("?" * len(batch))), [*batch, key])
            return [team for (team,) in found]

        return self._store.search(search) if teams else []


def _newest(select: Select, query: ConversationQuery) -> ConversationPage:
    """Return a page with the newest first. If a team has more, what is older than its last one belongs on a later page.

    The team with the newest conversation is asked first. Once the page is full of newer ones, the remaining teams have nothing for it.
    """
    found: list[tuple[Examined, str]] = []
    last: tuple[int, int] | None = None
    for created_last, team in _by_newest(select, query):
        if len(found) > query.limit and created_last < sorted(row[1] for row, _ in found)[-query.limit - 1]:
            break
        rows, next = _find_some(select, team, query)
        found += ((row, team) for row in rows)
        if next:
            position = Position.read(next)
            end = (-position.created, -position.id)
            last = end if last is None else min(last, end)
    found.sort(key=lambda pair: age_of(pair[0]))
    known = [pair for pair in found if last is None or age_of(pair[0]) <= last]
    page = known[: query.limit]
    if len(known) > len(page):
        id, created, *_ = page[-1][0]
        return _page(select, page, Position(created, id).write())
    return _page(select, page, "" if last is None else Position(-last[0], -last[1]).write())


def _find_some(select: Select, team: str, query: ConversationQuery) -> tuple[list[Examined], str]:
    """Return a team's conversations on a page, and the `after` for its next page. What a page knows of one team does not help with others,
    so that pages without conversations are skipped here."""
    for _ in range(_MAX_ATTEMPTS):
        rows, next = find_conversations(select, team, query)
        if rows or not next:
            break
        query = replace(query, after=next)
    return rows, next


def _by_newest(select: Select, query: ConversationQuery) -> list[tuple[int, str]]:
    """Return the teams that have conversations, each with when its newest one was created, the newest first."""
    position = Position.read(query.after) if query.after else Position()
    rows = select(_NEWEST_OF_TEAMS, position.place)
    return sorted(
        ((created, team) for team, created in rows if created is not None), key=lambda pair: (-pair[0], pair[1])
    )


def _all_by_id(select: Select, query: ConversationQuery) -> ConversationPage:
    """Return a page of everything, sorted by team and id."""
    position = split_position(query.after) if query.after else ("", "")
    if not all(map(is_plain, position)) or not query.limit:
        return ConversationPage([])
    rows = select(_AFTER, [*position, query.limit + 1])
    found = [((id, created, conversation, kind), team) for team, id, created, conversation, kind in rows[: query.limit]]
    return _page(select, found, position_in(found[-1][1], found[-1][0][2]) if len(rows) > query.limit else "")


def _by_id(select: Select, teams: Sequence[str], query: ConversationQuery) -> ConversationPage:
    """Return a page sorted by team and id. `after` is the position of the last one before it."""
    team_after, after = split_position(query.after) if query.after else ("", "")
    found: list[tuple[Examined, str]] = []
    for number, team in enumerate(teams):
        if team < team_after:
            continue
        limit = query.limit - len(found)
        rows, next = find_conversations(
            select, team, replace(query, after=after if team == team_after else "", limit=limit)
        )
        found += ((row, team) for row in rows)
        if next:
            return _page(select, found, position_in(team, next))
        if len(found) >= query.limit and number + 1 < len(teams):
            return _page(select, found, position_in(team, found[-1][0][2]) if found else "")
    return _page(select, found, "")


def _page(select: Select, found: Sequence[tuple[Examined, str]], next: str) -> ConversationPage:
    ids: dict[str, list[str]] = {}
    for row, team in found:
        ids.setdefault(team, []).append(row[2])
    rows = {(row.team, row.id): row for team, each in ids.items() for row in details_of(select, team, each)}
    return ConversationPage([rows[team, row[2]] for row, team in found if (team, row[2]) in rows], next)


def position_in(team: str, id: str) -> str:
    """Return the position of an id in a list that is sorted by team and id."""
    return f"{len(team)}:{team}{id}"


def split_position(after: str) -> tuple[str, str]:
    length, colon, rest = after.partition(":")
    if not (colon and length.isascii() and length.isdecimal() and len(length) < 4 and int(length) <= len(rest)):
        raise MissingError(f"no page comes after {show(after)}; after must be the `next` of the previous page")
    return rest[: int(length)], rest[int(length) :]
