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

BATCH_SIZE = 200
_POSSIBLY_UNUSED = "SELECT content FROM foreword_unused WHERE team = ? ORDER BY content LIMIT ?"
_IS_UNUSED = """
    NOT EXISTS (SELECT 1 FROM foreword_editions AS e WHERE e.team = foreword_contents.team AND e.content = foreword_contents.id)
"""
_UNUSED = f"""
    SELECT id, {", ".join(TEXT_COLUMNS)} FROM foreword_contents WHERE team = ? AND id IN {{}} AND {_IS_UNUSED} ORDER BY id
"""
_LOCK_CONTENTS = "SELECT id FROM foreword_contents WHERE team = ? AND id IN {} ORDER BY id"
_DELETE_CONTENTS = f"DELETE FROM foreword_contents WHERE team = ? AND id IN {{}} AND {_IS_UNUSED} RETURNING hash"
_DELETE_UNUSED = "DELETE FROM foreword_unused WHERE team = ? AND content IN {}"
_ADD_FORGOTTEN = "INSERT INTO foreword_forgotten (hash, time) VALUES {}"
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
        f"SELECT 1 FROM foreword_contents AS c WHERE c.team = t.team AND c.{column} = t.id{condition}"
        for column in TEXT_COLUMNS
    ]
    uses.append("SELECT 1 FROM foreword_templates AS v WHERE v.team = t.team AND v.template = t.id")
    return " AND ".join(f"NOT EXISTS ({use})" for use in uses)


class CollectingStore(StoreWriter):
    """Removes contents and texts that are not used, and records their hashes for other processes. Subclasses run the statements."""

    # Added to a SELECT so that rows that another transaction has locked are left out.
    SKIP_LOCKED = ""

    def _collect_all(self) -> int:
        """Remove all contents and texts that are not used any more, and return how many texts that were."""
        count = 0
        while True:
            removed = 0
            is_done = False

            def collect(connection: Any) -> bool:
                nonlocal removed, is_done
                self._use_indexes(connection)
                rows = self._select(connection, _POSSIBLY_UNUSED + self.SKIP_LOCKED, (self.team, BATCH_SIZE))
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
        key = [self.team, *batch]
        unused = {id: texts for id, *texts in self._select(connection, _UNUSED.format(marks(batch)), key)}
        count = self._delete_contents(connection, sorted(unused), {text for texts in unused.values() for text in texts})
        self._execute(connection, _DELETE_UNUSED.format(marks(batch)), key)
        return count

    def _delete_contents(self, connection: Any, contents: list[int], texts: Iterable[int]) -> int:
        """Delete contents and their texts, unless they are used again. Publishing locks rows in the same order."""
        if not contents:
            return 0
        which, key = marks(contents), [self.team, *contents]
        ids = self._lock_unused(connection, sorted(texts), contents)
        self._select(connection, _LOCK_CONTENTS.format(which) + self.FOR_UPDATE, key)
        hashes = self._select(connection, _DELETE_CONTENTS.format(which), key)
        removed = self._delete_texts(connection, ids)
        self._record(connection, [*(hash for (hash,) in hashes), *removed])
        return len(removed)

    def _lock_unused(self, connection: Any, texts: Sequence[int], besides: list[int] | None = None) -> list[int]:
        """Lock the texts that nothing uses, apart from the contents in `besides`, and return their ids."""
        condition = _unused_condition(f" AND c.id NOT IN {marks(besides)}" if besides else "")
        select = (
            f"SELECT id FROM foreword_texts AS t WHERE team = ? AND id IN {marks(texts)} AND {condition} ORDER BY id"
        )
        key = [self.team, *texts, *(besides or []) * len(TEXT_COLUMNS)]
        return [id for (id,) in self._select(connection, select + self.FOR_UPDATE, key)]

    def _delete_texts(self, connection: Any, locked: Sequence[int]) -> list[bytes]:
        """Delete the texts that are still unused, and return their hashes."""
        if not locked:
            return []
        unused = (
            f"SELECT id FROM foreword_texts AS t WHERE team = ? AND id IN {marks(locked)} AND {_unused_condition()}"
        )
        delete = f"DELETE FROM foreword_texts WHERE team = ? AND id IN ({unused}) RETURNING hash"
        return [hash for (hash,) in self._select(connection, delete, [self.team, self.team, *locked])]

    def _use_indexes(self, connection: Any) -> None:
        """Make this transaction use indexes even where reading a whole table seems cheaper for a batch."""

    def _lock_forgotten(self, connection: Any) -> None:
        """Make other transactions that record hashes wait, so that rows become visible in the order of their ids."""

    def _record(self, connection: Any, hashes: Sequence[bytes]) -> None:
        """Record the hashes of what was removed, and delete those that every process has read by now."""
        if not hashes:
            return
        self._lock_forgotten(connection)
        now = int(time.time())
        for batch in batches(hashes):
            rows = ", ".join(["(?, ?)"] * len(batch))
            self._execute(connection, _ADD_FORGOTTEN.format(rows), [each for hash in batch for each in (hash, now)])
        self._execute(connection, _DELETE_FORGOTTEN, (now - MAX_AGE,))
