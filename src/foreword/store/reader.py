"""The methods with which a store reads, in SQL that SQLite and PostgreSQL share.

Reading an existing conversation takes one SELECT of a small row with the hashes of its texts; each text is read once per process. The
texts' row ids are never cached, because they may refer to other texts after a backup is restored.
"""

from __future__ import annotations

from ..errors import check_id, is_plain
from ..vocabulary import replace
from . import waits
from .cache import EditionCache, TextCache
from .rows import (
    EDITION_COLUMNS,
    MAX_NUMBER,
    TEXT_COLUMNS,
    check_page,
    conversation_of,
    edition_of,
    faults,
    hash_at,
    hash_from_id,
    row_of,
    texts_of,
    version_of,
)
from .texts import hash_of, pack
from .usage import SELECT_USAGE, UsageRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeVar

    from ..vocabulary import Edition
    from .contract import EditionReader
    from .rows import ConversationRow, TemplateVersion
    from .texts import Packed

    T = TypeVar("T")
    Rows = list[tuple[Any, ...]]

CURRENT = f"SELECT {EDITION_COLUMNS} FROM foreword_editions WHERE conversation = ? ORDER BY number DESC LIMIT 1"
_EDITION = f"SELECT {EDITION_COLUMNS} FROM foreword_editions WHERE conversation = ? AND number = ?"
_EDITIONS = f"SELECT {EDITION_COLUMNS} FROM foreword_editions WHERE conversation = ? ORDER BY number"
# Every conversation has an edition 1, so grouping is not necessary. SEARCH is replaced with the database's search function.
_CONVERSATIONS = f"""
    SELECT page.conversation, e.number, t.hash, {hash_at("e.layout")}, e.created
    FROM (
        SELECT conversation FROM foreword_editions
        WHERE number = 1 AND SEARCH(conversation, ?) > 0 ORDER BY conversation LIMIT ? OFFSET ?
    ) AS page
    JOIN foreword_editions AS e ON e.conversation = page.conversation
        AND e.number = (SELECT max(number) FROM foreword_editions AS o WHERE o.conversation = page.conversation)
    JOIN foreword_texts AS t ON t.id = e.system
    ORDER BY page.conversation
"""
_PROMPT = f"""
    SELECT t.hash, {hash_at("p.account")}
    FROM foreword_prompts AS p JOIN foreword_texts AS t ON t.id = p.system WHERE t.hash = ?
"""
_TEMPLATES = (
    f"SELECT version, {hash_at('template')}, author, time, note, syntax FROM foreword_templates ORDER BY version DESC"
)
_USES = f"""
    SELECT {hash_at("built_for")}, uses FROM (
        SELECT e.built_for, count(*) AS uses FROM foreword_editions AS e
        JOIN (SELECT conversation, max(number) AS number FROM foreword_editions GROUP BY conversation) AS newest
            ON newest.conversation = e.conversation AND newest.number = e.number
        GROUP BY e.built_for
    ) AS counted ORDER BY built_for
"""
_COUNTS = """
    SELECT
        (SELECT count(*) FROM foreword_editions WHERE number = 1),
        (SELECT count(*) FROM foreword_editions),
        (SELECT count(*) FROM foreword_texts),
        (SELECT count(*) FROM foreword_templates)
"""
_ALL_ROWS = (
    "SELECT id, hash, form, body FROM foreword_texts",
    "SELECT system, account FROM foreword_prompts",
    f"SELECT conversation, number, {', '.join(TEXT_COLUMNS)} FROM foreword_editions ORDER BY conversation, number",
    "SELECT version, template FROM foreword_templates ORDER BY version",
)
_HASHES = slice(1, 1 + len(TEXT_COLUMNS))
_BATCH_SIZE = 500


