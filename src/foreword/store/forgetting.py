"""Remove conversations and old editions, and with them any text that nothing else uses.

This takes two kinds of transactions. One removes editions, and marks those of their contents that no edition uses any more. The other
removes marked contents and their texts, and records their hashes. If a process is killed in between, the next one continues. Every
process regularly reads the recorded hashes and drops what they belong to from its memory.

Each transaction handles a batch with a fixed number of statements, all of which use an index, so its cost depends on what it removes and
not on the size of the store. Of each team, one such transaction runs at a time. To avoid deadlocks with others, rows are locked in this
order: templates, editions, marked contents, counts, texts, contents, forgotten hashes.
"""

from __future__ import annotations

import time

from ..errors import check_id
from .collecting import MAX_AGE, CollectingStore
from .rows import MAX_NUMBER, Pruned, key_of
from .texts import hash_of, split_hashes
from .times import first_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from .team_store import Rows

# How many seconds pass between two checks for what other processes have forgotten.
INTERVAL = 2.0

_DELETE = "DELETE FROM foreword_editions WHERE team = ? AND conversation = ? RETURNING conversation, content, kind"
_OF_CONVERSATIONS = "SELECT {} FROM foreword_editions AS e WHERE team = ? AND conversation {} AND number <= ?"
# The edition in use has the highest number. SQLite would search the wrong index for the only one that has a kind.
_IS_OLD = """
    AND ? > (SELECT c.created FROM foreword_editions AS c
        WHERE c.team = e.team AND c.conversation = e.conversation ORDER BY c.number DESC LIMIT 1)
"""
_DELETE_USAGE = "DELETE FROM foreword_usage WHERE team = ? AND conversation {} AND number <= ?"
_KINDS = "SELECT id, kind FROM foreword_contents WHERE team = ? AND id {}"
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
# The last row that was read is read again, but not its hashes: if it is gone, and nothing is newer, a backup was restored.
_FORGOTTEN = "SELECT id, CASE WHEN id > ? THEN hash END FROM foreword_forgotten WHERE id >= ? ORDER BY id LIMIT ?"
# A row has the hashes of a whole batch.
_MAX_FORGOTTEN = 100
_START = (-(2**63), 0)
_MAX_PAUSE = 1.0


def leave_time(steps: Iterator[Pruned]) -> Iterator[Pruned]:
    """Yield the steps of `prune`, and wait after each for as long as it took, so that other writers get half of the time."""
    while True:
        start = time.monotonic()
        step = next(steps, None)
        if step is None:
            return
        yield step
        time.sleep(min(time.monotonic() - start, _MAX_PAUSE))


