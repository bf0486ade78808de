"""List, filter and count conversations by index, in SQL that SQLite and PostgreSQL share.

Conversations are sorted by id, or by the time of their current edition, newest first. Each order has an index, and so does each filter
on its own when the newest come first. For a combination, an index is walked in batches, and what does not match is skipped: in the order
of the page until something is found, or in the other order if that ends first. So a page may have fewer conversations than were asked
for although `next` says that there are more, but it is never empty then. Both walks have a limit.
"""

from __future__ import annotations

from ..errors import CallError, MissingError, is_plain, show
from ..vocabulary import value
from . import waits
from .rows import check_limit, conversation_of
from .texts import to_bytes
from .times import first_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from .rows import ConversationRow

    Select = Callable[[str, Sequence[object]], list[tuple[Any, ...]]]
    # A row of id, created, conversation and kind.
    Examined = tuple[int, int, str, int]
    Step = tuple[list[Examined], Examined | None]

# The first step of a walk examines so many rows, and each further step three times as many, up to a limit. After the usual number of
# steps, a page has what was found by then; if that is nothing, the walk continues as long work, up to the last number.
_FIRST_EXAMINED = 500
_MAX_EXAMINED = 5000
_MAX_STEPS = 200
_USUAL_STEPS = 6
_MAX_KINDS = 50
_MAX_COUNTED = 10_000
_BATCH_SIZE = 500
_LAST = 2**63 - 1


@value
class ConversationQuery:
    """Which conversations to list. Empty fields do not filter.

    Fields:
        prefix: A prefix of the ids.
        layout: The name or address of the layout.
        model: The model that the current edition was built for.
        template: The name of the stored template.
        version: The version of the stored template.
        since: The earliest time of the current edition, in seconds since 1970.
        until: The time before which the current edition was created.
        newest: Whether to sort by the time of the current edition, newest first, instead of by id.
        limit: The length of a page.
        after: `next` of the previous page.
    """

    prefix: str = ""
    layout: str = ""
    model: str = ""
    template: str = ""
    version: int | None = None
    since: float | None = None
    until: float | None = None
    newest: bool = False
    limit: int = 100
    after: str = ""

    @property
    def filters_kinds(self) -> bool:
        return bool(self.layout or self.model or self.template) or self.version is not None

    @property
    def filters_times(self) -> bool:
        return self.since is not None or self.until is not None

    def is_in_time(self, created: int) -> bool:
        return (self.since is None or created >= first_number(self.since)) and (
            self.until is None or created < first_number(self.until)
        )


ANY_CONVERSATION = ConversationQuery()


@value
class ConversationPage:
    """Some conversations, and the `after` for the next page, or an empty string if there are no more."""

    rows: Sequence[ConversationRow]
    next: str = ""


def end_of(prefix: str) -> str:
    """Return the lowest string that is higher than all strings with this prefix. The prefix must not be empty."""
    while prefix:
        last = ord(prefix[-1])
        if last < 0x10FFFF:
            return prefix[:-1] + chr(0xE000 if last == 0xD7FF else last + 1)
        prefix = prefix[:-1]
    return "\U0010ffff" * 513


def list_conversations(select: Select, team: str, query: ConversationQuery) -> ConversationPage:
    """Return a page of a team's conversations."""
    check_limit(query.limit)
    found, next = find_conversations(select, team, query)
    return ConversationPage(details_of(select, team, [row[2] for row in found]), next)


def count_conversations(select: Select, team: str, query: ConversationQuery) -> tuple[int, bool]:
    """Return the number of a team's conversations, and whether it is exact. Otherwise, there are at least that many.

    The conversations of a prefix are counted in the order of their ids, those of a time in the order of time, and at most
    `_MAX_COUNTED` are examined in each order.
    """
    condition, key = kind_condition(query)
    if not is_plain(query.prefix):
        return 0, True
    if not query.prefix and not query.filters_times:
        statement = f"""
            SELECT coalesce(sum(conversations), 0) FROM foreword_kinds AS k
            JOIN foreword_counts AS n ON n.team = k.team AND n.kind = k.id WHERE k.team = ?{condition}
        """
        return int(select(statement, [team, *key])[0][0]), True
    in_kinds, kind_key = "", list[object]()
    if condition:
        in_kinds, kind_key = f" AND kind IN (SELECT id FROM foreword_kinds WHERE team = ?{condition})", [team, *key]
    before, since = _times(query)
    most = 0
    for is_used, order, limits, limit_key in (
        (query.prefix, "conversation", *_id_limits(query.prefix)),
        (query.filters_times, "created DESC", "created < ? AND created >= ?", [before, since]),
    ):
        if not is_used:
            continue
        statement = f"""
            SELECT (SELECT count(*) FROM examined), (SELECT count(*) FROM examined WHERE conversation >= ? AND conversation < ?
                AND created < ? AND created >= ?{in_kinds})
        """
        examined = f"{_EXAMINE} AND {limits} ORDER BY {order} LIMIT {_MAX_COUNTED}"
        found_key = [team, *limit_key, *_id_limits(query.prefix)[1], before, since, *kind_key]
        ((total, found),) = select(f"WITH examined AS ({examined}) {statement}", found_key)
        if total < _MAX_COUNTED:
            return found, True
        most = max(most, found)
    return most, False


