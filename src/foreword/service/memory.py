"""Limit the memory that a process uses for bodies and responses."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from .responses import Problem

IN_FLIGHT = 96
"""The default limit, in MB."""
# Smaller requests are always accepted, so that clients with large bodies cannot lock out everyone else.
_ALWAYS_ACCEPTED = 64 * 1024
_MUCH = 16_000_000
# Options of glibc's `mallopt`, from its malloc.h, and their values here. Other libraries ignore them.
_ARENA_MAX, _ARENAS = -8, 2
# From this size on, memory is given back as soon as it is free. Without this option, the library raises the limit to the size of bodies.
_MMAP_THRESHOLD, _LARGE = -3, 128 * 1024


class MemoryLimit:
    """The number of bytes that all of a process's requests may use together."""

    def __init__(self, limit: int) -> None:
        self.limit, self.used, self._peak = limit, 0, 0

    def take(self, size: int) -> None:
        self.used += size
        self._peak = max(self._peak, self.used)

    def was_used(self) -> bool:
        """Whether requests have used much memory since the last call, and no longer do."""
        if self._peak < _MUCH or self.used > self._peak // 2:
            return False
        self._peak = self.used
        return True


class Reservation:
    """The number of bytes that one request uses."""

    __slots__ = ("_memory", "size")

    def __init__(self, memory: MemoryLimit) -> None:
        self._memory, self.size = memory, 0

    def take(self, size: int) -> None:
        """Reserve more bytes. Raises a Problem if all requests together would exceed the limit."""
        memory = self._memory
        if self.size + size > _ALWAYS_ACCEPTED and memory.used + size > memory.limit:
            limit = f"{memory.limit // 1_000_000:,} MB"
            raise Problem(
                "busy",
                f"requests and responses in flight already use {limit}; try again later",
                {"Connection": "close"},
            )
        memory.take(size)
        self.size += size

    def free(self) -> None:
        """Release all reserved bytes."""
        self._memory.used -= self.size
        self.size = 0


def give_back() -> None:
    """Give unused memory back to the system. The C library would keep it."""
    if (trim := _from_libc("malloc_trim")) is not None:
        trim(0)


def keep_little_memory() -> None:
    """Let the threads of this process share a few areas for memory, and give large bodies back as soon as they are answered.

    The C library would give each thread an area of its own, and keep what each one has used at most. Only one thread at a time runs Python
    code, so they hardly wait for each other.
    """
    if (set_option := _from_libc("mallopt")) is not None:
        set_option(_ARENA_MAX, _ARENAS)
        set_option(_MMAP_THRESHOLD, _LARGE)


@cache
def _from_libc(name: str) -> Any:
    """Return a function of the C library, or None if it has none of this name."""
    try:
        return getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):
        return None
