"""Remove contents and texts that nothing uses any more, and record their hashes; `forgetting.py` explains both kinds of transactions."""

from __future__ import annotations

import time

from .rows import TEXT_COLUMNS
from .writer import StoreWriter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

MAX_AGE = 3600
"""How many seconds the hashes of what was removed are kept. Every process reads them long before that."""

BATCH_SIZE = 1000
_MARKED = "SELECT content FROM foreword_unused WHERE team = ? ORDER BY content LIMIT ?"
_IS_UNUSED = """
    NOT EXISTS (SELECT 1 FROM foreword_editions AS e WHERE e.team = foreword_contents.team AND e.content = foreword_contents.id)
"""
_UNUSED = f"""
    SELECT id, {", ".join(TEXT_COLUMNS)} FROM foreword_contents WHERE team = ? AND id {{}} AND {_IS_UNUSED} ORDER BY id
"""
_LOCK_CONTENTS = "SELECT id FROM foreword_contents WHERE team = ? AND id {} ORDER BY id"
_DELETE_CONTENTS = f"DELETE FROM foreword_contents WHERE team = ? AND id {{}} AND {_IS_UNUSED} RETURNING hash"
_DELETE_UNUSED = "DELETE FROM foreword_unused WHERE team = ? AND content {}"
_MARK_UNUSED = f"""
    INSERT INTO foreword_unused (team, content) SELECT team, id FROM foreword_contents
    WHERE team = ? AND id {{}} AND {_IS_UNUSED} ON CONFLICT (team, content) DO UPDATE SET content = excluded.content
"""
# PostgreSQL turns NOT EXISTS into a join unless there is an offset. With old statistics, that join reads all contents of a team for each text.
_ONE = "LIMIT 1 OFFSET 0"
_IS_NOT_MARKED = f"""
    AND NOT EXISTS (SELECT 1 FROM foreword_unused AS u WHERE u.team = c.team AND u.content = c.id {_ONE})
"""
_ADD_FORGOTTEN = "INSERT INTO foreword_forgotten (hash, time) VALUES (?, ?)"
# Rows are added in the order of time, so this reads only those that it deletes.
_DELETE_FORGOTTEN = """
    DELETE FROM foreword_forgotten WHERE id < (SELECT id FROM foreword_forgotten WHERE time >= ? ORDER BY id LIMIT 1)
"""


def marks(values: Sequence[object]) -> str:
    return f"({', '.join('?' * len(values))})"


