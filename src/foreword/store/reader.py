"""The methods with which a store reads, in SQL that SQLite and PostgreSQL share.

Reading an existing conversation takes one SELECT of a small row with the hash of its content; each content and each text is read once
per process. Row ids are never cached, because they may refer to other rows after a backup is restored.
"""

from __future__ import annotations

from ..errors import check_id
from ..vocabulary import replace
from . import waits
from .cache import MissingTextError
from .contents import content_hash
from .faults import ALL_ROWS, faults
from .listing import ANY_CONVERSATION, count_conversations, list_conversations
from .rows import (
    EDITION_COLUMNS,
    MAX_NUMBER,
    TEXT_COLUMNS,
    edition_of,
    hash_at,
    hash_from_id,
    key_of,
    row_of,
    texts_of,
)
from .team_store import TEAMS, TeamStore
from .texts import hash_of, pack, to_text
from .usage import SELECT_ALL_USAGE, SELECT_USAGE, DailyUsage, UsageRow, daily_usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    from ..vocabulary import Edition
    from .confirming import EditionReader
    from .listing import ConversationPage, ConversationQuery
    from .team_store import Rows
    from .texts import Packed

    T = TypeVar("T")

_IN_CONVERSATION = f"SELECT {EDITION_COLUMNS} FROM foreword_editions WHERE team = ? AND conversation = ?"
CURRENT = f"{_IN_CONVERSATION} ORDER BY number DESC LIMIT 1"
_EDITION = f"{_IN_CONVERSATION} AND number = ?"
_EDITIONS = f"{_IN_CONVERSATION} ORDER BY number"
_TEXT_HASHES = {column: hash_at("foreword_contents", column) for column in TEXT_COLUMNS}
_CONTENTS = f"SELECT hash, {', '.join(_TEXT_HASHES.values())} FROM foreword_contents WHERE team = ? AND hash IN"
_TEXTS = "SELECT hash, form, body FROM foreword_texts WHERE team = ? AND hash IN"
_PROMPT = f"""
    SELECT {_TEXT_HASHES["system"]}, {_TEXT_HASHES["account"]} FROM foreword_contents
    WHERE team = ? AND system = (SELECT id FROM foreword_texts WHERE team = ? AND hash = ?) ORDER BY id LIMIT 1
"""
_USES = """
    SELECT template, version, sum(conversations) FROM foreword_kinds AS k
    JOIN foreword_counts AS n ON n.team = k.team AND n.kind = k.id
    WHERE k.team = ? AND version IS NOT NULL GROUP BY template, version
"""
_COUNTS = """
    SELECT
        (SELECT coalesce(sum(conversations), 0) FROM foreword_counts),
        (SELECT coalesce(sum(editions), 0) FROM foreword_counts),
        (SELECT count(*) FROM foreword_texts),
        (SELECT count(*) FROM foreword_templates)
"""
_BATCH_SIZE = 500
_MAX_CONTENTS = 100_000
_MAX_REPEATS = 2


