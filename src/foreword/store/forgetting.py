"""Remove conversations and old editions, and with them any text that nothing else uses.

This takes two kinds of transactions. One removes editions and records their contents as possibly unused. The other removes contents
and texts that are really unused, and records their hashes. If a process is killed in between, the next one continues. Every process
regularly reads the recorded hashes and drops what they belong to from its memory.
"""

from __future__ import annotations

import time

from ..errors import check_id
from .rows import MAX_NUMBER, TEXT_COLUMNS, Pruned
from .texts import hash_of
from .times import first_number
from .writer import StoreWriter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

_MAX_AGE = 3600
_BATCH_SIZE = 200
# How many seconds pass between two checks for what other processes have forgotten.
INTERVAL = 2.0

_LOCK = "SELECT id FROM foreword_editions WHERE conversation = ? ORDER BY id"
_DELETE = "DELETE FROM foreword_editions WHERE conversation = ? AND number <= ? RETURNING number, content, kind"
_DELETE_USAGE = "DELETE FROM foreword_usage WHERE conversation = ? AND number <= ?"
_KINDS = "SELECT id, kind FROM foreword_contents WHERE id IN"
_ADD_UNUSED = "INSERT INTO foreword_unused (content) VALUES (?) ON CONFLICT DO NOTHING"
_OLD_EDITIONS = """
    SELECT created, id, conversation, number,
        (SELECT max(number) FROM foreword_editions AS o WHERE o.conversation = e.conversation)
    FROM foreword_editions AS e WHERE kind IS NULL AND created < ? AND (created, id) > (?, ?) ORDER BY created, id LIMIT ?
"""
_OLD_CONVERSATIONS = """
    SELECT conversation, number FROM foreword_editions WHERE kind IS NOT NULL AND created < ? ORDER BY created, id LIMIT ?
"""
_IS_STILL_OLD = "SELECT 1 FROM foreword_editions WHERE conversation = ? AND kind IS NOT NULL AND created < ?"
_UNUSED = "SELECT content FROM foreword_unused ORDER BY content LIMIT ?"
_FORGOTTEN = "SELECT id, hash FROM foreword_forgotten WHERE id > ? ORDER BY id"
_ADD_FORGOTTEN = "INSERT INTO foreword_forgotten (hash, time) VALUES (?, ?)"
_DELETE_FORGOTTEN = "DELETE FROM foreword_forgotten WHERE time < ?"


def _marks(values: Sequence[object]) -> str:
    return f"({', '.join('?' * len(values))})"


def _unused_condition(condition: str = "") -> str:
    """Return an SQL condition for texts that no content and no template uses. `condition` limits which contents count."""
    uses = [f"SELECT 1 FROM foreword_contents AS c WHERE c.{column} = t.id{condition}" for column in TEXT_COLUMNS]
    uses.append("SELECT 1 FROM foreword_templates WHERE template = t.id")
    return " AND ".join(f"NOT EXISTS ({use})" for use in uses)


