"""Remove conversations and old editions, and with them any text that nothing else uses.

This takes two kinds of transactions. One removes editions and records their contents as possibly unused. The other removes contents
and texts that are really unused, and records their hashes. If a process is killed in between, the next one continues. Every process
regularly reads the recorded hashes and drops what they belong to from its memory.

Each transaction handles a batch with a fixed number of statements, all of which use an index, so its cost depends on what it removes and
not on the size of the store. To avoid deadlocks, rows are locked in this order: templates, editions, unused contents, counts, texts,
contents, forgotten hashes.
"""

from __future__ import annotations

import time

from ..errors import check_id
from .collecting import BATCH_SIZE, MAX_AGE, CollectingStore, batches, marks
from .rows import MAX_NUMBER, Pruned, key_of
from .texts import hash_of
from .times import first_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from .team_store import Rows

# How many seconds pass between two checks for what other processes have forgotten.
INTERVAL = 2.0

_LOCK = "SELECT conversation, number FROM foreword_editions WHERE team = ? AND conversation IN {} ORDER BY id"
_EDITIONS = "SELECT conversation, number, created, kind FROM foreword_editions WHERE team = ? AND conversation IN {}"
_DELETE = """
    DELETE FROM foreword_editions WHERE team = ? AND conversation IN {} AND number <= ? RETURNING conversation, content, kind
"""
_DELETE_USAGE = "DELETE FROM foreword_usage WHERE team = ? AND conversation IN {} AND number <= ?"
_KINDS = "SELECT id, kind FROM foreword_contents WHERE team = ? AND id IN {}"
# An update waits for a transaction that is about to delete the row because the content was still in use. DO NOTHING would not.
_ADD_UNUSED = """
    INSERT INTO foreword_unused (team, content) VALUES {}
    ON CONFLICT (team, content) DO UPDATE SET content = excluded.content
"""
_OLD_EDITIONS = """
    SELECT created, id, conversation, number,
        (SELECT max(number) FROM foreword_editions AS o WHERE o.team = e.team AND o.conversation = e.conversation)
    FROM foreword_editions AS e WHERE team = ? AND kind IS NULL AND created < ? AND (created, id) > (?, ?)
    ORDER BY created, id LIMIT ?
"""
_OLD_CONVERSATIONS = """
    SELECT created, id, conversation FROM foreword_editions
    WHERE team = ? AND kind IS NOT NULL AND created < ? AND (created, id) > (?, ?) ORDER BY created, id LIMIT ?
"""
_FORGOTTEN = "SELECT id, hash FROM foreword_forgotten WHERE id > ? ORDER BY id LIMIT ?"
_LAST_FORGOTTEN = "SELECT max(id) FROM foreword_forgotten"
_MAX_FORGOTTEN = 10_000
_START = (-(2**63), 0)


