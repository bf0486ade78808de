"""List, filter and count conversations by index, in SQL that SQLite and PostgreSQL share.

Conversations are sorted by id, or by the time of their current edition, newest first. Each order has an index, and so does each filter
on its own when the newest come first. Combinations are examined in the order of an index, up to a limit, so that every page takes about
the same time in stores of any size. A page may therefore have fewer conversations than were asked for, although `next` says that there
are more.
"""

from __future__ import annotations

from ..errors import MissingError, is_plain, show
from ..vocabulary import replace, value
from .rows import check_limit, conversation_of
from .texts import to_bytes
from .times import first_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .rows import ConversationRow

    Select = Callable[[str, Sequence[object]], list[tuple[Any, ...]]]
    # A row of id, created, conversation and kind.
    Examined = tuple[int, int, str, int]

_MAX_EXAMINED = 5000
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


def list_conversations(select: Select, query: ConversationQuery) -> ConversationPage:
    """Return a page of conversations."""
    check_limit(query.limit)
    found, next = _find(select, query)
    return ConversationPage(_details(select, [row[2] for row in found]), next)


def count_conversations(select: Select, query: ConversationQuery) -> tuple[int, bool]:
    """Return the number of conversations, and whether it is exact. Otherwise, it is the limit up to which they were counted."""
    if not query.prefix and not query.filters_times:
        condition, key = _kind_condition(query)
        statement = (
            f"SELECT coalesce(sum(conversations), 0) FROM foreword_kinds JOIN foreword_counts ON kind = id{condition}"
        )
        return int(select(statement, key)[0][0]), True
    count, query = 0, replace(query, limit=_MAX_EXAMINED, after="")
    while count < _MAX_COUNTED:
        found, next = _find(select, query)
        count += len(found)
        if not next:
            return count, True
        query = replace(query, after=next)
    return _MAX_COUNTED, False


def _find(select: Select, query: ConversationQuery) -> tuple[list[Examined], str]:
    """Return the conversations on a page, and the `after` for the next page."""
    if not is_plain(query.prefix) or not is_plain(query.after) or not query.limit:
        return [], ""
    kinds = _kinds(select, query) if query.filters_kinds else None
    if kinds is not None and not kinds:
        return [], ""
    examined, last = _newest(select, query, kinds) if query.newest else _by_id(select, query, kinds)
    found = [row for row in examined if _matches(row, query, kinds)]
    if len(found) > query.limit:
        found = found[: query.limit]
        last = found[-1]
    if last is None:
        return found, ""
    return found, f"{last[1]}.{last[0]}" if query.newest else last[2]


def _matches(row: Examined, query: ConversationQuery, kinds: set[int] | None) -> bool:
    _, created, conversation, kind = row
    return conversation.startswith(query.prefix) and (kinds is None or kind in kinds) and query.is_in_time(created)


def _kind_condition(query: ConversationQuery) -> tuple[str, list[object]]:
    fields: dict[str, object] = {
        name: to_bytes(text)
        for name, text in (("layout", query.layout), ("model", query.model), ("template", query.template))
        if text
    }
    if query.version is not None:
        fields["version"] = query.version
    if not fields:
        return "", []
    return " WHERE " + " AND ".join(f"{name} = ?" for name in fields), list(fields.values())


def _kinds(select: Select, query: ConversationQuery) -> set[int]:
    condition, key = _kind_condition(query)
    return {kind for (kind,) in select(f"SELECT id FROM foreword_kinds{condition}", key)}


_EXAMINE = "SELECT id, created, conversation, kind FROM foreword_editions WHERE kind IS NOT NULL"


def _by_id(select: Select, query: ConversationQuery, kinds: set[int] | None) -> tuple[list[Examined], Examined | None]:
    """Return conversations in the order of their ids, and the last one that was examined if there may be more."""
    limit = _MAX_EXAMINED if kinds is not None or query.filters_times else query.limit + 1
    conditions, key = ["conversation > ?"], [query.after]
    if query.prefix:
        conditions += ["conversation >= ?", "conversation < ?"]
        key += [query.prefix, end_of(query.prefix)]
    statement = f"{_EXAMINE} AND {' AND '.join(conditions)} ORDER BY conversation LIMIT {limit}"
    rows = select(statement, key)
    return rows, rows[-1] if len(rows) == limit else None


