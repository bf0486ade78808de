"""Read the lines of a log that may be cut, damaged, growing or somebody else's."""

from __future__ import annotations

import os
import stat
from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_MARK = 1024
_BLOCK = 1 << 18
ROW_END = b"}\n"  # of a line that is complete
LONGEST = 64 << 20  # a line that is longer is not read
_SMALL = 8 << 20  # the lines of a log of this size are kept until it has been read


class UnreadableLog(Exception):
    """A log that cannot be read. The message says why."""


def open_log(path: str) -> int:
    """Open a log for reading, and return its descriptor. A FIFO, a device or a folder is refused, without waiting for it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        raise UnreadableLog(error.strerror or "cannot be opened") from None
    except ValueError as error:  # for example a path with a null character
        raise UnreadableLog(str(error)) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnreadableLog("not a regular file")
    return descriptor


class LogFile:
    """A log that is read once, even if its lines are needed twice. `error` says why the rest of it could not be read."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.error = ""
        self._lines: list[bytes] | None = None

    def lines(self, start: int = 0) -> Iterable[bytes]:
        """Return the lines from `start` to the size that the log has now. The last one has no newline if a program is still writing it.

        Of a line that is too long only the beginning is returned, which is not valid JSON. Raises an `UnreadableLog` if nothing can be read.
        """
        if self._lines is None or start:
            descriptor = open_log(self.path)
            size = os.fstat(descriptor).st_size - start
            if start or size > _SMALL:
                return self._read(descriptor, start, size)
            self._lines = self._read_at_once(descriptor, size)
        return self._lines

    def _read_at_once(self, descriptor: int, size: int) -> list[bytes]:
        try:
            with open(descriptor, "rb", _BLOCK) as file:
                return file.readlines(size)
        except OSError:
            return list(self._read(open_log(self.path), 0, size))

    def _read(self, descriptor: int, start: int, left: int) -> Iterator[bytes]:
        with open(descriptor, "rb", _BLOCK) as file:
            try:
                file.seek(start)
                while left > 0 and (line := file.readline(LONGEST + 1)):
                    left -= len(line)
                    if len(line) <= LONGEST:
                        yield line
                    else:
                        yield line[:_MARK]
                        while line and not line.endswith(b"\n"):
                            line = file.readline(_BLOCK)
                            left -= len(line)
            except OSError as error:
                self.error = error.strerror or "cannot be read"


def read_beginning(path: str, size: int) -> bytes:
    """Return the first bytes of a file, or none if it cannot be read."""
    try:
        with open(open_log(path), "rb") as file:
            return file.read(size)
    except (OSError, UnreadableLog):
        return b""


def mark_end(path: str, size: int) -> str:
    """Return a hash of what comes before this position, which stays the same while a log grows. Empty if no line ends there."""
    try:
        with open(open_log(path), "rb") as file:
            file.seek(max(size - _MARK, 0))
            tail = file.read(min(size, _MARK))
    except (OSError, UnreadableLog):
        return ""
    return blake2b(tail, digest_size=8).hexdigest() if tail.endswith(b"\n") else ""
