"""Stored templates: their versions, and the labels that say which version is used for what.

A template has a name. Versions are only ever added, and so is the record of who moved a label, until the whole template is deleted. New
conversations use the version with the label `production`.
"""

from __future__ import annotations

from ..errors import CallError, MissingError, is_plain, show
from ..vocabulary import replace
from .contents import DEFAULT_TEMPLATE
from .reader import StoreReader
from .rows import (
    MAX_NUMBER,
    PRODUCTION,
    TemplateRow,
    check_label,
    check_limit,
    check_name,
    check_unchanged,
    hash_at,
    move_of,
    version_of,
)
from .texts import hash_of, to_bytes
from .walking import end_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from .rows import LabelMove, TemplateVersion
    from .texts import Packed

_VERSIONS = f"SELECT version, {hash_at('foreword_templates', 'template')}, author, time, note, syntax, name FROM foreword_templates"
_ALL_WITHOUT_TEXTS = """
    SELECT version, NULL, author, time, note, syntax, name FROM foreword_templates WHERE team = ? AND name = ?
    ORDER BY version DESC
"""
_VERSION = f"{_VERSIONS} WHERE team = ? AND name = ? AND version = ?"
_LABELLED = f"""
    {_VERSIONS} WHERE team = ? AND name = ?
    AND version = (SELECT version FROM foreword_labels WHERE team = ? AND name = ? AND label = ?)
"""
_ALL_VERSIONS = f"{_VERSIONS} WHERE team = ? AND name = ? ORDER BY version DESC"
# A deleted template leaves a move without a label. Its version numbers are not reused, because conversations may still refer to them.
_NEWEST = """
    SELECT coalesce(max(number), 0) FROM (
        SELECT version AS number FROM foreword_templates WHERE team = ? AND name = ?
        UNION ALL SELECT previous FROM foreword_moves WHERE team = ? AND name = ? AND label = ''
    ) AS numbers
"""
_NAMES = """
    SELECT name, max(version) FROM foreword_templates WHERE team = ? AND name > ? AND name >= ? AND name < ?
    GROUP BY name ORDER BY name LIMIT ?
"""
_LABELS = "SELECT label, version FROM foreword_labels WHERE team = ? AND name = ? ORDER BY label"
_LABEL = "SELECT version FROM foreword_labels WHERE team = ? AND name = ? AND label = ?"
_MOVES = """
    SELECT name, label, previous, version, author, time, note FROM foreword_moves WHERE team = ? AND name = ?
    ORDER BY id DESC LIMIT ?
"""
_ADD_VERSION = """
    INSERT INTO foreword_templates (team, name, version, template, author, time, note, syntax) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_ANY_VERSION = "SELECT version FROM foreword_templates WHERE team = ? AND name = ? LIMIT 1"
_DELETE_LABEL = "DELETE FROM foreword_labels WHERE team = ? AND name = ? AND label = ?"
_SET_LABEL = """
    INSERT INTO foreword_labels (team, name, label, version) VALUES (?, ?, ?, ?)
    ON CONFLICT (team, name, label) DO UPDATE SET version = excluded.version
