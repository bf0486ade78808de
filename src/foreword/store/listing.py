"""List, filter and count conversations by index, in SQL that SQLite and PostgreSQL share.

Conversations are sorted by id, or by the time of their current edition, newest first. Each order has an index, and so does each filter
on its own when the newest come first. For a combination, an index is walked in steps, and what does not match is skipped: in the order
of the page until it is full, or in the other order if that ends first. Both walks have a limit, so that every page takes about as long. A
page may therefore have fewer conversations than were asked for, or none, although `next` says that there may be more.
"""

from __future__ import annotations

from itertools import islice

from ..errors import is_plain
from ..vocabulary import replace, value
from .query import ANY_CONVERSATION as ANY_CONVERSATION
from .query import ConversationQuery as ConversationQuery
from .rows import check_limit, conversation_of
from .walking import (
    LAST,
    Position,
    age_of,
    end_of,
    id_of,
    kind_condition,
    kinds_of,
    time_limits,
    walk_ids,
    walk_times,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .rows import ConversationRow
    from .walking import Examined, Select

_MAX_COUNTED = 10_000
_EXAMINE = "SELECT created, conversation, kind FROM foreword_editions WHERE team = ? AND kind IS NOT NULL"
_BATCH_SIZE = 500


@value
class ConversationPage:
    """Some conversations, or none, and the `after` for the next page, or an empty string if there are no more."""

    rows: Sequence[ConversationRow]
    next: str = ""


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
    before, since = time_limits(query)
    ids, id_key = "conversation >= ? AND conversation < ?", [query.prefix, end_of(query.prefix)]
    if not condition and not query.filters_times:
        statement = f"SELECT DISTINCT conversation FROM foreword_editions WHERE team = ? AND {ids} ORDER BY conversation LIMIT {_MAX_COUNTED}"
        ((found,),) = select(f"SELECT count(*) FROM ({statement}) AS examined", [team, *id_key])
        return found, found < _MAX_COUNTED
    most = 0
    for is_used, order, limits, limit_key in (
        (query.prefix, "conversation", ids, id_key),
        (query.filters_times, "created DESC", "created < ? AND created >= ?", [before, since]),
    ):
        if not is_used:
            continue
        statement = f"""
            SELECT (SELECT count(*) FROM examined), (SELECT count(*) FROM examined WHERE conversation >= ? AND conversation < ?
                AND created < ? AND created >= ?{in_kinds})
        """
        examined = f"{_EXAMINE} AND {limits} ORDER BY {order} LIMIT {_MAX_COUNTED}"
        found_key = [team, *limit_key, *id_key, before, since, *kind_key]
        ((total, found),) = select(f"WITH examined AS ({examined}) {statement}", found_key)
        if total < _MAX_COUNTED:
            return found, True
        most = max(most, found)
    return most, False


def find_conversations(select: Select, team: str, query: ConversationQuery) -> tuple[list[Examined], str]:
    """Return the conversations on a page, and the `after` for the next page."""
    if not is_plain(query.prefix) or not is_plain(query.after) or not query.limit:
        return [], ""
    kinds = kinds_of(select, team, query) if query.filters_kinds else None
    if kinds is not None and not kinds:
        return [], ""
    found, next = (_search_newest if query.newest else _search_ids)(select, team, query, kinds)
    if len(found) > query.limit:
        found = found[: query.limit]
        id, created, conversation, _ = found[-1]
        next = Position(created, id).write() if query.newest else conversation
    return found, next


def _search_ids(
    select: Select, team: str, query: ConversationQuery, kinds: set[int] | None
) -> tuple[list[Examined], str]:
    """Return conversations in the order of their ids, and the id up to which they were examined if there may be more."""
    is_filtered = kinds is not None or query.filters_times
    by_time = walk_times(select, team, query, kinds, (LAST, LAST)) if is_filtered else iter(())
    found: list[Examined] = []
    others: list[Examined] = []
    reached = query.after
    for rows, reached in walk_ids(select, team, query, query.after):
        for other_rows, place in islice(by_time, 1):
            others = sorted([*others, *other_rows], key=id_of)[: query.limit + 1]
            if place is None:
                return others, ""
        found += rows
        if not reached or len(found) > query.limit:
            break
    return found, reached


def _search_newest(
    select: Select, team: str, query: ConversationQuery, kinds: set[int] | None
) -> tuple[list[Examined], str]:
    """Return conversations from the newest to the oldest, and the position up to which they were examined if there may be more.

    If nothing is found, the walk by id goes on with the next page. When it has ended, that page begins with the newest that it has found.
    """
    start = Position.read(query.after) if query.after else Position()
    by_id = walk_ids(select, team, query, start.reached) if query.prefix else iter(())
    newest, reached, place = start.newest, "", start.place
    found: list[Examined] = []
    others: list[Examined] = []
    for rows, end in walk_times(select, team, query, kinds, start.place):
        found += rows
        if end is None:
            return found, ""
        place = end
        if len(found) > query.limit:
            break
        for other_rows, reached in islice(by_id, 1):
            others = sorted([*others, *other_rows], key=age_of)[: query.limit + 1]
            newest = max([*filter(None, [newest]), *((created, id) for id, created, *_ in others)], default=None)
            if not reached and not start.reached:
                return others, ""
            if not reached and not found:
                return [], "" if newest is None else Position(newest[0], newest[1] + 1).write()
    return found, replace(Position(*place), **({} if found else {"newest": newest, "reached": reached})).write()


def details_of(select: Select, team: str, conversations: Sequence[str]) -> list[ConversationRow]:
    """Return these conversations of a team with their current editions, in this order."""
    found: dict[str, ConversationRow] = {}
    for start in range(0, len(conversations), _BATCH_SIZE):
        batch = conversations[start : start + _BATCH_SIZE]
        # Subqueries rather than joins: without statistics, PostgreSQL would begin with another table than the editions. And the kind is in an
        # expression, because SQLite would search its index.
        statement = f"""
            SELECT e.kind, e.conversation, e.number, (
                SELECT t.hash FROM foreword_texts AS t WHERE t.team = e.team AND t.id = (
                    SELECT c.system FROM foreword_contents AS c WHERE c.team = e.team AND c.id = e.content
                )
            ), e.created, e.created_text
            FROM foreword_editions AS e
            WHERE e.team = ? AND e.conversation IN ({", ".join("?" * len(batch))}) AND e.kind + 0 IS NOT NULL
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
