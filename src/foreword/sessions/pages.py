"""Keep long tables in little memory: of a table with very many entries, all but the last are packed. Pure.

A session may have hundreds of thousands of requests. Tables of usual size are never packed.
"""

from __future__ import annotations

from typing import Generic, TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

T = TypeVar("T")
# How many entries are packed at once.
PAGE = 10_000


class Pages(Generic[T]):
    """A list that grows at its end. Its pages are packed as soon as as many entries follow them."""

    def __init__(self, entries: Iterable[T] = ()) -> None:
        self._packed: list[bytes] = []
        self._last: list[T] = []
        self._open: tuple[int, list[T]] = (-1, [])  # the page that was looked at last
        self.extend(entries)

    def append(self, entry: T) -> None:
        """Add an entry."""
        self._last.append(entry)
        if len(self._last) >= 2 * PAGE:
            self._packed.append(_pack(self._last[:PAGE]))
            del self._last[:PAGE]

    def extend(self, entries: Iterable[T]) -> None:
        """Add several entries."""
        for entry in entries:
            self.append(entry)

    def replace(self, index: int, entry: T) -> None:
        """Put another entry in the place of one."""
        number, place = divmod(index, PAGE)
        if number >= len(self._packed):
            self._last[index - PAGE * len(self._packed)] = entry
        else:
            page = self._page(number)
            page[place] = entry
            self._packed[number] = _pack(page)

    def pages(self) -> Iterator[Sequence[T]]:
        """Yield the entries page by page."""
        for page in self._packed:
            yield _unpack(page)
        yield self._last

    def plain(self) -> Sequence[T]:
        """Return this as a list, unless that would need much memory."""
        return self if self._packed else self._last  # type: ignore[return-value]

    def frozen(self) -> Sequence[T]:
        """Return this as a tuple, unless that would need much memory."""
        return self if self._packed else tuple(self._last)  # type: ignore[return-value]

    def _page(self, number: int) -> list[T]:
        if self._open[0] != number:
            self._open = number, _unpack(self._packed[number])
        return self._open[1]

    def __len__(self) -> int:
        return PAGE * len(self._packed) + len(self._last)

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page

    def __getitem__(self, index: int) -> T:
        number, place = divmod(index + len(self) if index < 0 else index, PAGE)
        if number < len(self._packed):
            return self._page(number)[place]
        return self._last[place + PAGE * (number - len(self._packed))]


class PagedTable(Generic[T]):
    """Entries by key, in the order in which they were added. Of keys whose entries are packed only the hashes are kept."""

    def __init__(self) -> None:
        self._entries: Pages[T] = Pages()
        self._places: dict[str | int, int] = {}

    def get(self, key: str) -> T | None:
        """Return the entry of a key, or None."""
        place = self._place(key)
        return None if place is None else self._entries[place]

    def put(self, key: str, entry: T) -> None:
        """Add an entry, or replace the one with this key."""
        place = self._place(key)
        if place is not None:
            self._entries.replace(place, entry)
            return
        count = len(self._entries)
        self._places[key if count < PAGE else hash(key)] = count
        self._entries.append(entry)

    def _place(self, key: str) -> int | None:
        place = self._places.get(key)
        if place is None and len(self._entries) > PAGE:
            place = self._places.get(hash(key))
        return place

    def last(self) -> T:
        """Return the entry that was added last."""
        return self._entries[-1]

    def replace_last(self, entry: T) -> None:
        """Put another entry in the place of the one that was added last."""
        self._entries.replace(len(self._entries) - 1, entry)

    def values(self) -> Sequence[T]:
        """Return the entries."""
        return self._entries.frozen()

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: str) -> bool:
        return self._place(key) is not None


def pages_of(entries: Iterable[T]) -> Iterable[Sequence[T]]:
    """Return the pages of a sequence, which is one unless it is packed."""
    if isinstance(entries, Pages):
        return entries.pages()
    return [entries if isinstance(entries, list) else list(entries)]


def choose(entries: Sequence[T], is_chosen: Callable[[T], bool]) -> Sequence[T]:
    """Return those entries that are chosen."""
    if not isinstance(entries, Pages):
        return [entry for entry in entries if is_chosen(entry)]
    return entries if all(map(is_chosen, entries)) else Pages(filter(is_chosen, entries)).plain()


def _pack(entries: Sequence[T]) -> bytes:
    import io
    import pickle
    import zlib

    class Pickler(pickle.Pickler):
        """Tuples with names are created by the function for tuples, which is several times as fast as their own."""

        def reducer_override(self, entry: object) -> Any:
            return (tuple.__new__, (type(entry), tuple(entry))) if isinstance(entry, tuple) else NotImplemented

    stream = io.BytesIO()
    Pickler(stream, pickle.HIGHEST_PROTOCOL).dump(entries)
    return zlib.compress(stream.getbuffer(), 1)


def _unpack(page: bytes) -> list[T]:
    import pickle
    import zlib

    entries: list[T] = pickle.loads(zlib.decompress(page))
    return entries