"""
ADD_MOVE = """
    INSERT INTO foreword_moves (team, name, label, previous, version, author, time, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""


class TemplateStore(StoreReader):
    """The methods of a store for templates. Subclasses run the statements."""

    def template(self, name: str = DEFAULT_TEMPLATE, label: str = PRODUCTION) -> TemplateVersion | None:
        check_name(name)
        if not is_plain(label):
            return None
        return next(iter(self._versions(_LABELLED, (self.team, name, self.team, name, label))), None)

    def template_version(self, name: str, version: int) -> TemplateVersion | None:
        check_name(name)
        if not 0 < version <= MAX_NUMBER:
            return None
        return next(iter(self._versions(_VERSION, (self.team, name, version))), None)

    def templates(self, name: str = DEFAULT_TEMPLATE, texts: bool = True) -> list[TemplateVersion]:
        check_name(name)
        if texts:
            return self._versions(_ALL_VERSIONS, (self.team, name))
        rows = self._run(lambda connection: self._select(connection, _ALL_WITHOUT_TEXTS, (self.team, name)))
        return [version_of(row, {None: ""}) for row in rows]

    def template_names(self, prefix: str = "", limit: int = 100, after: str = "") -> list[TemplateRow]:
        check_limit(limit)
        if not is_plain(after):
            return []

        def read_names(connection: Any) -> list[TemplateRow]:
            rows = self._select(connection, _NAMES, (self.team, after, prefix, end_of(prefix), limit))
            return [
                TemplateRow(name, newest, dict(self._select(connection, _LABELS, (self.team, name))), self.team)
                for name, newest in rows
            ]

        return self._run(read_names)

    def labels(self, name: str) -> dict[str, int]:
        check_name(name)
        return dict(self._run(lambda connection: self._select(connection, _LABELS, (self.team, name))))

    def label_moves(self, name: str, limit: int = 1000) -> list[LabelMove]:
        check_name(name)
        rows = self._run(lambda connection: self._select(connection, _MOVES, (self.team, name, limit)))
        return [move_of(row) for row in rows]

    def add_template(
        self, version: TemplateVersion, after: int | None = None, label: str = PRODUCTION
    ) -> TemplateVersion:
        name = version.name
        check_name(name)
        if label:
            check_label(label)
        packed = self._pack_new([version.template])
        author, time, note, syntax = map(to_bytes, (version.author, version.time, version.note, version.syntax))
        number = 0

        def add(connection: Any) -> bool:
            nonlocal number
            self._lock_templates(connection)
            previous = self._labelled(connection, name, label or PRODUCTION)
            check_unchanged(previous, after)
            number = self._last_number(connection, name) + 1
            text = self._row_ids(connection, [version.template], packed)[version.template]
            self._execute(connection, _ADD_VERSION, (self.team, name, number, text, author, time, note, syntax))
            if label:
                self._execute(connection, _SET_LABEL, (self.team, name, label, number))
                self._execute(connection, ADD_MOVE, (self.team, name, label, previous, number, author, time, note))
            return True

        self._write_once(add, packed)
        return replace(version, version=number)

    def move_label(self, move: LabelMove, after: int | None = None) -> LabelMove:
        check_name(move.name)
        check_label(move.label)
        author, time, note = map(to_bytes, (move.author, move.time, move.note))
        previous = 0

        def set_label(connection: Any) -> bool:
            nonlocal previous
            self._lock_templates(connection)
            is_known = 0 < move.version <= MAX_NUMBER
            if not self._select(connection, _ANY_VERSION, (self.team, move.name)):
                raise MissingError(f"no template {show(move.name)}")
            if not is_known or not self._select(connection, _VERSION, (self.team, move.name, move.version)):
                raise MissingError(f"template {show(move.name)} has no version {move.version}")
            previous = self._labelled(connection, move.name, move.label)
            check_unchanged(previous, after)
            if previous != move.version:
                self._execute(connection, _SET_LABEL, (self.team, move.name, move.label, move.version))
                key = (self.team, move.name, move.label, previous, move.version, author, time, note)
                self._execute(connection, ADD_MOVE, key)
            return True

        self._write_once(set_label, {})
        return replace(move, previous=previous)

    def remove_label(self, move: LabelMove) -> LabelMove:
        check_name(move.name)
        if move.label == PRODUCTION:
            raise CallError(f"the label {PRODUCTION!r} cannot be removed; move it to another version instead")
        author, time, note = map(to_bytes, (move.author, move.time, move.note))
        previous = 0

        def remove(connection: Any) -> bool:
            nonlocal previous
            self._lock_templates(connection)
            previous = self._labelled(connection, move.name, move.label) if is_plain(move.label) else 0
            if not previous:
                raise MissingError(f"template {show(move.name)} has no label {show(move.label)}")
            self._execute(connection, _DELETE_LABEL, (self.team, move.name, move.label))
            self._execute(connection, ADD_MOVE, (self.team, move.name, move.label, previous, 0, author, time, note))
            return True

        self._write_once(remove, {})
        return replace(move, previous=previous, version=0)

    def _last_number(self, connection: Any, name: str) -> int:
        """Return the highest number that a version of this template has or had, or 0."""
        number: int = self._select(connection, _NEWEST, (self.team, name, self.team, name))[0][0]
        return number

    def _labelled(self, connection: Any, name: str, label: str) -> int:
        """Return the version that a label refers to, or 0 if there is no such label."""
        rows = self._select(connection, _LABEL, (self.team, name, label))
        return rows[0][0] if rows else 0

    def _versions(self, select: str, key: Sequence[object]) -> list[TemplateVersion]:
        def read_versions(connection: Any) -> list[TemplateVersion]:
            rows = self._select(connection, select, key)
            texts = self._by_hash(connection, [row[1] for row in rows])
            return [version_of(row, texts) for row in rows]

        return self._read(read_versions)

    # Writing

    # Added to a SELECT so that other transactions cannot delete the rows, cannot change them either, or cannot lock them at all.
    KEY_SHARE = ""
    FOR_CHANGE = ""
    FOR_UPDATE = ""

    def _execute(self, connection: Any, statement: str, key: Sequence[object] = ()) -> int:
        """Run a statement, and return how many rows it changed."""
        raise NotImplementedError

    def _write(self, work: Callable[[Any], bool], packed: dict[str, Packed]) -> bool:
        """Run `work` in one transaction and return its result. If that is False, the transaction is rolled back."""
        raise NotImplementedError

    def _write_once(self, work: Callable[[Any], bool], packed: dict[str, Packed]) -> None:
        """Run work in one transaction, exactly once: it is retried only if nothing was committed, and survives a power failure."""
        raise NotImplementedError

    def _lock_templates(self, connection: Any) -> None:
        """Make other transactions that change templates wait until this one ends."""

    def _row_ids(self, connection: Any, texts: Iterable[str], packed: dict[str, Packed]) -> dict[str, int]:
        """Return the row id of each text, found by hash. Texts that are not in the store are added. No row can be deleted meanwhile."""
        raise NotImplementedError

    def _hash(self, text: str, packed: dict[str, Packed]) -> bytes:
        row = packed.get(text)
        return row[0] if row else self._texts.hash(text) or hash_of(text)