def batches(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (values[start : start + BATCH_SIZE] for start in range(0, len(values), BATCH_SIZE))


def _unused_condition(condition: str = "") -> str:
    """Return an SQL condition for texts that no content and no template uses. `condition` limits which contents count."""
    uses = [
        f"SELECT 1 FROM foreword_contents AS c WHERE c.team = t.team AND c.{column} = t.id{condition} {_ONE}"
        for column in TEXT_COLUMNS
    ]
    uses.append(f"SELECT 1 FROM foreword_templates AS v WHERE v.team = t.team AND v.template = t.id {_ONE}")
    return " AND ".join(f"NOT EXISTS ({use})" for use in uses)


class CollectingStore(StoreWriter):
    """Removes contents and texts that are not used, and records their hashes for other processes. Subclasses run the statements."""

    # Added to a SELECT so that rows that another transaction has locked are left out.
    SKIP_LOCKED = ""
    # Follows a column: whether its value is in the list that `_list` passes as one parameter.
    AMONG = "IN (SELECT value FROM json_each(?))"

    def _list(self, values: Sequence[int] | Sequence[str]) -> object:
        """Return values as the parameter of AMONG."""
        from json import dumps

        return dumps(values)

    def _mark_unused(self, connection: Any, contents: Sequence[int]) -> int:
        """Mark those of these contents that no edition uses any more, and return how many they are."""
        return self._execute(connection, _MARK_UNUSED.format(self.AMONG), (self.team, self._list(contents)))

    def _collect_all(self) -> int:
        """Remove all marked contents, and the texts that only they used. Returns how many texts that were."""
        count = 0
        while True:
            removed = 0
            is_done = False

            def collect(connection: Any) -> bool:
                nonlocal removed, is_done
                self._begin_removal(connection)
                rows = self._select(connection, _MARKED + self.SKIP_LOCKED, (self.team, BATCH_SIZE))
                is_done = len(rows) < BATCH_SIZE
                removed = self._collect(connection, [content for (content,) in rows]) if rows else 0
                return bool(rows)

            self._write(collect, {})
            count += removed
            if is_done:
                return count

    def _collect(self, connection: Any, batch: list[int]) -> int:
        """Remove those of these contents that are unused, with their unused texts. Returns how many texts that were."""
        # Contents that are still used are not locked, so that others can publish editions with them meanwhile.
        key = (self.team, self._list(batch))
        unused = {id: texts for id, *texts in self._select(connection, _UNUSED.format(self.AMONG), key)}
        count = self._delete_contents(connection, sorted(unused), {text for texts in unused.values() for text in texts})
        self._execute(connection, _DELETE_UNUSED.format(self.AMONG), key)
        return count

    def _delete_contents(self, connection: Any, contents: list[int], texts: Iterable[int]) -> int:
        """Delete contents and their texts, unless they are used again. Publishing locks rows in the same order."""
        if not contents:
            return 0
        key = (self.team, self._list(contents))
        ids = self._lock_unused(connection, sorted(texts), is_marked=True)
        if self.FOR_UPDATE:
            self._select(connection, _LOCK_CONTENTS.format(self.AMONG) + self.FOR_UPDATE, key)
        hashes = self._select(connection, _DELETE_CONTENTS.format(self.AMONG), key)
        removed = self._delete_texts(connection, ids)
        self._record(connection, [*(hash for (hash,) in hashes), *removed])
        return len(removed)

    def _lock_unused(self, connection: Any, texts: Sequence[int], is_marked: bool = False) -> Sequence[int]:
        """Lock the texts that nothing uses, or only contents that are marked, and return their ids."""
        if not self.FOR_UPDATE:  # nobody else is writing
            return texts
        condition = _unused_condition(_IS_NOT_MARKED if is_marked else "")
        select = f"SELECT id FROM foreword_texts AS t WHERE team = ? AND id {self.AMONG} AND {condition} ORDER BY id"
        rows = self._select(connection, select + self.FOR_UPDATE, (self.team, self._list(texts)))
        return [id for (id,) in rows]

    def _delete_texts(self, connection: Any, locked: Sequence[int]) -> list[bytes]:
        """Delete the texts that are still unused, and return their hashes."""
        if not locked:
            return []
        condition = _unused_condition()
        delete = f"DELETE FROM foreword_texts AS t WHERE team = ? AND id {self.AMONG} AND {condition} RETURNING hash"
        return [hash for (hash,) in self._select(connection, delete, [self.team, self._list(locked)])]

    def _begin_removal(self, connection: Any) -> None:
        """Make other transactions that remove rows of this team wait until this one ends.

        Otherwise each of two that remove the last two uses of a text would still see the other one's. From here on, the transaction
        uses indexes, even where reading a whole table seems cheaper for a batch.
        """

    def _lock_forgotten(self, connection: Any) -> None:
        """Make other transactions that record hashes wait, so that rows become visible in the order of their ids."""

    def _record(self, connection: Any, hashes: Sequence[bytes]) -> None:
        """Record the hashes of what was removed, all in one row, and delete those that every process has read by now."""
        if not hashes:
            return
        self._lock_forgotten(connection)
        now = int(time.time())
        self._execute(connection, _ADD_FORGOTTEN, (b"".join(hashes), now))
        self._execute(connection, _DELETE_FORGOTTEN, (now - MAX_AGE,))