class ForgettingStore(CollectingStore):
    """The methods of a store that remove rows. Subclasses run the statements."""

    def __init__(self) -> None:
        super().__init__()
        self._last_forgotten = 0
        self._has_remains = False
        self._last_check = time.monotonic()
        self._listeners: list[Callable[[frozenset[bytes]], None]] = []

    def forget(self, conversation: str) -> bool:
        check_id(conversation)
        removed: Rows = []

        def remove(connection: Any) -> bool:
            removed.clear()
            self._use_indexes(connection)
            self._select(connection, _LOCK.format("(?)") + self.FOR_UPDATE, (self.team, conversation))
            # Another process may have published an edition before the rows were locked.
            while rows := self._delete(connection, {conversation: MAX_NUMBER}):
                removed.extend(rows)
            self._record_removal(connection, removed)
            return bool(removed)

        is_removed = self._write(remove, {})
        self._collect_all()
        self.drop_forgotten()
        return is_removed

    def prune(self, before: float, keep_last: int = 1) -> Iterator[Pruned]:
        total = Pruned()
        latest = first_number(before)
        for rows in self._pages(_OLD_EDITIONS, latest):
            until: dict[str, int] = {}
            for _, _, conversation, number, newest in rows:
                if number <= newest - keep_last:
                    until[conversation] = max(number, until.get(conversation, 0))
            total = self._prune_batch(total, until)
            yield total
        for rows in self._pages(_OLD_CONVERSATIONS, latest) if not keep_last else ():
            total = self._prune_batch(total, dict.fromkeys((row[2] for row in rows), MAX_NUMBER), latest)
            yield total
        texts = self._collect_all()
        self.drop_forgotten()
        yield Pruned(total.conversations, total.editions, total.texts + texts)

    def listen(self, on_forgotten: Callable[[frozenset[bytes]], None]) -> None:
        self._listeners.append(on_forgotten)

    def drop_forgotten(self) -> None:
        now = time.monotonic()
        is_late = now - self._last_check > MAX_AGE / 2
        ((last,),) = self._run(lambda connection: self._select(connection, _LAST_FORGOTTEN))
        if last is not None and last < self._last_forgotten:  # a backup was restored
            self._last_forgotten = 0
        is_complete = last is None or last == self._last_forgotten
        while not is_complete:
            key = (self._last_forgotten, _MAX_FORGOTTEN)
            rows = self._run(lambda connection, key=key: self._select(connection, _FORGOTTEN, key))  # type: ignore[misc]
            is_complete = len(rows) < _MAX_FORGOTTEN
            if rows:
                self._last_forgotten = rows[-1][0]
                self._drop(frozenset(hash for _, hash in rows))
                self._has_remains = True
        if is_late:  # hashes may have been removed before this process has read them
            self._clear_caches()
        self._last_check = now
        if self._has_remains:
            self._has_remains = not self._erase()

    def _erase(self) -> bool:
        """Erase what the database itself keeps of removed rows. Returns False if that must be tried again later."""
        return True

    def _drop(self, hashes: frozenset[bytes]) -> None:
        """Drop what these hashes belong to from this process's memory."""
        self._editions.forget(hashes)
        self._texts.forget(hashes)
        for content in [content for content in list(self._contents) if content in hashes]:
            self._contents.pop(content, None)
        for listener in self._listeners:
            listener(hashes)

    def _pages(self, select: str, latest: int) -> Iterator[Rows]:
        """Yield the rows of a SELECT that are older than `latest`, in batches."""
        # Continuing after the last row avoids reading again the index entries of rows that have been deleted.
        position = _START
        while True:
            key = (self.team, latest, *position, BATCH_SIZE)
            rows = self._run(lambda connection, key=key: self._select(connection, select, key))  # type: ignore[misc]
            if rows:
                yield rows
            if len(rows) < BATCH_SIZE:
                return
            position = rows[-1][:2]

    # Transactions

    def _prune_batch(self, total: Pruned, until: Mapping[str, int], latest: int | None = None) -> Pruned:
        """Remove editions up to a number from each conversation, in one transaction, and then the texts that are unused.

        With `latest`, only conversations whose current edition is still older are removed. Those that another process is working on
        are left for the next time.
        """
        if not until:
            return total
        start = time.monotonic()
        removed: Rows = []

        def remove(connection: Any) -> bool:
            self._use_indexes(connection)
            removed[:] = self._delete(connection, self._lock_old(connection, until, latest))
            self._record_removal(connection, removed)
            return True

        self._write(remove, {})
        texts = self._collect_all()
        self.drop_forgotten()
        time.sleep(min(time.monotonic() - start, 1.0))  # leave half of the time to other writers
        conversations = sum(kind is not None for _, _, kind in removed)
        return Pruned(total.conversations + conversations, total.editions + len(removed), total.texts + texts)

    def _lock_old(self, connection: Any, until: Mapping[str, int], latest: int | None) -> dict[str, int]:
        """Lock the editions of conversations, and return those of the conversations that can be pruned now."""
        ids = sorted(until)
        lock = _LOCK.format(marks(ids)) + self.SKIP_LOCKED
        locked = {(conversation, number) for conversation, number in self._select(connection, lock, [self.team, *ids])}
        prunable = dict(until)
        rows = self._select(connection, _EDITIONS.format(marks(ids)), [self.team, *ids])
        for conversation, number, created, kind in rows:
            is_recent = latest is not None and kind is not None and created >= latest
            if is_recent or (conversation, number) not in locked:
                prunable.pop(conversation, None)
        return prunable

    def _delete(self, connection: Any, until: Mapping[str, int]) -> Rows:
        """Delete the editions of each conversation up to a number. Returns the conversation, content and kind of each."""
        removed: Rows = []
        for number in sorted(set(until.values())):
            key = sorted(conversation for conversation, last in until.items() if last == number)
            removed += self._select(connection, _DELETE.format(marks(key)), [self.team, *key, number])
            self._execute(connection, _DELETE_USAGE.format(marks(key)), [self.team, *key, number])
        return removed

    def _record_removal(self, connection: Any, removed: Rows) -> None:
        """Record that the contents of deleted editions may be unused, correct the counts, and record the ids of removed conversations."""
        contents = sorted({content for _, content, _ in removed})
        kinds: dict[int, int] = {}
        for batch in batches(contents):
            rows = [each for content in batch for each in (self.team, content)]
            self._execute(connection, _ADD_UNUSED.format(", ".join(["(?, ?)"] * len(batch))), rows)
            kinds.update(self._select(connection, _KINDS.format(marks(batch)), [self.team, *batch]))
        changes: dict[int, tuple[int, int]] = {}
        for _, content, kind in removed:
            if content in kinds:  # unless the store is damaged
                conversations, editions = changes.get(kinds[content], (0, 0))
                changes[kinds[content]] = (conversations - (kind is not None), editions - 1)
        self._count(connection, changes)
        keys = [key_of(self.team, conversation) for conversation, _, kind in removed if kind is not None]
        self._record(connection, [hash_of(key) for key in keys])