def find_conversations(select: Select, team: str, query: ConversationQuery) -> tuple[list[Examined], str]:
    """Return the conversations on a page, and the `after` for the next page."""
    if not is_plain(query.prefix) or not is_plain(query.after) or not query.limit:
        return [], ""
    kinds = _kinds(select, team, query) if query.filters_kinds else None
    if kinds is not None and not kinds:
        return [], ""
    found, last = _search(select, team, query, kinds)
    if len(found) > query.limit:
        found = found[: query.limit]
        last = found[-1]
    if last is None:
        return found, ""
    return found, f"{last[1]}.{last[0]}" if query.newest else last[2]


def _search(
    select: Select, team: str, query: ConversationQuery, kinds: set[int] | None
) -> tuple[list[Examined], Examined | None]:
    """Return conversations in the order of the page, and the last one that was examined if there may be more.

    One walk goes through an index in the order of the page. If it must skip what the query leaves out, a walk through the other index
    takes turns with it. The first one finishes when it has found enough, the other one when it has found everything.
    """
    matches = _matcher(query, kinds)
    walk, other_walk = _walks(select, team, query, kinds)
    found: list[Examined] = []
    others: list[Examined] = []
    for step in range(1, _MAX_STEPS + 1):
        if other_walk is not None:
            rows, last = next(other_walk)
            others = sorted([*others, *filter(matches, rows)], key=age_of if query.newest else _id)[: query.limit + 1]
            if last is None:
                return others, None
        rows, last = next(walk)
        found += filter(matches, rows)
        if last is None or len(found) > query.limit or (found and step >= _USUAL_STEPS):
            return found, last
        if step >= _USUAL_STEPS:
            waits.announce("search")
    raise CallError(
        f"no such conversation was found among {_MAX_STEPS * _MAX_EXAMINED:,} that were examined; use a longer prefix, or an"
        f" earlier `until`{', or sort by id' if query.newest else ', or sort by time'}"
    )


def _walks(
    select: Select, team: str, query: ConversationQuery, kinds: set[int] | None
) -> tuple[Iterator[Step], Iterator[Step] | None]:
    """Return the walk in the order of the page and, if it must skip what the query leaves out, the walk through the other index."""
    by_id, by_time = (walk(select, team, query, kinds) for walk in (_walk_ids, _walk_times))
    if query.newest:
        return by_time, by_id if query.prefix else None
    return by_id, by_time if kinds is not None or query.filters_times else None


def _matcher(query: ConversationQuery, kinds: set[int] | None) -> Callable[[Examined], bool]:
    """Return a function that says whether a row belongs on the page or on a later one."""
    position = position_of(query.after) if query.newest and query.after else (_LAST, _LAST)
    after = "" if query.newest else query.after

    def matches(row: Examined) -> bool:
        id, created, conversation, kind = row
        is_after = (created, id) < position and conversation > after
        is_wanted = conversation.startswith(query.prefix) and (kinds is None or kind in kinds)
        return is_after and is_wanted and query.is_in_time(created)

    return matches


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


def _kinds(select: Select, team: str, query: ConversationQuery) -> set[int]:
    condition, key = kind_condition(query)
    return {kind for (kind,) in select(f"SELECT id FROM foreword_kinds WHERE team = ?{condition}", [team, *key])}


_EXAMINE = "SELECT id, created, conversation, kind FROM foreword_editions WHERE team = ? AND kind IS NOT NULL"


def _walk_ids(select: Select, team: str, query: ConversationQuery, kinds: set[int] | None) -> Iterator[Step]:
    """Yield the conversations with the prefix in the order of their ids, and the last one of each batch if there may be more."""
    is_exact = not query.newest and kinds is None and not query.filters_times
    after = "" if query.newest else query.after
    # A single lower bound: of two, SQLite would use the first one for its index.
    start, comparison = (after, ">") if after >= query.prefix else (query.prefix, ">=")
    for limit in _limits(query.limit + 1 if is_exact else 0):
        rows = select(
            f"{_EXAMINE} AND conversation {comparison} ? AND conversation < ? ORDER BY conversation LIMIT {limit}",
            [team, start, end_of(query.prefix)],
        )
        if len(rows) < limit:
            yield rows, None
            return
        yield rows, rows[-1]
        start, comparison = rows[-1][2], ">"


