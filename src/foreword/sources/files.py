"""The one reader: every byte that Foreword reads from a disk comes through here.

A user's file can be anything: a directory, a pipe without a writer, an endless device, a gigabyte, another encoding, a link to
itself. The reader opens files without blocking, trusts the open file rather than its name, reads no more than its limit, and returns
a `Reading` that says what happened. It never raises because of what is on the disk.
"""

from __future__ import annotations

import os
import stat

from .folders import ABSENT, OPEN_FLAGS, Folders, explain
from .readings import Reading, decode, decode_head, end_of_front_matter, is_text, kind_of, refused, unreadable
from .stamps import UNSTABLE, above, real_path, stamp_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .contents import Contents
    from .stamps import ReadGuard, Stamp

LIMIT = 1 << 20
HEAD = 1 << 14
GONE = "it disappeared before it could be read"
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_TRIES = 4


class Reader(Folders):
    """Reads files and directories, and remembers which paths it examined.

    Readers with the same `contents` read each file and list each directory once.
    """

    def __init__(self, limit: int = LIMIT, disk: Any = os, contents: Contents | None = None) -> None:
        super().__init__(disk, contents)
        self.limit = limit
        self.readings: dict[str, tuple[Stamp, Reading]] = {}
        self._earlier: Mapping[str, tuple[Stamp, Reading]] = {}

    def successor(self, readings: Mapping[str, tuple[Stamp, Reading]], stamps: Mapping[str, Stamp]) -> Reader:
        """A reader with the same limit that starts with these stamps and rereads only what has changed since these readings."""
        reader = Reader(self.limit, self.disk, self.contents)
        reader._earlier = readings
        reader.stamps.update(stamps)
        # A missing directory is looked up again, because its absence must be stamped.
        reader._folders.update({path: True for path, exists in self._folders.items() if exists})
        reader._identities.update(self._identities)
        return reader

    def read(self, path: str, guard: ReadGuard | None = None) -> Reading:
        """The text of a file, or why it has none. `guard` is consulted before the file is opened and again once it is open."""
        return self._refuse(path, guard) or self._recall(path) or self._record(path, self._read(path, guard))

    def read_head(self, path: str, guard: ReadGuard | None = None) -> Reading:
        """Like `read`, but only up to the end of the front matter if that is within the first bytes."""
        return self._refuse(path, guard) or self._recall(path) or self._record(path, self._read_head(path, guard))

    def read_whole(self, path: str, guard: ReadGuard | None = None) -> Reading:
        """Like `read`, but keeps the blank lines around the text; only a file without any character is blank."""
        return self._refuse(path, guard) or self._read(path, guard, trim=False)

    def decode(self, name: str, data: bytes) -> Reading:
        """Like `read_whole`, for bytes from another source."""
        return decode(name, data, len(data), (0, 0), self.limit, trim=False)

    def has_entry(self, path: str) -> bool:
        """Whether a path exists; see `Folders.has_entry`. One that was absent before is looked up only if its directory changed."""
        was_absent = path in self._earlier and self._earlier[path][1].fate == "absent"
        if was_absent and (known := self._recall(path)) and known.fate == "absent":
            return False
        if super().has_entry(path):
            return True
        self._record(path, Reading(path, "absent"))
        return False

    def _refuse(self, path: str, guard: ReadGuard | None) -> Reading | None:
        """The reading of a file that is not even opened; its stamp shows when it becomes another file."""
        refusal = guard.refusal(self, path) if guard else None
        if refusal is None:
            return None
        self.stamp(path)
        return refused(path, refusal)

    def _recall(self, path: str) -> Reading | None:
        """The earlier reading, if the file (or, for a missing file, its directory) still has the same stamp.

        Text that this reader has read itself is not read again.
        """
        if path in self.readings and self.readings[path][1].has_text:
            return self.readings[path][1]
        if path not in self._earlier:
            return None
        stamp, reading = self._earlier[path]
        if reading.fate == "absent":
            now = self.stamp(above(path))
        else:
            try:
                now = stamp_of(self.disk.stat(path))
            except (OSError, ValueError):
                return None
        if now != stamp:
            return None
        if reading.fate != "absent":
            self.stamps[path] = now
        self.readings[path] = (stamp, reading)
        return reading

    def _record(self, path: str, reading: Reading) -> Reading:
        if reading.fate in ("refused", "untrusted"):
            return reading  # another guard may allow it
        stamped = above(path) if reading.fate == "absent" else path
        stamp = self.stamps.get(stamped)
        if stamp is not None and stamp != UNSTABLE:
            self.readings[path] = (stamp, reading)
        return reading

    def _read(self, path: str, guard: ReadGuard | None = None, trim: bool = True) -> Reading:
        content = self._bytes(path, self.limit, guard)
        if isinstance(content, Reading):
            return content
        data, status = content
        return decode(path, data, status.st_size, (status.st_dev, status.st_ino), self.limit, trim)

    def _read_head(self, path: str, guard: ReadGuard | None) -> Reading:
        content = self._bytes(path, HEAD, guard)
        if isinstance(content, Reading):
            return content
        data, status = content
        end = end_of_front_matter(data)
        if end is None and len(data) > HEAD:
            return self._read(path, guard)
        # Check the bytes of the body first: if the file is not text, its front matter must not be used.
        identity = (status.st_dev, status.st_ino)
        if end is None or not is_text(data):
            head = decode_head(path, data, identity, HEAD)
            if end is None or not head.has_text:
                return head
        return decode_head(path, data[:end], identity, self.limit)

    def _bytes(self, path: str, limit: int, guard: ReadGuard | None = None) -> tuple[bytes, os.stat_result] | Reading:
        """At most one byte more than the limit, and the status of the open file."""
        known = self.contents.file(path, limit) if self.contents and guard else None
        if known and guard:
            data, status, real = known
            self.stamps[path] = stamp_of(status)
            refusal = guard.refusal(self, path, real)
            return refused(path, refusal) if refusal else (data, status)
        descriptor = self._open(path, guard)
        if isinstance(descriptor, Reading):
            return descriptor
        try:
            status = self.disk.fstat(descriptor)
            self.stamps[path] = stamp_of(status)
            if not stat.S_ISREG(status.st_mode):
                return unreadable(path, f"it is {kind_of(status.st_mode)}, not a file")
            if guard is not None and (refusal := self.refusal_of_open(descriptor, path, guard)):
                return refused(path, refusal)
            data = self._read_all(descriptor, limit + 1, status.st_size)
            if self.contents and guard:
                self.contents.keep_file(path, data, limit, status, self._real_path_of_open(descriptor, path))
            return data, status
        except OSError as error:
            self.distrust(path)
            return unreadable(path, explain(error))
        finally:
            self.disk.close(descriptor)

    def _open(self, path: str, guard: ReadGuard | None) -> int | Reading:
        """The descriptor of the open file, or why it cannot be opened. Tries again if the file appears meanwhile.

        The target of a link is checked before it is opened, because opening a device can have effects.
        """
        if not self.is_folder(above(path)):
            problem = self.problem(above(path))
            return unreadable(path, problem) if problem else Reading(path, "absent")
        flags = OPEN_FLAGS if guard is None else OPEN_FLAGS | _NO_LINK
        for _ in range(_TRIES):
            try:
                if guard is not None and not flags & _NO_LINK and (refusal := self._refuse_link(path, guard)):
                    return refusal
                descriptor: int = self.disk.open(path, flags)
                return descriptor
            except (OSError, ValueError) as error:
                is_absent = getattr(error, "errno", None) in ABSENT
                if is_absent and not self.has_entry(path):
                    return Reading(path, "absent")
                if flags & _NO_LINK and self.is_link(path):
                    flags &= ~_NO_LINK
                    continue
                if not is_absent:
                    self.stamp(path)
                    self.distrust_passing(path, error)
                    return unreadable(path, explain(error))
                if self.is_link(path):
                    self.stamp(path)
                    return unreadable(path, "it is a link to nothing")
        self.distrust(path)
        return unreadable(path, GONE)

    def _refuse_link(self, path: str, guard: ReadGuard) -> Reading | None:
        refusal = guard.refusal(self, path, real_path(path))
        if refusal:
            self.stamp(path)
        return refused(path, refusal) if refusal else None

    def _read_all(self, descriptor: int, limit: int, size: int) -> bytes:
        """The bytes of a file up to a limit. Some files with content report a size of 0."""
        data: bytes = self.disk.read(descriptor, min(limit, size + 1) if size else limit)
        if len(data) == size > 0:
            return data
        parts = [data]
        missing = limit - len(data)
        while data and missing > 0:
            data = self.disk.read(descriptor, missing)
            parts.append(data)
            missing -= len(data)
        return b"".join(parts)
