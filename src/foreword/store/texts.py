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

    from ..vocabulary import Edition

    Packed = tuple[bytes, int, bytes]

PLAIN, DEFLATED = 0, 1
_WORTH_PACKING = 512
# Level 3 takes a third of the time of level 6 and gives 5 % more bytes.
_LEVEL = 3
_MOST_BYTES = 64 * 2**20
_MOST_EDITIONS = 10_000


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
    """The texts that this process has read or written, by number and by text. What a number stands for never changes.

    They are kept in two generations: when the young are half of what is allowed, they become the old, and the old are
    forgotten unless they were asked for meanwhile. So a hit, the usual case, changes nothing and needs no lock.
    """

    def __init__(self, most: int = _MOST_BYTES) -> None:
        self._most = most
        self._lock = allocate_lock()
        self.forget()

    def forget(self) -> None:
        """Start anew: after a server was away, another may have taken its place."""
        self._young: dict[int, str] = {}
        self._old: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._old_numbers: dict[str, int] = {}
        self._size = 0
        self.editions: dict[str, tuple[object, Edition]] = {}

    def remember_edition(self, conversation: str, row: object, edition: Edition) -> None:
        """The edition that a row stands for, so that the same row gives the same value again."""
        with self._lock:
            if len(self.editions) >= _MOST_EDITIONS:
                self.editions.pop(next(iter(self.editions)))
            self.editions[conversation] = (row, edition)

    def remember(self, number: int, text: str) -> None:
        with self._lock:
            if number in self._young:
                return
            size = sys.getsizeof(text)
            if self._size + size > self._most // 2:
                self._old, self._old_numbers = self._young, self._numbers
                self._young, self._numbers, self._size = {}, {}, 0
            self._young[number] = text
            self._numbers[text] = number
            self._size += size

    def number(self, text: str) -> int | None:
        """The number of a text, if this process knows it."""
        number = self._numbers.get(text)
        if number is None:
            number = self._old_numbers.get(text)
            if number is not None:
                self.remember(number, text)
        return number

    def by_number(
        self, numbers: Iterable[int], load: Callable[[list[int]], Iterable[tuple[int, int, bytes]]]
    ) -> dict[int, str]:
        """The texts of these numbers. Those that this process has never seen are loaded as rows of number, form and body."""
        young = self._young
        try:
            return {number: young[number] for number in numbers}
        except KeyError:
            return self._found(set(numbers), load)

    def _found(
        self, numbers: set[int], load: Callable[[list[int]], Iterable[tuple[int, int, bytes]]]
    ) -> dict[int, str]:
        young, old = self._young, self._old
        found = {number: held[number] for held in (old, young) for number in numbers if number in held}
        missing = numbers - found.keys()
        for number, form, body in load(sorted(missing)) if missing else ():
            try:
                found[number] = unpack(form, body)
            except (ValueError, zlib.error):
                raise StoreError(
                    f"text {number} of the store is damaged; `foreword store verify` says what else is"
                ) from None
        for number in numbers & found.keys():
            self.remember(number, found[number])
        if lacking := numbers - found.keys():
            raise StoreError(f"text {min(lacking)} of the store is gone; `foreword store verify` says what else is")
        return found
