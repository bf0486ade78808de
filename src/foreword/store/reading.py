"""The calls of a store that only read: the same statements for SQLite and PostgreSQL.

A known conversation is one SELECT of a small row of numbers. A text that this process has not seen is read once, by its number.
"""

from __future__ import annotations

from .rows import (
    COLUMNS,
    LARGEST,
    TEXTS,
    check_id,
    check_page,
    conversation_of,
    edition_of,
    faults,
    hash_in,
    is_plain,
    version_of,
)
from .texts import Texts, pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeVar

    from ..vocabulary import ConversationRow, Edition, TemplateVersion
    from .texts import Packed

    T = TypeVar("T")
    Rows = list[tuple[Any, ...]]

CURRENT = f"SELECT {COLUMNS} FROM foreword_editions WHERE conversation = ? ORDER BY number DESC LIMIT 1"
_EDITION = f"SELECT {COLUMNS} FROM foreword_editions WHERE conversation = ? AND number = ?"
_EDITIONS = f"SELECT {COLUMNS} FROM foreword_editions WHERE conversation = ? ORDER BY number"
# Every conversation has an edition 1, so nothing need be grouped. HOLDS is each database's own word.
_CONVERSATIONS = """
    SELECT page.conversation, e.number, t.hash, e.layout, e.made
    FROM (
        SELECT conversation FROM foreword_editions
        WHERE number = 1 AND HOLDS(conversation, ?) > 0 ORDER BY conversation LIMIT ? OFFSET ?
    ) AS page
    JOIN foreword_editions AS e ON e.conversation = page.conversation
        AND e.number = (SELECT max(number) FROM foreword_editions AS o WHERE o.conversation = page.conversation)
    JOIN foreword_texts AS t ON t.id = e.system
    ORDER BY page.conversation
"""
_PROMPT = (
    "SELECT system, account FROM foreword_prompts AS p JOIN foreword_texts AS t ON t.id = p.system WHERE t.hash = ?"
)
_TEMPLATES = "SELECT version, template, author, time, note FROM foreword_templates ORDER BY version DESC"
_USES = """
    SELECT e.made_for, count(*) FROM foreword_editions AS e
    JOIN (SELECT conversation, max(number) AS number FROM foreword_editions GROUP BY conversation) AS newest
        ON newest.conversation = e.conversation AND newest.number = e.number
    GROUP BY e.made_for ORDER BY e.made_for
"""
_COUNTS = """
    SELECT
        (SELECT count(*) FROM foreword_editions WHERE number = 1),
        (SELECT count(*) FROM foreword_editions),
        (SELECT count(*) FROM foreword_texts),
        (SELECT count(*) FROM foreword_templates)
"""
_ALL = (
    "SELECT id, hash, form, body FROM foreword_texts",
    "SELECT system, account FROM foreword_prompts",
    f"SELECT conversation, number, {', '.join(TEXTS)} FROM foreword_editions ORDER BY conversation, number",
    "SELECT version, template FROM foreword_templates ORDER BY version",
)
_POINTERS = slice(1, 1 + len(TEXTS))
_AT_ONCE = 500


class Reading:
    """The reading half of a store. The other half says how a statement is run."""

    HOLDS = "instr"

    def __init__(self) -> None:
        self._texts = Texts()

    def _run(self, work: Callable[[Any], T]) -> T:
        """Do something with a connection that no other thread uses; what fails is a StoreError."""
        raise NotImplementedError

    def _look_through(self, work: Callable[[Any], T]) -> T:
        """Do something that looks at every row, and may take its time."""
        return self._run(work)

    def _select(self, connection: Any, statement: str, key: Sequence[object] = ()) -> Rows:
        """All rows of a SELECT."""
        raise NotImplementedError

    def _stream(self, connection: Any, statement: str) -> Iterable[tuple[Any, ...]]:
        """The rows of a SELECT that may be more than memory holds."""
        raise NotImplementedError

    def current(self, conversation: str) -> Edition | None:
        known = self._texts.editions.get(conversation)
        if known is None:
            check_id(conversation)

        def read(connection: Any) -> Edition | None:
            for row in self._select(connection, CURRENT, (conversation,)):
                if known is not None and known[0] == row:
                    return known[1]
                edition = edition_of(row, self._by_number(connection, row[_POINTERS]))
                self._texts.remember_edition(conversation, row, edition)
                return edition
            return None

        return self._run(read)

    def edition(self, conversation: str, number: int) -> Edition | None:
        check_id(conversation)
        if not 0 < number <= LARGEST:
            return None
        return self._run(lambda connection: self._one_edition(connection, _EDITION, (conversation, number)))

    def editions(self, conversation: str) -> list[Edition]:
        check_id(conversation)

        def read(connection: Any) -> list[Edition]:
            rows = self._select(connection, _EDITIONS, (conversation,))
            texts = self._by_number(connection, [number for row in rows for number in row[_POINTERS]])
            return [edition_of(row, texts) for row in rows]

        return self._run(read)

    def conversations(self, search: str = "", limit: int = 100, offset: int = 0) -> list[ConversationRow]:
        check_page(limit, offset)
        if not is_plain(search):
            return []

        def read(connection: Any) -> list[ConversationRow]:
            rows = self._select(connection, _CONVERSATIONS.replace("HOLDS", self.HOLDS), (search, limit, offset))
            texts = self._by_number(connection, [row[3] for row in rows])
            return [conversation_of(row, texts) for row in rows]

        return self._run(read)

    def prompt(self, id: str) -> tuple[str, str] | None:
        hash = hash_in(id)

        def read(connection: Any) -> tuple[str, str] | None:
            for system, account in self._select(connection, _PROMPT, (hash,)):
                texts = self._by_number(connection, (system, account))
                return texts[system], texts[account]
            return None

        return self._run(read) if hash else None

    def template(self) -> TemplateVersion | None:
        return next(iter(self._versions(f"{_TEMPLATES} LIMIT 1")), None)

    def templates(self) -> list[TemplateVersion]:
        return self._versions(_TEMPLATES)

    def uses(self) -> list[tuple[str, int]]:
        def read(connection: Any) -> list[tuple[str, int]]:
            rows = self._select(connection, _USES)
            texts = self._by_number(connection, [row[0] for row in rows])
            return [(texts[made_for], count) for made_for, count in rows]

        return self._look_through(read)

    def _one_edition(self, connection: Any, select: str, key: Sequence[object]) -> Edition | None:
        for row in self._select(connection, select, key):
            return edition_of(row, self._by_number(connection, row[_POINTERS]))
        return None

    def _versions(self, select: str) -> list[TemplateVersion]:
        def read(connection: Any) -> list[TemplateVersion]:
            rows = self._select(connection, select)
            texts = self._by_number(connection, [row[1] for row in rows])
            return [version_of(row, texts) for row in rows]

        return self._run(read)

    def _by_number(self, connection: Any, numbers: Sequence[int]) -> dict[int, str]:
        def load(missing: list[int]) -> Rows:
            rows: Rows = []
            for start in range(0, len(missing), _AT_ONCE):
                some = missing[start : start + _AT_ONCE]
                marks = ", ".join("?" * len(some))
                rows += self._select(
                    connection, f"SELECT id, form, body FROM foreword_texts WHERE id IN ({marks})", some
                )
            return rows

        return self._texts.by_number(numbers, load)

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
        return faults(*(self._stream(connection, statement) for statement in _ALL))

    def _packed(self, texts: Iterable[str]) -> dict[str, Packed]:
        """The rows of texts that this process has not seen, made before anything is held for writing."""
        return {text: pack(text) for text in texts if self._texts.number(text) is None}
