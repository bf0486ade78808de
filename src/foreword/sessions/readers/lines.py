"""Read the lines of a log that may be cut, damaged, growing or somebody else's."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


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
    """Yield the complete lines of a log from `start` to the size that it has now, each with its offset.

    The last line is yielded without its newline if it has none; a program may be writing it. Raises an `UnreadableLog`.
    """
    with open(open_log(path), "rb", buffering=1 << 20) as file:
        limit = os.fstat(file.fileno()).st_size if end is None else end
        file.seek(start)
        offset = start
        try:
            for line in file:
                yield offset, line
                offset += len(line)
                if offset >= limit:
                    return
        except OSError as error:
            raise UnreadableLog(error.strerror or "cannot be read") from None