class ForgettingStore(StoreWriter):
    """The methods of a store that remove rows. Subclasses run the statements."""

    def __init__(self) -> None:
        super().__init__()
        self._last_forgotten = 0
        self._last_check = time.monotonic()
        self._listeners: list[Callable[[frozenset[bytes]], None]] = []

    def forget(self, conversation: str) -> bool:
        check_id(conversation)
        count = 0

        def remove(connection: Any) -> bool:
            nonlocal count
            count = self._remove(connection, conversation, MAX_NUMBER)
            return count > 0

        is_removed = self._write(remove, {})
        self._collect_all()
        self.drop_forgotten()
        return is_removed

    def prune(self, before: float, keep_last: int = 1) -> Iterator[Pruned]:
        total = Pruned()
        latest = first_number(before)
        position = (-(2**63), 0)
        while True:
            rows = self._run(lambda c, p=position: self._select(c, _OLD_EDITIONS, (latest, *p, _BATCH_SIZE)))  # type: ignore[misc]
            until: dict[str, int] = {}
            for _, _, conversation, number, newest in rows:
                if number <= newest - keep_last:
                    until[conversation] = max(number, until.get(conversation, 0))
            total = self._prune_batch(total, until)
            if rows:
                yield total
            if len(rows) < _BATCH_SIZE:
                break
            position = rows[-1][:2]
        while not keep_last:
            rows = self._run(lambda c: self._select(c, _OLD_CONVERSATIONS, (latest, _BATCH_SIZE)))
            if not rows:
                break
            total = self._prune_batch(total, dict.fromkeys((id for id, _ in rows), MAX_NUMBER), latest)
            yield total
        texts = self._collect_all()
        self.drop_forgotten()
        yield Pruned(total.conversations, total.editions, total.texts + texts)

    def listen(self, on_forgotten: Callable[[frozenset[bytes]], None]) -> None:
        self._listeners.append(on_forgotten)

    def drop_forgotten(self) -> None:
        now = time.monotonic()
        rows = self._run(lambda connection: self._select(connection, _FORGOTTEN, (self._last_forgotten,)))
        if now - self._last_check > _MAX_AGE / 2:  # hashes may have been removed before this process has read them
            StoreWriter.__init__(self)
        self._last_check = now
        if not rows:
            return
        self._last_forgotten = rows[-1][0]
        hashes = frozenset(hash for _, hash in rows)
        self._editions.forget(hashes)
        self._texts.forget(hashes)
        for content in [content for content in list(self._contents) if content in hashes]:
            self._contents.pop(content, None)
        for listener in self._listeners:
            listener(hashes)

    # Transactions

    def _prune_batch(self, total: Pruned, until: dict[str, int], latest: int | None = None) -> Pruned:
        """Remove editions up to a number from each conversation, in one transaction, and then the texts that are unused.

        With `latest`, only conversations whose current edition is still older are removed.
        """
        if not until:
            return total
        start = time.monotonic()
        editions = conversations = 0

        def remove(connection: Any) -> bool:
            nonlocal editions, conversations
            editions = conversations = 0
            for conversation, number in sorted(until.items()):
                if latest is not None:
                    self._select(connection, _LOCK + self.FOR_UPDATE, (conversation,))
                    if not self._select(connection, _IS_STILL_OLD, (conversation, latest)):
                        continue
                    conversations += 1
                editions += self._remove(connection, conversation, number)
            return True

        self._write(remove, {})
        texts = self._collect_all()
        self.drop_forgotten()
        time.sleep(min(time.monotonic() - start, 1.0))  # leave half of the time to other writers
        return Pruned(total.conversations + conversations, total.editions + editions, total.texts + texts)

    def _remove(self, connection: Any, conversation: str, until: int) -> int:
        """Remove a conversation's editions up to a number, and return how many there were."""
        self._select(connection, _LOCK + self.FOR_UPDATE, (conversation,))
        rows: list[tuple[Any, ...]] = []
        while removed := self._select(connection, _DELETE, (conversation, until)):
            rows += removed
        if not rows:
            return 0
        self._execute(connection, _DELETE_USAGE, (conversation, until))
        contents = sorted({content for _, content, _ in rows})
        kinds: dict[int, int] = dict(self._select(connection, f"{_KINDS} {_marks(contents)}", contents))
        changes: dict[int, tuple[int, int]] = {}
        is_gone = False
        for _, content, kind in rows:
            is_gone = is_gone or kind is not None
            conversations, editions = changes.get(kinds[content], (0, 0))
            changes[kinds[content]] = (conversations - (kind is not None), editions - 1)
        self._count(connection, changes)
        for content in contents:
            self._execute(connection, _ADD_UNUSED, (content,))
        if is_gone:
            self._record(connection, [hash_of(conversation)])
        return len(rows)

    def _collect_all(self) -> int:
        """Remove all contents and texts that are not used any more, and return how many texts that were."""
        count = 0
        while True:
            removed = 0
            is_done = False

            def collect(connection: Any) -> bool:
                nonlocal removed, is_done
                rows = self._select(connection, _UNUSED + self.SKIP_LOCKED, (_BATCH_SIZE,))
                is_done = len(rows) < _BATCH_SIZE
                removed = self._collect(connection, [content for (content,) in rows]) if rows else 0
                return bool(rows)

            self._write(collect, {})
            count += removed
            if is_done:
                return count

    def _collect(self, connection: Any, batch: list[int]) -> int:
        """Remove those of these contents that are unused, with their unused texts. Publishing locks rows in the same order."""
        columns = ", ".join(TEXT_COLUMNS)
        rows = self._select(connection, f"SELECT {columns} FROM foreword_contents WHERE id IN {_marks(batch)}", batch)
        texts = sorted({text for row in rows for text in row})
        if texts:
            condition = _unused_condition(f" AND c.id NOT IN {_marks(batch)}")
            select = f"SELECT id FROM foreword_texts AS t WHERE id IN {_marks(texts)} AND {condition} ORDER BY id"
            key = [*texts, *batch * len(TEXT_COLUMNS)]
            texts = [text for (text,) in self._select(connection, select + self.FOR_UPDATE, key)]
        select = f"SELECT id FROM foreword_contents WHERE id IN {_marks(batch)} ORDER BY id"
        self._select(connection, select + self.FOR_UPDATE, batch)
        hashes = self._select(
            connection,
            f"DELETE FROM foreword_contents WHERE id IN {_marks(batch)} AND NOT EXISTS"
            " (SELECT 1 FROM foreword_editions AS e WHERE e.content = foreword_contents.id) RETURNING hash",
            batch,
        )
        removed = []
        if texts:
            unused = f"SELECT id FROM foreword_texts AS t WHERE id IN {_marks(texts)} AND {_unused_condition()}"
            removed = self._select(
                connection, f"DELETE FROM foreword_texts WHERE id IN ({unused}) RETURNING hash", texts
            )
        self._execute(connection, f"DELETE FROM foreword_unused WHERE content IN {_marks(batch)}", batch)
        self._record(connection, [hash for (hash,) in (*hashes, *removed)])
        return len(removed)

    # Added to a SELECT so that rows that another transaction has locked are left out.
    SKIP_LOCKED = ""

    def _lock_forgotten(self, connection: Any) -> None:
        """Make other transactions that record hashes wait, so that rows become visible in the order of their ids."""

    def _record(self, connection: Any, hashes: list[bytes]) -> None:
        """Record the hashes of what was removed."""
        if hashes:
            self._lock_forgotten(connection)
        now = int(time.time())
        for hash in hashes:
            self._execute(connection, _ADD_FORGOTTEN, (hash, now))
        self._execute(connection, _DELETE_FORGOTTEN, (now - _MAX_AGE,))
