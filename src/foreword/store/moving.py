"""Give conversations and templates to teams, by the prefixes that their ids had when a team was a prefix. No id changes.

Each transaction moves a batch, so this can be interrupted and repeated. What a team already has is not replaced: it stays where it is.
"""

from __future__ import annotations

from ..vocabulary import value
from .collecting import batches, marks
from .deleting import DeletingStore
from .rows import ALL_TEAMS, EDITION_COLUMNS, check_team, edition_of
from .walking import end_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from .team_store import Rows

_BATCH_SIZE = 200
_IN_RANGE = """
    SELECT conversation FROM foreword_editions
    WHERE team = ? AND conversation > ? AND conversation >= ? AND conversation < ? AND kind IS NOT NULL
    ORDER BY conversation LIMIT ?
"""
# The kind is in an expression here, because SQLite would search its index.
_ARE_THERE = "SELECT conversation FROM foreword_editions WHERE team = ? AND conversation IN {} AND kind + 0 IS NOT NULL"
_LOCK = "SELECT id FROM foreword_editions WHERE team = ? AND conversation IN {} ORDER BY id"
_EDITIONS = f"""
    SELECT id, conversation, content, kind, {EDITION_COLUMNS} FROM foreword_editions WHERE team = ? AND conversation IN {{}}
"""
_MOVE = (
    "UPDATE foreword_editions SET team = ?, content = ?, kind = ? WHERE team = ? AND conversation IN {} AND id IN {}"
)
_MOVE_USAGE = "UPDATE foreword_usage SET team = ? WHERE team = ? AND conversation IN {}"
_NAMES = """
    SELECT name FROM foreword_templates WHERE team = ? AND name >= ? AND name < ?
    UNION SELECT name FROM foreword_moves WHERE team = ? AND name >= ? AND name < ?
"""
_HAS_NAME = "SELECT 1 FROM foreword_moves WHERE team = ? AND name = ? LIMIT 1"
_TEXTS = """
    SELECT DISTINCT v.template, t.hash FROM foreword_templates AS v
    JOIN foreword_texts AS t ON t.team = v.team AND t.id = v.template WHERE v.team = ? AND v.name = ?
"""
_MOVE_VERSIONS = "UPDATE foreword_templates SET team = ?, template = ? WHERE team = ? AND name = ? AND template = ?"
_MOVE_NAMES = [
    f"UPDATE {table} SET team = ? WHERE team = ? AND name = ?" for table in ("foreword_labels", "foreword_moves")
]


@value
class Moved:
    """What has moved to a team so far, and how many conversations and templates stayed because it has others with the same id."""

    team: str
    conversations: int = 0
    templates: int = 0
    left: int = 0


class MovingStore(DeletingStore):
    """The methods of a store, including the one that moves rows to teams. Subclasses run the statements."""

    def move_to_teams(self, teams: Mapping[str, str]) -> Iterator[Moved]:
        for team in teams.values():
            check_team(team)
        for prefix in sorted(teams, key=lambda prefix: (-len(prefix), prefix)):
            yield from self._move_prefix(prefix, teams[prefix])
        self._collect_all()
        self.drop_forgotten()

    def _move_prefix(self, prefix: str, team: str) -> Iterator[Moved]:
        """Move what begins with a prefix, and yield what this prefix has moved so far."""
        if team == self.team:
            return
        conversations = templates = left = 0
        after = ""
        while True:
            key = (self.team, after, prefix, end_of(prefix), _BATCH_SIZE)
            rows = self._run(lambda connection, key=key: self._select(connection, _IN_RANGE, key))  # type: ignore[misc]
            ids = [id for (id,) in rows]
            if ids:
                moved = self._move_conversations(ids, team)
                conversations, left, after = conversations + moved, left + len(ids) - moved, ids[-1]
                yield Moved(team, conversations, templates, left)
            if len(ids) < _BATCH_SIZE:
                break
        limits = (self.team, prefix, end_of(prefix))
        names = self._run(lambda connection: self._select(connection, _NAMES, limits * 2))
        for (name,) in names:
            is_moved = self._move_template(name, team)
            templates, left = templates + is_moved, left + (not is_moved)
        yield Moved(team, conversations, templates, left)

    def _move_conversations(self, ids: Sequence[str], team: str) -> int:
        """Move conversations in one transaction, and return how many could be moved."""
        everything, target = self.for_team(ALL_TEAMS), self.for_team(team)
        count = 0

        def move(connection: Any) -> bool:
            nonlocal count
            self._begin_removal(connection)
            there = {id for (id,) in self._select(connection, _ARE_THERE.format(marks(ids)), [team, *ids])}
            free = [id for id in ids if id not in there]
            count = len(free)
            if not free:
                return False
            self._select(connection, _LOCK.format(marks(free)) + self.FOR_UPDATE, [self.team, *free])
            rows = self._select(connection, _EDITIONS.format(marks(free)), [self.team, *free])
            changes = self._move_rows(connection, rows, target)
            self._execute(connection, _MOVE_USAGE.format(marks(free)), [team, self.team, *free])
            self._record_removal(connection, [(row[1], row[2], row[3]) for row in rows])
            target._count(connection, changes)
            return True

        everything._write(move, {})
        self._collect_all()
        return count

    def _move_rows(self, connection: Any, rows: Rows, target: MovingStore) -> dict[int, tuple[int, int]]:
        """Move editions, and copy their texts. Returns how many conversations and editions of each kind the team has gained."""
        by_content: dict[tuple[int, bool], Rows] = {}
        for row in rows:
            by_content.setdefault((row[2], row[3] is not None), []).append(row)
        changes: dict[int, tuple[int, int]] = {}
        contents = self._contents_by_hash(connection, [row[5] for row in rows])
        for (_, is_current), found in sorted(by_content.items(), key=lambda pair: pair[0]):
            edition = edition_of(found[0][4:], contents[found[0][5]])
            content, kind = target._content(connection, edition, target._content_hash(edition), {})
            for batch in batches(found):
                moved, ids = [row[0] for row in batch], sorted({row[1] for row in batch})
                key = (target.team, content, kind if is_current else None, self.team, *ids, *moved)
                self._execute(connection, _MOVE.format(marks(ids), marks(moved)), key)
            conversations, editions = changes.get(kind, (0, 0))
            changes[kind] = (conversations + len(found) * is_current, editions + len(found))
        return changes

    def _move_template(self, name: str, team: str) -> bool:
        """Move a template with its versions, labels and moves. Returns False if the team has another one with this name."""
        everything, target = self.for_team(ALL_TEAMS), self.for_team(team)
        is_moved = True

        def move(connection: Any) -> bool:
            nonlocal is_moved
            self._lock_templates(connection)
            self._begin_removal(connection)
            is_moved = not self._select(connection, _HAS_NAME, (team, name))
            if not is_moved:
                return False
            old = self._select(connection, _TEXTS, (self.team, name))
            texts = self._by_hash(connection, [hash for _, hash in old])
            for id, hash in old:
                text = texts[hash]
                new_id = target._row_ids(connection, [text], {})[text]
                self._execute(connection, _MOVE_VERSIONS, (team, new_id, self.team, name, id))
            for statement in _MOVE_NAMES:
                self._execute(connection, statement, (team, self.team, name))
            unused = self._lock_unused(connection, sorted(id for id, _ in old)) if old else []
            self._record(connection, self._delete_texts(connection, unused))
            return True

        everything._write(move, {})
        return is_moved
