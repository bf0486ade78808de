"""Limit the memory that a process uses for bodies and responses."""

from __future__ import annotations

from .responses import Problem

IN_FLIGHT = 256
"""The default limit, in MB."""
# Smaller requests are always accepted, so that clients with large bodies cannot lock out everyone else.
_ALWAYS_ACCEPTED = 64 * 1024


class MemoryLimit:
    """The number of bytes that all of a process's requests may use together."""

    def __init__(self, limit: int) -> None:
        self.limit, self.used = limit, 0


class Reservation:
    """The number of bytes that one request uses."""

    __slots__ = ("_memory", "_size")

    def __init__(self, memory: MemoryLimit) -> None:
        self._memory, self._size = memory, 0

    def take(self, size: int) -> None:
        """Reserve more bytes. Raises a Problem if all requests together would exceed the limit."""
        memory = self._memory
        if self._size + size > _ALWAYS_ACCEPTED and memory.used + size > memory.limit:
            limit = f"{memory.limit // 1_000_000:,} MB"
            raise Problem(
                "busy",
                f"requests and responses in flight already use {limit}; try again later",
                {"Connection": "close"},
            )
        memory.used += size
        self._size += size

    def free(self) -> None:
        """Release all reserved bytes."""
        self._memory.used -= self._size
        self._size = 0
