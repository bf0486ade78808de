"""The methods with which a store writes editions, in SQL that SQLite and PostgreSQL share."""

from __future__ import annotations

from ..errors import check_id
from .contents import kind_of_edition
from .rows import MAX_NUMBER, TEXT_COLUMNS, check_next, no_edition_error, row_of, state_column, texts_of
from .templates import TemplateStore
from .usage import ADD_USAGE, UsageRow, usage_parameters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..vocabulary import Edition
    from .texts import Packed
    from .usage import CallUsage

_CONTENT = "SELECT id, kind FROM foreword_contents WHERE team = ? AND hash = ?"
_ADD_CONTENT = f"""
    INSERT INTO foreword_contents (team, hash, kind, {", ".join(TEXT_COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING
"""
_KIND = "SELECT id FROM foreword_kinds WHERE team = ? AND hash = ?"
_ADD_KIND = """
    INSERT INTO foreword_kinds (team, hash, layout, model, template, version) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
_CURRENT = "SELECT number, state, content FROM foreword_editions WHERE team = ? AND conversation = ? ORDER BY number DESC LIMIT 1"
# A locked row is read again, so that it is as the previous writer left it.
_LOCK_CURRENT = "SELECT id FROM foreword_editions WHERE team = ? AND conversation = ? AND kind IS NOT NULL"
_REPLACE = "UPDATE foreword_editions SET kind = NULL WHERE team = ? AND conversation = ? AND number = ?"
_KIND_OF_CONTENT = "SELECT kind FROM foreword_contents WHERE team = ? AND id = ?"
ADD_EDITION = """
    INSERT INTO foreword_editions (team, conversation, number, content, kind, created, created_text, state)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (team, conversation, number) DO NOTHING
"""
_SAVE_STATE = "UPDATE foreword_editions SET state = ? WHERE team = ? AND conversation = ? AND number = ?"


class StoreWriter(TemplateStore):
    """The methods of a store that write editions. Subclasses run the statements."""

    # An SQL expression that spreads writers over rows of the counts, so that they do not wait for each other.
    SHARD = "0"

    def publish(self, conversation: str, edition: Edition, after: int, state: str | None = None) -> Edition:
        check_id(conversation)
        check_next(edition, after)
        packed, team = self._pack_new(texts_of(edition)), self.team
        cached_row = row_of(edition, self._content_hash(edition))
        _, hash, *row = cached_row

        def add(connection: Any) -> bool:
            old_kind: int | None = None
            if after:
                if self.FOR_CHANGE:
                    self._select(connection, _LOCK_CURRENT + self.FOR_CHANGE, (self.team, conversation))
                number, stored_state, content = self._newest(connection, conversation)
                if number != after or (state is not None and stored_state != state_column(state)):
                    return False
                ((old_kind,),) = self._select(connection, _KIND_OF_CONTENT, (team, content))
                self._execute(connection, _REPLACE, (team, conversation, after))
            elif self._newest(connection, conversation)[0]:
                return False
            content, kind = self._content(connection, edition, hash, packed)
            if not self._execute(connection, ADD_EDITION, (team, conversation, edition.number, content, kind, *row)):
                return False
            changes = {kind: (1, 1)}
            if old_kind is not None:
                changes = {kind: (0, 1)} if kind == old_kind else {old_kind: (-1, 0), kind: (1, 1)}
            self._count(connection, changes)
            return True

        is_published = None if after else self._publish_known(conversation, hash, row)
        if is_published:
            self._cache_texts(packed)
        if self._write(add, packed) if is_published is None else is_published:
            self._cache_edition(conversation, edition, cached_row)
            return edition
        winner = self.current(conversation)
        if winner is None and not after:  # the other edition is gone again
            return self.publish(conversation, edition, 0)
        if winner is None:
            raise no_edition_error(conversation, after)
        return winner

    def save_state(self, conversation: str, number: int, state: str, before: str | None = None) -> bool:
        check_id(conversation)
        if not 0 < number <= MAX_NUMBER:
            raise no_edition_error(conversation, number)

        def update(connection: Any) -> bool:
            if self.FOR_CHANGE:
                self._select(connection, _LOCK_CURRENT + self.FOR_CHANGE, (self.team, conversation))
            newest, stored_state, _ = self._newest(connection, conversation)
            if number > newest:
                raise no_edition_error(conversation, number)
            if before is not None and (newest, stored_state) != (number, state_column(before)):
                return False
            return bool(self._execute(connection, _SAVE_STATE, (state_column(state), self.team, conversation, number)))

        is_saved = self._write(update, {})
        if is_saved:
            self._cache_state(conversation, number, state)
        return is_saved

    def add_usage(self, conversation: str, number: int, call: CallUsage) -> UsageRow:
        check_id(conversation)
        statement = ADD_USAGE.format(self.KEY_SHARE)
        parameters = usage_parameters(self.team, conversation, number, call)
        rows = self._run_write(lambda connection: self._select(connection, statement, parameters))
        if not rows:
            raise no_edition_error(conversation, number)
        return UsageRow(*rows[0])

    def _publish_known(self, conversation: str, hash: bytes, row: Sequence[object]) -> bool | None:
        """Publish a first edition if its content is in the store, in less time than usual. Returns None if that is not possible.

        `row` has the edition's time and state.
        """
        return None

    def _newest(self, connection: Any, conversation: str) -> tuple[int, bytes | None, int]:
        """Return the number, state and content of the edition in use."""
        for number, state, content in self._select(connection, _CURRENT, (self.team, conversation)):
            return number, state, content
        return 0, None, 0

    def _content(self, connection: Any, edition: Edition, hash: bytes, packed: dict[str, Packed]) -> tuple[int, int]:
        """Return the row id and kind of an edition's content, which has this hash. If it is not in the store, it is added with its texts."""
        team = self.team
        rows = self._select(connection, _CONTENT + self.KEY_SHARE, (team, hash))
        while not rows:
            texts = texts_of(edition)
            row_ids = self._row_ids(connection, texts, packed)
            kind = kind_of_edition(edition).row
            self._execute(connection, _ADD_KIND, (team, *kind))
            ((number,),) = self._select(connection, _KIND, (team, kind[0]))
            self._execute(connection, _ADD_CONTENT, (team, hash, number, *(row_ids[text] for text in texts)))
            rows = self._select(connection, _CONTENT + self.KEY_SHARE, (team, hash))
        return rows[0][0], rows[0][1]

    def _count(self, connection: Any, changes: Mapping[int, tuple[int, int]]) -> None:
        """Add to the numbers of conversations and editions of these kinds, in an order that avoids deadlocks."""
        if not changes:
            return
        rows = ", ".join([f"(?, ?, {self.SHARD}, ?, ?)"] * len(changes))
        statement = f"""
            INSERT INTO foreword_counts (team, kind, shard, conversations, editions) VALUES {rows}
            ON CONFLICT (team, kind, shard) DO UPDATE SET
                conversations = foreword_counts.conversations + excluded.conversations,
                editions = foreword_counts.editions + excluded.editions
        """
        key = [each for kind in sorted(changes) for each in (self.team, kind, *changes[kind])]
        self._execute(connection, statement, key)

    def _run_write(self, work: Any) -> Any:
        """Run work that writes with a single statement, exactly once."""
        return self._run(work)
