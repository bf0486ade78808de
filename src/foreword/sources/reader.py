"""The reader: everything that Foreword reads from a workspace is read here.

A path can lead to anything: a directory, a pipe without a writer, an endless device, a gigabyte of data, text in an unexpected
encoding, a link to itself. The reader opens files without blocking, checks the open file rather than its name, reads no more than
its limit, and returns a `Reading` that describes the result. Nothing on the disk makes it raise an error.
"""

from __future__ import annotations

import os
import stat

from ..vocabulary import digest
from .places import ABSENT_ERRORS, OPEN_FLAGS, REPLACED, Folders, explain, parent_folder, real_path
from .readings import (
    Reading,
    decode,
    decode_head,
    end_of_front_matter,
    is_text,
    kind_of,
    refused_reading,
    unreadable_reading,
)
from .stamps import UNSTABLE, stamp_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Set
    from typing import Any, TypeVar

    from ..vocabulary import Encoding, LineEnds
    from .places import Known, ReadGuard
    from .readings import TrustCheck
    from .stamps import Stamp

    T = TypeVar("T")


LIMIT = 1 << 20
HEAD_LIMIT = 1 << 14
FOLDER_REASON = "it is a directory, not a file"
DISAPPEARED_REASON = "it disappeared before it could be read"
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_MAX_TRIES = 4


class RememberedReadings(Folders):
    """Remembers the readings of files, with the stamps of the files, or, for missing files, with the stamps of their directories."""

    readings: dict[str, tuple[Stamp, Reading]]
    changed_paths: Set[str] | None  # if known, nothing else has changed since an earlier reader
    _earlier_readings: Mapping[str, tuple[Stamp, Reading]]

    def has_entry(self, path: str) -> bool:
        """Whether a path exists, even as a dangling link or as something that cannot be examined.

        For a missing path, its directory is stamped. A path that was absent before is looked up only if its directory changed.
        """
        earlier = self._earlier_readings.get(path)
        if earlier and earlier[1].fate == "absent" and (reading := self._recall(path)) and reading.fate == "absent":
            return False
        if self.exists(path):
            return True
        folder = parent_folder(path)
        if folder not in self.stamps and self.is_folder(folder):
            self.stamp(folder)
            if self.exists(path):  # it may have been created before the stamp was taken
                return True
        self._record(path, Reading(path, "absent"))
        if self.known:
            self.known.absent[path] = folder
        return False

    def _recall(self, path: str) -> Reading | None:
        """Return the earlier reading, if the file (or, for a missing file, its directory) still has the same stamp.

        Text that this reader has already read is not read again.
        """
        if path in self.readings and self.readings[path][1].has_text:
            self.stamps[path], reading = self.readings[path]
            return reading
        if path not in self._earlier_readings:
            return None
        stamp, reading = self._earlier_readings[path]
        stamped_path = parent_folder(path) if reading.fate == "absent" else path
        if self.changed_paths is None or stamped_path in self.changed_paths:
            if reading.fate == "absent":
                current_stamp = self.stamp(stamped_path)
            else:
                try:
                    current_stamp = stamp_of(self.disk.stat(path))
                except (OSError, ValueError):
                    return None
            if current_stamp != stamp:
                return None
        self.stamps[stamped_path] = stamp
        self.readings[path] = (stamp, reading)
        return reading

    def _record(self, path: str, reading: Reading) -> Reading:
        if reading.fate in ("refused", "untrusted") or reading.pieces:
            return reading  # another guard may allow it, or only a part of it is trusted
        stamped_path = parent_folder(path) if reading.fate == "absent" else path
        stamp = self.stamps.get(stamped_path)
        if stamp is not None and stamp != UNSTABLE:
            self.readings[path] = (stamp, reading)
        return reading