class StoreReader:
    """The reading half of a store. Subclasses run the statements."""

    SEARCH = "instr"

    def __init__(self) -> None:
        self._texts, self._editions = TextCache(), EditionCache()

    def _run(self, work: Callable[[Any], T]) -> T:
        """Call `work` with a connection that no other thread is using. Failures raise a StoreError."""
        raise NotImplementedError

    def _scan(self, work: Callable[[Any], T]) -> T:
        """Like `_run`, for work that reads every row and may take a long time."""
        return self._run(work)

    def _select(self, connection: Any, statement: str, key: Sequence[object] = ()) -> Rows:
        """Return all rows of a SELECT."""
        raise NotImplementedError

    def _stream(self, connection: Any, statement: str) -> Iterable[tuple[Any, ...]]:
        """Return the rows of a SELECT whose result may not fit into memory."""
        raise NotImplementedError

    def moment(self) -> object:
        return None

    def batch_reader(self) -> EditionReader | None:
        return None

    def current(self, conversation: str, moment: object = None) -> Edition | None:
        cached = self._editions.get(conversation)
        moment = waits.moment() if moment is None else moment
        if cached is None:
            check_id(conversation)
        elif moment is not None and cached.moment == moment:
            return cached.edition

        def read(connection: Any) -> Edition | None:
            for row in self._select(connection, CURRENT, (conversation,)):
                if cached is not None and row == cached.row:
                    if moment is not None:
                        cached.moment = moment
                    return cached.edition
                edition = edition_of(row, self._by_hash(connection, row[_HASHES]))
                self._editions.put(conversation, edition, row, moment)
                return edition
            self._editions.discard(conversation)
            return None

        return self._run(read)

    def last_known(self, conversation: str) -> Edition | None:
        cached = self._editions.get(conversation)
        return cached.edition if cached else None

    def edition(self, conversation: str, number: int) -> Edition | None:
        check_id(conversation)
        if not 0 < number <= MAX_NUMBER:
            return None
        return self._run(lambda connection: self._one_edition(connection, _EDITION, (conversation, number)))

    def editions(self, conversation: str) -> list[Edition]:
        check_id(conversation)

        def read(connection: Any) -> list[Edition]:
            rows = self._select(connection, _EDITIONS, (conversation,))
            texts = self._by_hash(connection, [hash for row in rows for hash in row[_HASHES]])
            return [edition_of(row, texts) for row in rows]

        return self._run(read)

    def conversations(self, search: str = "", limit: int = 100, offset: int = 0) -> list[ConversationRow]:
        check_page(limit, offset)
        if not is_plain(search):
            return []

        def read(connection: Any) -> list[ConversationRow]:
            rows = self._select(connection, _CONVERSATIONS.replace("SEARCH", self.SEARCH), (search, limit, offset))
            texts = self._by_hash(connection, [row[3] for row in rows])
            return [conversation_of(row, texts) for row in rows]

        return self._run(read)

    def prompt(self, id: str) -> tuple[str, str] | None:
        hash = hash_from_id(id)

        def read(connection: Any) -> tuple[str, str] | None:
            for system, account in self._select(connection, _PROMPT, (hash,)):
                texts = self._by_hash(connection, (system, account))
                return texts[system], texts[account]
            return None

        return self._run(read) if hash else None

    def template(self) -> TemplateVersion | None:
        return next(iter(self._versions(f"{_TEMPLATES} LIMIT 1")), None)

    def templates(self) -> list[TemplateVersion]:
        return self._versions(_TEMPLATES)

    def usage(self, conversation: str, number: int) -> UsageRow | None:
        check_id(conversation)
        if not 0 < number <= MAX_NUMBER:
            return None
        moment, cached = waits.moment(), self._editions.get(conversation)
        if moment is None or (cached is not None and cached.edition.number != number):
            cached = None
        if cached is not None and cached.usage_moment == moment:
            return cached.usage
        rows = self._run(lambda connection: self._select(connection, SELECT_USAGE, (conversation, number)))
        usage = UsageRow(*rows[0]) if rows else None
        if cached is not None:
            cached.usage, cached.usage_moment = usage, moment
        return usage

    def uses(self) -> list[tuple[str, int]]:
        def read(connection: Any) -> list[tuple[str, int]]:
            rows = self._select(connection, _USES)
            texts = self._by_hash(connection, [row[0] for row in rows])
            return [(texts[built_for], count) for built_for, count in rows]

        return self._scan(read)

    def _one_edition(self, connection: Any, select: str, key: Sequence[object]) -> Edition | None:
        for row in self._select(connection, select, key):
            return edition_of(row, self._by_hash(connection, row[_HASHES]))
        return None

    def _versions(self, select: str) -> list[TemplateVersion]:
        def read(connection: Any) -> list[TemplateVersion]:
            rows = self._select(connection, select)
            texts = self._by_hash(connection, [row[1] for row in rows])
            return [version_of(row, texts) for row in rows]

        return self._run(read)

    def _by_hash(self, connection: Any, hashes: Sequence[bytes | None]) -> dict[bytes, str]:
        def load(missing: list[bytes]) -> Rows:
            rows: Rows = []
            for start in range(0, len(missing), _BATCH_SIZE):
                batch = missing[start : start + _BATCH_SIZE]
                placeholders = ", ".join("?" * len(batch))
                rows += self._select(
                    connection, f"SELECT hash, form, body FROM foreword_texts WHERE hash IN ({placeholders})", batch
                )
            return rows

        return self._texts.by_hash(hashes, load)

    def _counts(self, connection: Any, bytes: int) -> dict[str, int]:
        ((conversations, editions, texts, versions),) = self._select(connection, _COUNTS)
        return {
            "conversations": conversations,
            "editions": editions,
            "texts": texts,
            "bytes": bytes,
            "versions": versions,
        }

    def _faults(self, connection: Any) -> Iterable[str]:
        return faults(*(self._stream(connection, statement) for statement in _ALL_ROWS))

    def _pack_new(self, texts: Iterable[str]) -> dict[str, Packed]:
        """Return the rows for texts that are not cached, prepared before any lock is taken."""
        return {text: pack(text) for text in texts if self._texts.hash(text) is None}

    def _cache_texts(self, packed: dict[str, Packed]) -> None:
        """Cache texts that have been written."""
        for text, (hash, _, _) in packed.items():
            self._texts.put(hash, text)

    def _cache_edition(self, conversation: str, edition: Edition) -> None:
        """Cache an edition that has been written."""
        hashes = [self._texts.hash(text) or hash_of(text) for text in texts_of(edition)]
        self._editions.put(conversation, edition, row_of(edition, hashes))

    def _cache_state(self, conversation: str, number: int, state: str) -> None:
        """Cache a state that has been written for an edition."""
        cached = self.last_known(conversation)
        if cached is not None and cached.number == number:
            self._cache_edition(conversation, replace(cached, state=state))