class StoreReader(TeamStore):
    """The reading half of a store. Subclasses run the statements."""

    def moment(self) -> object:
        return None

    def batch_reader(self) -> EditionReader | None:
        return None

    def pool_counts(self) -> Mapping[str, int]:
        return {}

    def cache_counts(self) -> Mapping[str, int]:
        editions = self._editions
        return {"cached_editions": len(editions), "cache_hits": editions.hits, "cache_misses": editions.misses}

    def current(self, conversation: str, moment: object = None) -> Edition | None:
        team = self.team
        key = key_of(team, conversation)
        cached = self._editions.get(key)
        moment = waits.moment() if moment is None else moment
        if cached is None:
            check_id(conversation)
        elif moment is not None and cached.moment == moment:
            self._editions.hits += 1
            return cached.edition

        def read_current(connection: Any) -> Edition | None:
            for row in self._select(connection, CURRENT, (team, conversation)):
                if cached is not None and row == cached.row:
                    if moment is not None:
                        cached.moment = moment
                    self._editions.hits += 1
                    return cached.edition
                self._editions.misses += 1
                edition = edition_of(row, self._contents_by_hash(connection, [row[1]])[row[1]])
                self._editions.put(key, edition, row, moment)
                return edition
            self._editions.discard(key)
            return None

        return self._read(read_current)

    def last_known(self, conversation: str) -> Edition | None:
        cached = self._editions.get(key_of(self.team, conversation))
        return cached.edition if cached else None

    def edition(self, conversation: str, number: int) -> Edition | None:
        check_id(conversation)
        if not 0 < number <= MAX_NUMBER:
            return None
        return self._read(lambda connection: self._one_edition(connection, _EDITION, (self.team, conversation, number)))

    def editions(self, conversation: str) -> list[Edition]:
        check_id(conversation)

        def read_editions(connection: Any) -> list[Edition]:
            rows = self._select(connection, _EDITIONS, (self.team, conversation))
            contents = self._contents_by_hash(connection, [row[1] for row in rows])
            return [edition_of(row, contents[row[1]]) for row in rows]

        return self._read(read_editions)

    def conversations(self, query: ConversationQuery = ANY_CONVERSATION) -> ConversationPage:
        return self._search(lambda select: list_conversations(select, self.team, query))

    def count(self, query: ConversationQuery = ANY_CONVERSATION) -> tuple[int, bool]:
        return self._search(lambda select: count_conversations(select, self.team, query))

    def prompt(self, id: str) -> tuple[str, str] | None:
        hash = hash_from_id(id)

        def read_prompt(connection: Any) -> tuple[str, str] | None:
            for system, account in self._select(connection, _PROMPT, (self.team, self.team, hash)):
                texts = self._by_hash(connection, (system, account))
                return texts[system], texts[account]
            return None

        return self._read(read_prompt) if hash else None

    def usage(self, conversation: str, number: int) -> UsageRow | None:
        moment, cached = waits.moment(), self._editions.get(key_of(self.team, conversation))
        if cached is None:
            check_id(conversation)
        if not 0 < number <= MAX_NUMBER:
            return None
        if moment is None or (cached is not None and cached.edition.number != number):
            cached = None
        if cached is not None and cached.usage_moment == moment:
            return cached.usage
        key = (self.team, conversation, number)
        rows = self._run(lambda connection: self._select(connection, SELECT_USAGE, key))
        usage = UsageRow(*rows[0]) if rows else None
        if cached is not None:
            cached.usage, cached.usage_moment = usage, moment
        return usage

    def usages(self, conversation: str) -> dict[int, UsageRow]:
        check_id(conversation)
        rows = self._run(lambda connection: self._select(connection, SELECT_ALL_USAGE, (self.team, conversation)))
        return {number: UsageRow(*columns) for number, *columns in rows}

    def daily_usage(self, conversations: Sequence[str]) -> list[DailyUsage]:
        return self._search(lambda select: daily_usage(select, self.team, conversations))

    def count_template_uses(self) -> dict[tuple[str, int], int]:
        rows = self._search(lambda select: select(_USES, (self.team,)))
        return {(to_text(template), version): int(count) for template, version, count in rows if count}

    def _read(self, work: Callable[[Any], T]) -> T:
        """Run work that reads hashes and then their texts. If a text is missing, its edition may just have been removed: look again."""
        for _ in range(_MAX_REPEATS):
            try:
                return self._run(work)
            except MissingTextError:
                pass
        return self._run(work)

    def _one_edition(self, connection: Any, select: str, key: Sequence[object]) -> Edition | None:
        for row in self._select(connection, select, key):
            return edition_of(row, self._contents_by_hash(connection, [row[1]])[row[1]])
        return None

    def _contents_by_hash(self, connection: Any, hashes: Sequence[bytes | None]) -> dict[bytes | None, list[str]]:
        """Return the six texts of each content. Raises a StoreError for a hash of None, which means that a content is missing."""
        known = self._contents
        self._load_contents(connection, [hash for hash in set(hashes) if hash is not None and hash not in known])
        pointers = {hash: known.get(hash, (None,)) if hash else (None,) for hash in hashes}
        texts_by_hash = self._by_hash(connection, [text for texts in pointers.values() for text in texts])
        return {hash: [texts_by_hash[text] for text in texts if text] for hash, texts in pointers.items()}

    def _load_contents(self, connection: Any, hashes: Sequence[bytes]) -> None:
        """Read which texts these contents consist of, and remember it."""
        for start in range(0, len(hashes), _BATCH_SIZE):
            batch = hashes[start : start + _BATCH_SIZE]
            if len(self._contents) > _MAX_CONTENTS:
                self._contents.clear()
            for hash, *texts in self._select(
                connection, f"{_CONTENTS} ({', '.join('?' * len(batch))})", [self.team, *batch]
            ):
                self._contents[hash] = tuple(texts)

    def _by_hash(self, connection: Any, hashes: Sequence[bytes | None]) -> dict[bytes, str]:
        def load(missing: list[bytes]) -> Rows:
            rows: Rows = []
            for start in range(0, len(missing), _BATCH_SIZE):
                batch = missing[start : start + _BATCH_SIZE]
                rows += self._select(connection, f"{_TEXTS} ({', '.join('?' * len(batch))})", [self.team, *batch])
            return rows

        return self._texts.by_hash(hashes, load)

    def _counts(self, connection: Any, bytes: int) -> dict[str, int]:
        ((conversations, editions, texts, versions),) = self._select(connection, _COUNTS)
        return {
            "conversations": int(conversations),
            "editions": int(editions),
            "texts": texts,
            "bytes": bytes,
            "versions": versions,
        }

    def _faults(self, connection: Any) -> Iterable[str]:
        for (team,) in self._select(connection, TEAMS):
            where = f"team {team!r}: " if team else ""
            for fault in faults(*(self._stream(connection, statement, (team,)) for statement in ALL_ROWS)):
                yield where + fault

    def _pack_new(self, texts: Iterable[str]) -> dict[str, Packed]:
        """Return the rows for texts that are not cached, prepared before any lock is taken."""
        return {text: pack(text) for text in texts if self._texts.hash(text) is None}

    def _cache_texts(self, packed: dict[str, Packed]) -> None:
        """Cache texts that have been written."""
        for text, (hash, _, _) in packed.items():
            self._texts.put(hash, text)

    def _content_hash(self, edition: Edition) -> bytes:
        """Return the hash of an edition's content."""
        return content_hash(self._texts.hash(text) or hash_of(text) for text in texts_of(edition))

    def _cache_edition(self, conversation: str, edition: Edition, row: tuple[Any, ...]) -> None:
        """Cache an edition that has been written as this row."""
        self._editions.put(key_of(self.team, conversation), edition, row)

    def _cache_state(self, conversation: str, number: int, state: str) -> None:
        """Cache a state that has been written for an edition."""
        cached = self.last_known(conversation)
        if cached is not None and cached.number == number:
            edition = replace(cached, state=state)
            self._cache_edition(conversation, edition, row_of(edition, self._content_hash(edition)))