def _newest(select: Select, query: ConversationQuery, kinds: set[int] | None) -> tuple[list[Examined], Examined | None]:
    """Return conversations from the newest to the oldest, and the last one that was examined if there may be more."""
    before, since = _range(query)
    if query.prefix and (rows := _few_with_prefix(select, query.prefix)) is not None:
        older = [row for row in rows if (row[1], row[0]) < before and row[1] >= since]
        return sorted(older, key=_age), None
    sources = sorted(kinds) if kinds is not None and len(kinds) <= _MAX_KINDS else [None]
    is_filtered = bool(query.prefix) or (kinds is not None and sources == [None])
    limit = max(_MAX_EXAMINED // len(sources), 100) if is_filtered else query.limit + 1
    parts, key = [], list[object]()
    for kind in sources:
        condition = "kind IS NOT NULL" if kind is None else "kind = ?"
        key += [*([] if kind is None else [kind]), *before, since]
        parts.append(
            f"SELECT * FROM (SELECT id, created, conversation, kind FROM foreword_editions WHERE {condition}"
            f" AND (created, id) < (?, ?) AND created >= ? ORDER BY created DESC, id DESC LIMIT {limit}) AS part"
        )
    rows = select(" UNION ALL ".join(parts), key)
    return _merge(rows, limit, len(sources) > 1)


def _range(query: ConversationQuery) -> tuple[tuple[int, int], int]:
    """Return the position before which a page begins, and the earliest time on it."""
    before = _position(query.after) if query.after else (_LAST, _LAST)
    if query.until is not None:
        before = min(before, (first_number(query.until), 0))
    return before, -_LAST if query.since is None else first_number(query.since)


def _merge(rows: list[Examined], limit: int, has_parts: bool) -> tuple[list[Examined], Examined | None]:
    """Sort the rows of several kinds. If one of them has more rows, those that are older than its last one are left out."""
    by_kind: dict[int, list[Examined]] = {}
    for row in rows:
        by_kind.setdefault(row[3] if has_parts else 0, []).append(row)
    ends = [max(part, key=_age) for part in by_kind.values() if len(part) == limit]
    last = min(ends, key=_age) if ends else None
    return sorted((row for row in rows if last is None or _age(row) <= _age(last)), key=_age), last


def _age(row: Examined) -> tuple[int, int]:
    """Return the sort key that puts the newest rows first."""
    return -row[1], -row[0]


def _few_with_prefix(select: Select, prefix: str) -> list[Examined] | None:
    """Return all conversations with this prefix, or None if there are many."""
    statement = f"{_EXAMINE} AND conversation >= ? AND conversation < ? ORDER BY conversation LIMIT {_MAX_EXAMINED}"
    rows = select(statement, (prefix, end_of(prefix)))
    return None if len(rows) == _MAX_EXAMINED else rows


def _position(after: str) -> tuple[int, int]:
    created, _, id = after.partition(".")
    try:
        position = int(created), int(id)
    except ValueError:
        position = (_LAST + 1, 0)
    if not all(-_LAST <= number <= _LAST for number in position):
        raise MissingError(f"no page comes after {show(after)}; after must be the `next` of the previous page")
    return position


def _details(select: Select, conversations: Sequence[str]) -> list[ConversationRow]:
    """Return these conversations with their current editions, in this order."""
    found: dict[str, ConversationRow] = {}
    for start in range(0, len(conversations), _BATCH_SIZE):
        batch = conversations[start : start + _BATCH_SIZE]
        statement = f"""
            SELECT e.conversation, e.number, t.hash, e.created, e.created_text, k.layout, k.model, k.template, k.version
            FROM foreword_editions AS e JOIN foreword_contents AS c ON c.id = e.content
            JOIN foreword_texts AS t ON t.id = c.system JOIN foreword_kinds AS k ON k.id = e.kind
            WHERE e.conversation IN ({", ".join("?" * len(batch))}) AND e.kind IS NOT NULL
        """
        found |= {row[0]: conversation_of(row) for row in select(statement, batch)}
    return [found[id] for id in conversations if id in found]