class Reader(RememberedReadings):
    """Reads files and directories, and remembers which paths it examined.

    Readers with the same `known` read each file and list each directory once.
    """

    def __init__(self, limit: int = LIMIT, disk: Any = os, known: Known | None = None) -> None:
        super().__init__(disk, known)
        self.limit = limit
        self.readings = {}
        self._earlier_readings = {}
        self.trust: TrustCheck | None = None
        self.encoding: Encoding = "utf-8"
        self.line_ends: LineEnds = "lf"
        self.changed_paths = None

    def successor(self, readings: Mapping[str, tuple[Stamp, Reading]], stamps: Mapping[str, Stamp]) -> Reader:
        """Return a reader with the same limit that starts with these stamps and reuses readings of files that have not changed."""
        reader = Reader(self.limit, self.disk, self.known)
        reader._earlier_readings = readings
        reader.trust, reader.encoding, reader.line_ends = self.trust, self.encoding, self.line_ends
        reader.changed_paths = self.changed_paths
        reader.stamps.update(stamps)
        # Missing directories are looked up again, so that this reader records a stamp for their absence.
        reader._folders.update(self._folders)
        reader._identities.update(self._identities)
        return reader

    def stamp_apart(self, find: Callable[[], T]) -> tuple[T, dict[str, Stamp]]:
        """Return what a function finds, and the stamps of everything that this depends on."""
        stamps_before, self.stamps = self.stamps, {}
        self._missing.clear()  # so that the absence of these directories is stamped too
        found = find()
        stamps, self.stamps = self.stamps, stamps_before
        self.add_stamps(stamps)
        return found, stamps

    def reuse(self, stamps: Mapping[str, Stamp]) -> bool:
        """Whether nothing has changed at the paths that an earlier reader has stamped. If so, their stamps and readings are kept."""
        if self.changed_paths is None or self.trust is not None or not self.changed_paths.isdisjoint(stamps):
            return False
        self.add_stamps(stamps)
        self.readings.update({path: known for path in stamps if (known := self._earlier_readings.get(path))})
        return True

    def read(self, path: str, guard: ReadGuard | None = None, trim: bool = True, by_line: bool = False) -> Reading:
        """Read a file: its text, or the reason it has none.

        `guard` is consulted before the file is opened, and again once it is open. Without `trim`, the text keeps the blank lines around
        it, and only an empty file is blank. With `by_line`, the text of a file of which only some lines are trusted consists of those.
        """
        known = self._refuse(path, guard) or (self._recall(path) if trim else None)
        if known:
            return known
        content = self._load(path, self.limit, guard, trusts_lines=by_line)
        if isinstance(content, Reading):
            return self._record(path, content) if trim else content
        data, status, real = content
        reading = self._decode(path, data, status, trim)
        if by_line and self.trust is not None:
            from .trusted_text import only_trusted

            reading = only_trusted(reading, data, real, self.trust, trim)
        return self._record(path, reading) if trim else reading

    def _decode(self, path: str, data: bytes, status: os.stat_result, trim: bool) -> Reading:
        """Return the reading of a file's data. Readers with the same `known` decode the same data once."""
        key = path, self.limit, trim, self.encoding, self.line_ends
        if self.known and (decoded := self.known.decoded.get(key)) and decoded[0] is data:
            return decoded[1]
        identity = status.st_dev, status.st_ino
        hash_text = self.known.digest if self.known else digest
        reading = decode(
            path, data, status.st_size, identity, self.limit, trim, self.encoding, self.line_ends, hash_text
        )
        if self.known:
            self.known.decoded[key] = data, reading
        return reading

    def read_head(self, path: str, guard: ReadGuard | None = None) -> Reading:
        """Like `read`, but stops at the end of the front matter if that is within the first HEAD_LIMIT bytes."""
        if self.trust is not None:
            return self.read(path, guard)  # the whole file is trusted, or none of it
        known = self._refuse(path, guard) or self._recall(path)
        if known:
            return known
        content = self._load(path, HEAD_LIMIT, guard)
        if isinstance(content, Reading):
            return self._record(path, content)
        data, status, _ = content
        end = end_of_front_matter(data)
        if end is None and len(data) > HEAD_LIMIT:
            return self.read(path, guard)
        # Check the body first: if the file is not text, its front matter must not be used.
        identity = (status.st_dev, status.st_ino)
        head = (
            None if end is not None and is_text(data) else decode_head(path, data, identity, HEAD_LIMIT, self.encoding)
        )
        if head is None or (end is not None and head.has_text):
            head = decode_head(path, data[:end], identity, self.limit, self.encoding)
        return self._record(path, head)

    def read_data(self, path: str, guard: ReadGuard | None = None) -> bytes | Reading:
        """Return a file's bytes, or the reading that says why it has none. A file that exceeds the limit is not read."""
        content = self._refuse(path, guard) or self._load(path, self.limit, guard)
        if isinstance(content, Reading):
            return content
        data, status, _ = content
        if len(data) > self.limit:
            return unreadable_reading(
                path, f"it has {max(status.st_size, len(data)):,} bytes; the limit is {self.limit:,}"
            )
        return data

    def decode(self, name: str, data: bytes) -> Reading:
        """Like `read` without `trim`, for bytes from another source."""
        return decode(
            name, data, len(data), (0, 0), self.limit, trim=False, encoding=self.encoding, line_ends=self.line_ends
        )

    def _refuse(self, path: str, guard: ReadGuard | None) -> Reading | None:
        """Return the reading of a file that must not be opened, or None if it may be. Its stamp shows when it is replaced by another file."""
        refusal = guard.refusal(self, path) if guard else None
        if refusal is None:
            return None
        self.stamp(path)
        return refused_reading(path, refusal)

    def _load(
        self, path: str, limit: int, guard: ReadGuard | None, trusts_lines: bool = False
    ) -> tuple[bytes, os.stat_result, str] | Reading:
        """Return a file's data (at most one byte more than the limit), its status and, for a trust check, its real path.

        Otherwise, return the reading that says why it has no data or may not be used.
        """
        content: tuple[bytes, os.stat_result, str] | Reading | int | None = self._recall_file(path, limit, guard)
        if content is None and not self.is_folder(parent_folder(path)):
            problem = self.problem(parent_folder(path))
            return unreadable_reading(path, problem) if problem else Reading(path, "absent")
        content = self._open(path, guard) if content is None else content
        if isinstance(content, int):
            content = self._read_open_file(content, path, limit, guard)
        if isinstance(content, Reading) or self.trust is None or trusts_lines:
            return content
        refusal = self.trust.refusal(path, content[0], content[2])
        return refused_reading(path, refusal) if refusal else content

    def _recall_file(
        self, path: str, limit: int, guard: ReadGuard | None
    ) -> tuple[bytes, os.stat_result, str] | Reading | None:
        """Return a file that another reader has read or found missing, or why it may not be read, or None if it is unknown."""
        content = self.known.find_file(path, limit) if self.known and guard else None
        if content and guard:
            self.stamps[path] = stamp_of(content[1])
            refusal = guard.refusal(self, path, content[2])
            return refused_reading(path, refusal) if refusal else content
        return Reading(path, "absent") if self._is_known_absent(path) else None

    def _open(self, path: str, guard: ReadGuard | None) -> int | Reading:
        """Open a file. Returns its descriptor, or why it cannot be opened. Retries if the file appears in the meantime.

        A link's target is checked before it is opened, because opening a device can have side effects.
        """
        flags = OPEN_FLAGS if guard is None else OPEN_FLAGS | _NOFOLLOW
        for _ in range(_MAX_TRIES):
            try:
                if guard is not None and not flags & _NOFOLLOW and (refusal := self._refuse_link(path, guard)):
                    return refusal
                descriptor: int = self.disk.open(path, flags)
                return descriptor
            except (OSError, ValueError) as error:
                is_absent = getattr(error, "errno", None) in ABSENT_ERRORS
                if is_absent and not self.has_entry(path):
                    return Reading(path, "absent")
                if flags & _NOFOLLOW and self.is_link(path):
                    flags &= ~_NOFOLLOW
                    continue
                if not is_absent:
                    self.stamp_after(path, error)
                    return unreadable_reading(path, explain(error))
                if self.is_link(path):
                    self.stamp(path)
                    return unreadable_reading(path, "it is a broken link")
        self.mark_unstable(path)
        return unreadable_reading(path, DISAPPEARED_REASON)

    def _refuse_link(self, path: str, guard: ReadGuard) -> Reading | None:
        refusal = guard.refusal(self, path, real_path(path))
        if refusal:
            self.stamp(path)
        return refused_reading(path, refusal) if refusal else None

    def _read_open_file(
        self, descriptor: int, path: str, limit: int, guard: ReadGuard | None
    ) -> tuple[bytes, os.stat_result, str] | Reading:
        try:
            status = self.disk.fstat(descriptor)
            self.stamps[path] = stamp_of(status)
            if not stat.S_ISREG(status.st_mode):
                return unreadable_reading(path, f"it is {kind_of(status.st_mode)}, not a file")
            real = self.real_path_of(descriptor, path) if guard is not None or self.trust is not None else ""
            if guard is not None and (refusal := guard.refusal(self, path, real) if real else REPLACED):
                self.mark_unstable(path)
                return refused_reading(path, refusal)
            data = self._read_all(descriptor, limit + 1, status.st_size)
            if self.known and guard is not None:
                self.known.add_file(path, data, limit, status, real)
            return data, status, real
        except OSError as error:
            self.mark_unstable(path)
            return unreadable_reading(path, explain(error))
        finally:
            self.disk.close(descriptor)

    def _read_all(self, descriptor: int, limit: int, size: int) -> bytes:
        """Read a file up to a limit. Some files that are not empty report a size of 0."""
        data: bytes = self.disk.read(descriptor, min(limit, size + 1) if size else limit)
        if len(data) == size > 0:
            return data
        parts = [data]
        remaining = limit - len(data)
        while data and remaining > 0:
            data = self.disk.read(descriptor, remaining)
            parts.append(data)
            remaining -= len(data)
        return b"".join(parts)
