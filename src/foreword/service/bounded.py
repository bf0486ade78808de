"""A dictionary of limited size, for what a service remembers between requests."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class BoundedDict(dict[K, V]):
    """A dictionary that starts over when it is full."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __setitem__(self, key: K, value: V) -> None:
        if len(self) >= self._size and key not in self:
            self.clear()
        super().__setitem__(key, value)
