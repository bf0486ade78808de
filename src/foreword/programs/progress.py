"""How far long work has come: programs count the rows of their longest loops, and a command may listen."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeVar

    T = TypeVar("T")
    Listener = Callable[[int, int], None]

_listener: Listener | None = None


def listen(listener: Listener | None) -> None:
    """Call this function with the number of rows that are done and of all rows, or None to stop that."""
    global _listener
    _listener = listener


def counted(rows: Sequence[T]) -> Iterator[T]:
    """Yield the rows, and report how many are done."""
    for number, row in enumerate(rows):
        if _listener is not None:
            _listener(number, len(rows))
        yield row