class ForgettingStore(CollectingStore):
    """The methods of a store that remove rows. Subclasses run the statements."""

    # How many editions one transaction examines.
    BATCH_SIZE = 1000
    # The column that says where a row is stored, and the statement that deletes the editions at the places that a SELECT returns.
    ROW = "id"
    DELETE_ROWS = (
        "DELETE FROM foreword_editions WHERE +team = ? AND id IN ({})"  # the plus keeps SQLite from searching by team
    )

    def __init__(self) -> None:
        super().__init__()
        self._last_forgotten = 0
        self._has_remains = False
        self._last_check = time.monotonic()
        self._listeners: list[Callable[[frozenset[bytes]], None]] = []

    def forget(self, conversation: str) -> bool:
        check_id(conversation)
        removed: Rows = []
        marked = 0

        def remove(connection: Any) -> bool:
            nonlocal marked
            removed.clear()
            self._begin_removal(connection)
            # If another process published an edition while this one waited for a row, none of the removed editions was in use.
            while rows := self._select(connection, _DELETE, (self.team, conversation)):
                removed.extend(rows)
                if any(kind is not None for _, _, kind in rows):
                    break
            if removed:
                self._delete_usage(connection, [conversation])
                marked = self._record_removal(connection, removed)
            return bool(removed)

        is_removed = self._write(remove, {})
        if marked:
            self._collect_all()
        self.drop_forgotten()
        return is_removed

    def prune(self, before: float, keep_last: int = 1) -> Iterator[Pruned]:
        total = Pruned(texts=self._collect_all())  # what a process that was killed has left
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
        self.drop_forgotten()
        yield total

    def listen(self, on_forgotten: Callable[[frozenset[bytes]], None]) -> None:
        self._listeners.append(on_forgotten)

    def drop_forgotten(self) -> None:
        now = time.monotonic()
        is_late = now - self._last_check > MAX_AGE / 2
        is_complete = False
        while not is_complete:
            last = self._last_forgotten
            key = (last, last, _MAX_FORGOTTEN)
            rows = self._run(lambda connection, key=key: self._select(connection, _FORGOTTEN, key))  # type: ignore[misc]
            self._last_forgotten = rows[-1][0] if rows else 0  # from the start if a backup was restored
            if self._last_forgotten > last:
                self._drop(frozenset(hash for _, hashes in rows if hashes for hash in split_hashes(hashes)))
                self._has_remains = True
            is_complete = len(rows) < _MAX_FORGOTTEN if rows else not last
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
            key = (self.team, latest, *position, self.BATCH_SIZE)
            rows = self._run(lambda connection, key=key: self._select(connection, select, key))  # type: ignore[misc]
            if rows:
                yield rows
            if len(rows) < self.BATCH_SIZE:
                return
            position = rows[-1][:2]

    # Transactions

    def _prune_batch(self, total: Pruned, until: Mapping[str, int], latest: int | None = None) -> Pruned:
        """Remove editions up to a number from each conversation, in one transaction, and then the texts that are unused.

        With `latest`, only conversations whose current edition is still older are removed. Editions that another process is working on
        are left for the next time.
        """
        if not until:
            return total
        removed: Rows = []
        marked = 0

        def remove(connection: Any) -> bool:
            nonlocal marked
            self._begin_removal(connection)
            removed[:] = self._delete_old(connection, until, latest)
            marked = self._record_removal(connection, removed)
            return bool(removed)

        self._write(remove, {})
        texts = self._collect_all() if marked else 0
        conversations = sum(kind is not None for _, _, kind in removed)
        return Pruned(total.conversations + conversations, total.editions + len(removed), total.texts + texts)

    def _delete_old(self, connection: Any, until: Mapping[str, int], latest: int | None) -> Rows:
        """Delete the editions of each conversation up to a number. Returns the conversation, content and kind of each."""
        removed: Rows = []
        select = (_OF_CONVERSATIONS + (_IS_OLD if latest is not None else "")).format(self.ROW, self.AMONG)
        delete = f"{self.DELETE_ROWS.format(select + self.SKIP_LOCKED)} RETURNING conversation, content, kind"
        for number in sorted(set(until.values())):
            ids = sorted(conversation for conversation, last in until.items() if last == number)
            key = [self.team, self.team, self._list(ids), number, *([] if latest is None else [latest])]
            removed += (rows := self._select(connection, delete, key))
            if rows:
                self._delete_usage(connection, sorted({row[0] for row in rows}), number)
        return removed

    def _delete_usage(self, connection: Any, conversations: Sequence[str], until: int = MAX_NUMBER) -> None:
        key = (self.team, self._list(conversations), until)
        self._execute(connection, _DELETE_USAGE.format(self.AMONG), key)

    def _record_removal(self, connection: Any, removed: Rows) -> int:
        """Correct the counts, and record the ids of removed conversations. Returns how many contents were marked as unused."""
        if not removed:
            return 0
        contents = sorted({content for _, content, _ in removed})
        marked = self._mark_unused(connection, contents)
        # An edition that was in use has the kind of its content.
        kinds = {content: kind for _, content, kind in removed if kind is not None}
        if others := [content for content in contents if content not in kinds]:
            kinds.update(self._select(connection, _KINDS.format(self.AMONG), (self.team, self._list(others))))
        changes: dict[int, tuple[int, int]] = {}
        for _, content, kind in removed:
            if content in kinds:  # unless the store is damaged
                conversations, editions = changes.get(kinds[content], (0, 0))
                changes[kinds[content]] = (conversations - (kind is not None), editions - 1)
        self._count(connection, changes)
        keys = [key_of(self.team, conversation) for conversation, _, kind in removed if kind is not None]
        self._record(connection, [hash_of(key) for key in keys])
        return marked
