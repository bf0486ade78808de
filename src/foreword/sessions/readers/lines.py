"""Read the lines of a log that may be cut, damaged, growing or somebody else's."""

from __future__ import annotations

import os
import stat
from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


_MARK = 1024
_LONGEST = 128 << 20  # a line that is longer is not read


class UnreadableLog(Exception):
    """A log that cannot be read. The message says why."""


def open_log(path: str) -> int:
    """Open a log for reading, and return its descriptor. A FIFO, a device or a folder is refused, without waiting for it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        raise UnreadableLog(error.strerror or "cannot be opened") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnreadableLog("not a regular file")
    return descriptor


def read_lines(path: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a log from `start` to the size that it has now, each with its offset.

    The last line is yielded without its newline if it has none; a program may be writing it. Of a line that is too long only the beginning
    is yielded, which is not valid JSON. Raises an `UnreadableLog`.
    """
    with open(open_log(path), "rb", buffering=1 << 20) as file:
        limit = os.fstat(file.fileno()).st_size if end is None else end
        file.seek(start)
        offset = start
        try:
            while offset < limit and (line := file.readline(_LONGEST)):
                if len(line) == _LONGEST and not line.endswith(b"\n"):
                    yield offset, line[:_MARK]
                    while line and not line.endswith(b"\n"):
                        line = file.readline(_MARK << 10)
                    offset = file.tell()
                else:
                    yield offset, line
                    offset += len(line)
        except OSError as error:
            raise UnreadableLog(error.strerror or "cannot be read") from None


def mark_end(path: str, size: int) -> str:
    """Return a hash of what comes before this position, which stays the same while a log grows. Empty if no line ends there."""
    try:
        with open(open_log(path), "rb") as file:
            file.seek(max(size - _MARK, 0))
            tail = file.read(min(size, _MARK))
    except (OSError, UnreadableLog):
        return ""
    return blake2b(tail, digest_size=8).hexdigest() if tail.endswith(b"\n") else ""
