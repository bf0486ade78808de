"""Walk through a team's conversations in the order of their ids or of time, in SQL that SQLite and PostgreSQL share.

Each step of a walk examines a range of an index: it first reads where the range ends, and then selects what the query wants in it. So a
step costs the same however few conversations match, and only those that do leave the database.
"""

from __future__ import annotations

from ..errors import MissingError, show
from ..vocabulary import replace, value
from . import waits
from .texts import to_bytes
from .times import first_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from .query import ConversationQuery

    Select = Callable[[str, Sequence[object]], list[tuple[Any, ...]]]
    # A row of id, created, conversation and kind.
    Examined = tuple[int, int, str, int]

# How many rows the steps of a walk examine. Those of a walk by id are in random places of the table, so it takes shorter ones.
TIME_STEPS = (500, 1000, 1500, 3000)
ID_STEPS = (300, 600, 800, 800)
_MAX_KINDS = 50
LAST = 2**63 - 1
_COLUMNS = "id, created, conversation, kind"
_OF_KIND = "kind = ?"


@value
class Position:
    """Where a page ends in the order of time, and what a walk by id knows that has not ended yet.

    Fields:
        created: The next page has what is older than this time, or as old,
        id: with a lower row id.
        newest: The time and row id of the newest conversation that the walk by id has found so far.
        reached: The id up to which it has come, or an empty string.
    """

    created: int = LAST
    id: int = LAST
    newest: tuple[int, int] | None = None
    reached: str = ""

    @classmethod
    def read(cls, after: str) -> Position:
        """Return the position that `write` has written. Raises a MissingError for other strings."""
        parts = after.split(".", 4)
        try:
            created, id, *known = map(int, (*parts[:2], *filter(None, parts[2:4])))
        except ValueError:
            created, id, known = LAST + 1, 0, []
        position = cls(created, id, (known[0], known[1]) if len(known) == 2 else None, "".join(parts[4:]))
        if (
            len(parts) not in (2, 5)
            or len(known) == 1
            or not all(-LAST <= number <= LAST for number in (created, id, *known))
        ):
            raise MissingError(f"no page comes after {show(after)}; after must be the `next` of the previous page")
        return position

    def write(self) -> str:
        place = f"{self.created}.{self.id}"
        if not self.reached:
            return place
        created, id = self.newest or ("", "")
        return f"{place}.{created}.{id}.{self.reached}"

    @property
    def place(self) -> tuple[int, int]:
        return self.created, self.id


def end_of(prefix: str) -> str:
    """Return the lowest string that is higher than all strings with this prefix. The prefix must not be empty."""
    while prefix:
        last = ord(prefix[-1])
        if last < 0x10FFFF:
            return prefix[:-1] + chr(0xE000 if last == 0xD7FF else last + 1)
        prefix = prefix[:-1]
    return "\U0010ffff" * 513


def age_of(row: Examined) -> tuple[int, int]:
    """Return the sort key that puts the newest rows first."""
    return -row[1], -row[0]


def id_of(row: Examined) -> str:
    return row[2]


def time_limits(query: ConversationQuery) -> tuple[int, int]:
    """Return the number before which the query's time ends, and the one with which it begins."""
    until = LAST if query.until is None else first_number(query.until)
    return until, -LAST if query.since is None else first_number(query.since)


def kind_condition(query: ConversationQuery) -> tuple[str, list[object]]:
    """Return the condition for the kinds that a query asks for, and its parameters."""
    fields: dict[str, object] = {
        name: to_bytes(text)
        for name, text in (("layout", query.layout), ("model", query.model), ("template", query.template))
        if text
    }
    if query.version is not None:
        fields["version"] = query.version
    if not fields:
        return "", []
    return "".join(f" AND {name} = ?" for name in fields), list(fields.values())


def kinds_of(select: Select, team: str, query: ConversationQuery) -> set[int]:
    condition, key = kind_condition(query)
    return {kind for (kind,) in select(f"SELECT id FROM foreword_kinds WHERE team = ?{condition}", [team, *key])}