def _walk_times(select: Select, team: str, query: ConversationQuery, kinds: set[int] | None) -> Iterator[Step]:
    """Yield the conversations of the time from the newest to the oldest, and the last one of each batch if there may be more."""
    sources = sorted(kinds) if kinds is not None and len(kinds) <= _MAX_KINDS else [None]
    is_exact = query.newest and not query.prefix and (kinds is None or sources != [None])
    end, since = _times(query)
    before = (end, 0) if end < _LAST else (_LAST, _LAST)
    if query.newest and query.after:
        before = min(before, position_of(query.after))
    for limit in _limits(query.limit + 1 if is_exact else 0, len(sources)):
        rows, last = _merge(_read_before(select, team, sources, before, since, limit), limit, len(sources) > 1)
        yield rows, last
        if last is None:
            return
        before = last[1], last[0]


def _read_before(
    select: Select, team: str, kinds: Sequence[int | None], before: tuple[int, int], since: int, limit: int
) -> list[Examined]:
    """Return, for each kind, the newest conversations before a position, in one SELECT. A kind of None stands for all kinds."""
    parts, key = [], list[object]()
    for kind in kinds:
        condition = "kind IS NOT NULL" if kind is None else "kind = ?"
        key += [team, *([] if kind is None else [kind]), *before, since]
        parts.append(
            f"SELECT * FROM (SELECT id, created, conversation, kind FROM foreword_editions"
            f" WHERE team = ? AND {condition} AND (created, id) < (?, ?) AND created >= ? ORDER BY created DESC, id DESC LIMIT {limit}) AS part"
        )
    return select(" UNION ALL ".join(parts), key)


def _limits(exact: int, parts: int = 1) -> Iterator[int]:
    """Yield how many rows each step of a walk reads of each part: `exact`, or else more with each step."""
    limit = _FIRST_EXAMINED
    while True:
        yield exact or max(min(limit, _MAX_EXAMINED) // parts, 1)
        limit *= 3


def _id_limits(prefix: str) -> tuple[str, list[object]]:
    """Return the condition for ids with a prefix, and its parameters."""
    return "conversation >= ? AND conversation < ?", [prefix, end_of(prefix)]


def _times(query: ConversationQuery) -> tuple[int, int]:
    """Return the number before which the query's time ends, and the one with which it begins."""
    until = _LAST if query.until is None else first_number(query.until)
    return until, -_LAST if query.since is None else first_number(query.since)


def _merge(rows: list[Examined], limit: int, has_parts: bool) -> Step:
    """Sort the rows of several kinds. If one of them has more rows, those that are older than its last one are left out."""
    by_kind: dict[int, list[Examined]] = {}
    for row in rows:
        by_kind.setdefault(row[3] if has_parts else 0, []).append(row)
    ends = [max(part, key=age_of) for part in by_kind.values() if len(part) == limit]
    last = min(ends, key=age_of) if ends else None
    return sorted((row for row in rows if last is None or age_of(row) <= age_of(last)), key=age_of), last


def age_of(row: Examined) -> tuple[int, int]:
    """Return the sort key that puts the newest rows first."""
    return -row[1], -row[0]


def _id(row: Examined) -> str:
    return row[2]


def position_of(after: str) -> tuple[int, int]:
    created, _, id = after.partition(".")
    try:
        position = int(created), int(id)
    except ValueError:
        position = (_LAST + 1, 0)
    if not all(-_LAST <= number <= _LAST for number in position):
        raise MissingError(f"no page comes after {show(after)}; after must be the `next` of the previous page")
    return position


def details_of(select: Select, team: str, conversations: Sequence[str]) -> list[ConversationRow]:
    """Return these conversations of a team with their current editions, in this order."""
    found: dict[str, ConversationRow] = {}
    for start in range(0, len(conversations), _BATCH_SIZE):
        batch = conversations[start : start + _BATCH_SIZE]
        # Subqueries rather than joins: without statistics, PostgreSQL would begin with another table than the editions.
        statement = f"""
            SELECT e.kind, e.conversation, e.number, (
                SELECT t.hash FROM foreword_texts AS t WHERE t.team = e.team AND t.id = (
                    SELECT c.system FROM foreword_contents AS c WHERE c.team = e.team AND c.id = e.content
                )
            ), e.created, e.created_text
            FROM foreword_editions AS e
            WHERE e.team = ? AND e.conversation IN ({", ".join("?" * len(batch))}) AND e.kind IS NOT NULL
        """
        rows = [row for row in select(statement, [team, *batch]) if row[3] is not None]
        used = sorted({row[0] for row in rows})
        kinds = f"""
            SELECT id, layout, model, template, version FROM foreword_kinds
            WHERE team = ? AND id IN ({", ".join("?" * len(used))})
        """
        by_id = {id: columns for id, *columns in select(kinds, [team, *used])} if used else {}
        found |= {row[1]: conversation_of(team, (*row[1:], *by_id[row[0]])) for row in rows if row[0] in by_id}
    return [found[id] for id in conversations if id in found]
