"""A process's caches for a store: texts by hash, and each conversation's last known edition.

Neither cache can go stale. A hash always belongs to the same text, and an edition is cached with the row it was read from and
reused only if the store still returns that row. So both remain valid after a backup is restored, a file is replaced or a
connection is lost.
"""

from __future__ import annotations

import sys
import zlib
from _thread import allocate_lock

from ..errors import StoreError
from ..vocabulary.hashes import StringHashes
from .rows import texts_of
from .texts import id_of, unpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..vocabulary import Edition
    from .usage import UsageRow

_MAX_TEXT_BYTES = 64 * 2**20
_MAX_EDITION_CHARACTERS = 128 * 2**20
_MAX_EDITIONS = 10_000


class MissingTextError(StoreError):
    """The store does not contain a text: it is damaged, or the text was removed after its hash was read."""


class CachedEdition:
    """An edition in use, the row it was read from, and the store's `moment` when that row was last read; likewise its usage."""

    __slots__ = ("edition", "moment", "row", "usage", "usage_moment")

    def __init__(self, edition: Edition, row: object, moment: object = None) -> None:
        self.edition, self.row, self.moment = edition, row, moment
        self.usage: UsageRow | None = None
        self.usage_moment: object = None


class EditionCache:
    """Editions in use, by conversation. When the cache is full, the oldest are dropped first.

    Text that several editions share is counted once. Lookups, the most common operation, take no lock.
    """

    def __init__(self, max_characters: int = _MAX_EDITION_CHARACTERS) -> None:
        self._max = max_characters
        self._lock = allocate_lock()
        self._editions: dict[str, CachedEdition] = {}
        self._ids = StringHashes()
        self._uses: dict[str, int] = {}
        self._size = 0
        # Lookups that did and did not save reading an edition's content. Threads may lose a count.
        self.hits = self.misses = 0

    def __len__(self) -> int:
        return len(self._editions)

    def get(self, conversation: str) -> CachedEdition | None:
        return self._editions.get(conversation)

    def put(self, conversation: str, edition: Edition, row: object, moment: object = None) -> None:
        with self._lock:
            self._discard(conversation)
            self._editions[conversation] = CachedEdition(edition, row, moment)
            for text in texts_of(edition):
                uses = self._uses.get(text, 0)
                self._uses[text] = uses + 1
                self._size += 0 if uses else len(text)
            while len(self._editions) > 1 and (self._size > self._max or len(self._editions) > _MAX_EDITIONS):
                self._discard(next(iter(self._editions)))

    def discard(self, conversation: str) -> None:
        with self._lock:
            self._discard(conversation)

    def forget(self, hashes: frozenset[bytes]) -> None:
        """Drop editions if the hash of their conversation's id or of their content is among these."""
        editions = dict(self._editions)
        for conversation in self._ids.find(editions, hashes):
            self.discard(conversation)
        for conversation, cached in editions.items():
            if isinstance(cached.row, tuple) and cached.row[1] in hashes:
                self.discard(conversation)

    def _discard(self, conversation: str) -> None:
        cached = self._editions.pop(conversation, None)
        self._ids.discard(conversation)
        for text in texts_of(cached.edition) if cached else ():
            self._uses[text] -= 1
            if not self._uses[text]:
                del self._uses[text]
                self._size -= len(text)


class TextCache:
    """Texts that this process has read or written, by hash.

    There are two generations. When the recent generation reaches half of the limit, it becomes the old one. Texts of the previous old
    generation are then dropped, unless they were used in the meantime. A hit, the most common case, changes nothing and takes no lock.
    """

    def __init__(self, max_bytes: int = _MAX_TEXT_BYTES) -> None:
        self._max = max_bytes
        self._lock = allocate_lock()
        self._recent: dict[bytes, str] = {}
        self._old: dict[bytes, str] = {}
        self._hashes: dict[str, bytes] = {}
        self._old_hashes: dict[str, bytes] = {}
        self._size = 0

    def put(self, hash: bytes, text: str) -> None:
        with self._lock:
            if hash in self._recent:
                return
            size = sys.getsizeof(text)
            if self._size + size > self._max // 2:
                self._old, self._old_hashes = self._recent, self._hashes
                self._recent, self._hashes, self._size = {}, {}, 0
            self._recent[hash] = text
            self._hashes[text] = hash
            self._size += size

    def hash(self, text: str) -> bytes | None:
        """Return the hash of a text, or None if it is not cached."""
        hash = self._hashes.get(text)
        if hash is None:
            hash = self._old_hashes.get(text)
            if hash is not None:
                self.put(hash, text)
        return hash

    def forget(self, hashes: frozenset[bytes]) -> None:
        """Drop the texts with these hashes."""
        with self._lock:
            for texts, known in ((self._recent, self._hashes), (self._old, self._old_hashes)):
                for hash in hashes & texts.keys():
                    text = texts.pop(hash)
                    known.pop(text, None)
                    self._size -= sys.getsizeof(text) if texts is self._recent else 0

    def by_hash(
        self, hashes: Iterable[bytes | None], load: Callable[[list[bytes]], Iterable[tuple[bytes, int, bytes]]]
    ) -> dict[bytes, str]:
        """Return the texts with these hashes. Texts that are not cached are loaded as rows of hash, form and body.

        Raises a StoreError for a hash of None, which means that a row refers to text that is not in the store.
        """
        recent = self._recent
        try:
            return {hash: recent[hash] for hash in hashes}  # type: ignore[index,misc]
        except KeyError:
            return self._find(set(hashes), load)

    def _find(
        self, requested: set[bytes | None], load: Callable[[list[bytes]], Iterable[tuple[bytes, int, bytes]]]
    ) -> dict[bytes, str]:
        hashes = {hash for hash in requested if hash is not None}
        recent, old = self._recent, self._old
        texts_by_hash = {hash: texts[hash] for texts in (old, recent) for hash in hashes if hash in texts}
        missing = hashes - texts_by_hash.keys()
        for hash, form, body in load(sorted(missing)) if missing else ():
            try:
                texts_by_hash[hash] = unpack(form, body)
            except (ValueError, zlib.error):
                raise StoreError(
                    f"text {id_of(hash)} in the store is damaged; verify the store to find other damage"
                ) from None
        for hash in hashes & texts_by_hash.keys():
            self.put(hash, texts_by_hash[hash])
        if requested - texts_by_hash.keys():
            raise MissingTextError("text is missing from the store; verify the store to find out which")
        return texts_by_hash