def walk_ids(select: Select, team: str, query: ConversationQuery, start: str) -> Iterator[tuple[list[Examined], str]]:
    """Yield what the query wants in each range of ids, and where the range ends, or an empty string if it is the last one.

    The first range begins after the id `start`. A list has at most one conversation more than a page: those that come first on it.
    """
    wanted, wanted_key = _wanted(team, query, is_by_time=False)
    order = "created + 0 DESC, id DESC" if query.newest else "conversation"
    # A single lower bound: of two, SQLite would use the first one for its index.
    start, comparison = (start, ">") if start >= query.prefix else (query.prefix, ">=")
    # If everything is wanted, the page ends the only range.
    steps = ID_STEPS if query.newest or query.filters_kinds or query.filters_times else (0,)
    for length in steps:
        source = f"conversation {comparison} ? AND conversation"
        # Editions that are not in use count too, so that the index alone says where the range ends.
        ends = length and select(
            f"SELECT conversation FROM foreword_editions WHERE team = ? AND {source} < ? ORDER BY conversation LIMIT 1 OFFSET {length - 1}",
            [team, start, end_of(query.prefix)],
        )
        bound, end = ("<=", ends[0][0]) if ends else ("<", "")
        rows = select(
            f"SELECT {_COLUMNS} FROM foreword_editions WHERE team = ? AND {source} {bound} ? AND kind IS NOT NULL{wanted}"
            f" ORDER BY {order} LIMIT {query.limit + 1}",
            [team, start, end or end_of(query.prefix), *wanted_key],
        )
        yield rows, end
        if not end:
            return
        start, comparison = end, ">"


def walk_times(
    select: Select, team: str, query: ConversationQuery, kinds: set[int] | None, before: tuple[int, int]
) -> Iterator[tuple[list[Examined], tuple[int, int] | None]]:
    """Yield what the query wants in each range of time, and the time and row id before which the next range begins, if there is one.

    The first range begins before `before`. A list has at most one conversation more than a page: those that come first on it.
    """
    sources = _sources(team, kinds)
    if sources[0][0] == _OF_KIND:
        query = replace(query, layout="", model="", template="", version=None)
    wanted, wanted_key = _wanted(team, query, is_by_time=True)
    order = "created DESC, id DESC" if query.newest else "conversation || ''"
    until, since = time_limits(query)
    before = min(before, (until, 0))
    # If everything is wanted, the page ends the only range.
    is_page = query.newest and not query.prefix and not query.filters_kinds
    for length in (query.limit + 1,) if is_page else TIME_STEPS:
        if length == TIME_STEPS[-1]:
            waits.announce("search")
        offset = length - 1 if is_page else max(length // len(sources), 1) - 1
        # Each source is examined up to an end. The newest one ends the range.
        rest = f" ORDER BY created DESC LIMIT 1 OFFSET {offset}"
        end = max((created for (created,) in _read(select, sources, "created", rest, (*before, since))), default=None)
        first = since if end is None else end
        rest = f"{wanted} ORDER BY {order} LIMIT {query.limit + 1}"
        rows = _read(select, sources, _COLUMNS, rest, (*before, first, *wanted_key))
        next = None if end is None else (end, 0)
        yield sorted(rows, key=age_of if query.newest else id_of)[: query.limit + 1], next
        if next is None:
            return
        before = next


def _sources(team: str, kinds: set[int] | None) -> list[tuple[str, list[object]]]:
    """Return the condition for what is examined, and its parameters: for each kind, or for all conversations."""
    if kinds is None or len(kinds) > _MAX_KINDS:
        return [("kind IS NOT NULL", [team])]
    return [(_OF_KIND, [team, kind]) for kind in sorted(kinds)]


def _read(
    select: Select, sources: Sequence[tuple[str, list[object]]], columns: str, rest: str, key: Sequence[object]
) -> list[tuple[Any, ...]]:
    """Select from each source in a range of time."""
    statement = " UNION ALL ".join(
        f"SELECT * FROM (SELECT {columns} FROM foreword_editions"
        f" WHERE team = ? AND {condition} AND (created, id) < (?, ?) AND created >= ?{rest}) AS part"
        for condition, _ in sources
    )
    return select(statement, [each for _, source_key in sources for each in (*source_key, *key)])


def _wanted(team: str, query: ConversationQuery, is_by_time: bool) -> tuple[str, list[object]]:
    """Return the condition for the rows of a walk's range that belong on a page or on a later one, and its parameters.

    The columns are in expressions, so that no database searches another index for them than that of the walk.
    """
    condition, key = "", list[object]()
    if is_by_time and query.prefix:
        condition, key = " AND conversation || '' >= ? AND conversation || '' < ?", [query.prefix, end_of(query.prefix)]
    if is_by_time and query.after and not query.newest:
        condition += " AND conversation || '' > ?"
        key.append(query.after)
    if not is_by_time and query.filters_times:
        condition, key = " AND created + 0 < ? AND created + 0 >= ?", [*time_limits(query)]
    if not is_by_time and query.after and query.newest:
        condition += " AND (created + 0, id) < (?, ?)"
        key += Position.read(query.after).place
    if query.filters_kinds:
        kinds, kind_key = kind_condition(query)
        condition += f" AND kind + 0 IN (SELECT k.id FROM foreword_kinds AS k WHERE k.team = ?{kinds})"
        key += [team, *kind_key]
    return condition, key
