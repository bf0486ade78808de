"""A text as a store keeps it, and what this process has seen of them.

A text is kept as UTF-8 in which half a surrogate pair passes, so that it comes back as it was given. Its key is the digest
that is also the id of a prompt. A long one is kept packed: accounts and inputs are JSON and shrink to a third or less.
"""

from __future__ import annotations

import sys
import zlib
from _thread import allocate_lock

from ..errors import StoreError
from ..vocabulary import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Packed = tuple[bytes, int, bytes]

PLAIN, DEFLATED = 0, 1
_WORTH_PACKING = 512
# Level 3 takes a third of the time of level 6 and gives 5 % more bytes.
_LEVEL = 3
_MOST_BYTES = 64 * 2**20


def to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def to_text(kept: bytes) -> str:
    return kept.decode("utf-8", "surrogatepass")


def pack(text: str) -> Packed:
    """A text as its row: hash, form and body."""
    body, form = to_bytes(text), PLAIN
    if len(body) >= _WORTH_PACKING:
        deflated = zlib.compress(body, _LEVEL)
        if len(deflated) < len(body):
            body, form = deflated, DEFLATED
    return hash_of(text), form, body


def unpack(form: int, body: bytes) -> str:
    """The text of a row. A ValueError or zlib.error if the row is damaged."""
    if form not in (PLAIN, DEFLATED):
        raise ValueError(f"no form {form}")
    return to_text(zlib.decompress(body) if form == DEFLATED else body)


def hash_of(text: str) -> bytes:
    return bytes.fromhex(digest(text).removeprefix("sha256:"))


def id_of(hash: bytes) -> str:
    """The id of the prompt whose text has this hash."""
    return f"sha256:{hash.hex()}"


class Texts:
    """The texts that this process has read or written, by their hashes. What a hash stands for never changes, whatever is
    done to the store; what a number of a row stands for does, when a backup is put back.

    They are kept in two generations: when the young are half of what is allowed, they become the old, and the old are
    forgotten unless they were asked for meanwhile. So a hit, the usual case, changes nothing and needs no lock.
    """

    def __init__(self, most: int = _MOST_BYTES) -> None:
        self._most = most
        self._lock = allocate_lock()
        self._young: dict[bytes, str] = {}
        self._old: dict[bytes, str] = {}
        self._hashes: dict[str, bytes] = {}
        self._old_hashes: dict[str, bytes] = {}
        self._size = 0

    def remember(self, hash: bytes, text: str) -> None:
        with self._lock:
            if hash in self._young:
                return
            size = sys.getsizeof(text)
            if self._size + size > self._most // 2:
                self._old, self._old_hashes = self._young, self._hashes
                self._young, self._hashes, self._size = {}, {}, 0
            self._young[hash] = text
            self._hashes[text] = hash
            self._size += size

    def hash(self, text: str) -> bytes | None:
        """The hash of a text, if this process knows it."""
        hash = self._hashes.get(text)
        if hash is None:
            hash = self._old_hashes.get(text)
            if hash is not None:
                self.remember(hash, text)
        return hash

    def by_hash(
        self, hashes: Iterable[bytes | None], load: Callable[[list[bytes]], Iterable[tuple[bytes, int, bytes]]]
    ) -> dict[bytes, str]:
        """The texts of these hashes. Those that this process has never seen are loaded as rows of hash, form and body.

        None stands for a text that a row points at and that is not there.
        """
        young = self._young
        try:
            return {hash: young[hash] for hash in hashes}  # type: ignore[index,misc]
        except KeyError:
            return self._found(set(hashes), load)

    def _found(
        self, wanted: set[bytes | None], load: Callable[[list[bytes]], Iterable[tuple[bytes, int, bytes]]]
    ) -> dict[bytes, str]:
        hashes = {hash for hash in wanted if hash is not None}
        young, old = self._young, self._old
        found = {hash: held[hash] for held in (old, young) for hash in hashes if hash in held}
        missing = hashes - found.keys()
        for hash, form, body in load(sorted(missing)) if missing else ():
            try:
                found[hash] = unpack(form, body)
            except (ValueError, zlib.error):
                raise StoreError(
                    f"text {id_of(hash)} of the store is damaged; `foreword store verify` says what else is"
                ) from None
        for hash in hashes & found.keys():
            self.remember(hash, found[hash])
        if wanted - found.keys():
            raise StoreError("a text of the store is gone; `foreword store verify` says which")
        return found
