"""The one careful reader: every byte that Foreword takes from a disk comes through here.

A user's file can be anything: a directory, a pipe that nobody writes to, a device without end, a gigabyte, another encoding, a
link to itself. The reader opens without blocking, believes the open file and not its name, reads no more than its limit, and
answers with a `Reading` that says what became of the file. It never raises for what is on the disk.

It also keeps the stamps: what `stat` said of everything it looked at, from which `is_unchanged` tells in one loop whether
reading again would give the same. A missing file is stamped by the nearest directory that is there; what could not be read for a
reason that may pass is not trusted to its stamp.
"""

from __future__ import annotations

import os
import stat
import time
from errno import EACCES, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, ENXIO, EPERM

from ..text.lines import printable, without_blank_lines
from ..vocabulary import Document, digest, value
from .places import is_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Protocol

    from ..vocabulary import Fate

    Stamp = tuple[int, int, int, int, int] | None
    # The fate of what may not be read, why, and the code of the finding.
    Refusal = tuple[Fate, str, str]

    class Check(Protocol):
        """Says why a path may not be read: by its name before it is opened, then by what was opened."""

        def refusal(
            self, reader: Reader, path: str, real: str | None = None, is_folder: bool = False
        ) -> Refusal | None: ...

    class Disk(Protocol):
        """What the reader asks of an operating system; the module `os` is one."""

        open: Any
        read: Any
        close: Any
        fstat: Any
        stat: Any
        lstat: Any
        scandir: Any


LIMIT = 1 << 20
HEAD = 1 << 14
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER_FLAGS = _FLAGS | getattr(os, "O_DIRECTORY", 0)
# A file system's clock ticks coarsely: what changed this shortly before the look may change again without a new time.
_TICK = 50_000_000
_COARSE_TICK = 2_100_000_000
UNTRUSTED = (0, 0, 0, 0, -1)
# Errors that tell of nothing but absence, and those that last until something changes that a stamp tells of.
_ABSENT = frozenset((ENOENT, ENOTDIR))
_LASTING = _ABSENT | {EACCES, EPERM, ELOOP, ENAMETOOLONG, ENXIO}
_TRIES = 4
_NOWHERE = "/\0"  # a path that nothing has, and nothing is inside of
_DELETED = " (deleted)"
GONE = "it was gone before it could be read"
CHANGED = "it was changed into something else while it was opened"


@value
class Reading:
    """What became of an attempt to read a file. `text` has no BOM, LF line ends, and no blank lines around it."""

    path: str
    fate: Fate
    text: str = ""
    line: int = 1
    hash: str = ""
    size: int = 0
    identity: tuple[int, int] = (0, 0)
    code: str = ""
    reason: str = ""

    @property
    def has_text(self) -> bool:
        return self.fate in ("used", "cut")

    @property
    def document(self) -> Document:
        cut_from = self.size if self.fate == "cut" else 0
        return Document(printable(self.path), self.text, self.hash, self.line, cut_from)


class Reader:
    """Reads files and directories, and remembers what it looked at."""

    def __init__(self, limit: int = LIMIT, disk: Any = os) -> None:
        self.limit = limit
        self.disk: Disk = disk
        self.stamps: dict[str, Stamp] = {}
        self.readings: dict[str, tuple[Stamp, Reading]] = {}
        self._before: Mapping[str, tuple[Stamp, Reading]] = {}
        self._folders: dict[str, bool] = {}
        self._identities: dict[str, tuple[int, int]] = {}
        self._troubles: dict[str, str] = {}
        self._links: dict[str, bool] = {}
        self._real: dict[str, str] = {}

    def successor(self, readings: Mapping[str, tuple[Stamp, Reading]], stamps: Mapping[str, Stamp]) -> Reader:
        """A reader with the same limits that begins with these stamps, and need not read again what still has its own."""
        reader = Reader(self.limit, self.disk)
        reader._before = readings
        reader.stamps.update(stamps)
        return reader

    def read(self, path: str, check: Check | None = None) -> Reading:
        """The text of a file, or why there is none. `check` says whether it may be read, and is asked of what was opened."""
        return self._refused(path, check) or self._known(path) or self._kept(path, self._read(path, check))

    def read_head(self, path: str, check: Check | None = None) -> Reading:
        """As `read`, but no further than the front matter, where that is closed within the first bytes."""
        return self._refused(path, check) or self._known(path) or self._kept(path, self._read_head(path, check))

    def read_whole(self, path: str, check: Check | None = None) -> Reading:
        """As `read`, but with the blank lines around the text: only a file without any character is blank."""
        return self._refused(path, check) or self._read(path, check, trim=False)

    def _refused(self, path: str, check: Check | None) -> Reading | None:
        """Why a file is not even opened. Its stamp tells when it becomes another one."""
        refusal = check.refusal(self, path) if check else None
        if refusal is None:
            return None
        self.stamp(path)
        return _refused(path, refusal)

    def taken(self, name: str, data: bytes) -> Reading:
        """As `read_whole`, of bytes that came from somewhere else."""
        return _decoded(name, data, len(data), (0, 0), self.limit, trim=False)

    def _known(self, path: str) -> Reading | None:
        """What was read before, if the file still looks the same; for a missing file, if its directory does.

        A text that was read a moment ago, in the same pass under the same name, is what the file says.
        """
        if path in self.readings and self.readings[path][1].has_text:
            return self.readings[path][1]
        if path not in self._before:
            return None
        stamp, reading = self._before[path]
        if reading.fate == "absent":
            now = self.stamp(above(path))
        else:
            try:
                now = _trusted(self.disk.stat(path))
            except (OSError, ValueError):
                return None
        if now != stamp:
            return None
        if reading.fate != "absent":
            self.stamps[path] = now
        self.readings[path] = (stamp, reading)
        return reading

    def _kept(self, path: str, reading: Reading) -> Reading:
        if reading.fate in ("refused", "untrusted"):
            return reading  # under another check it may be read
        looked_at = above(path) if reading.fate == "absent" else path
        stamp = self.stamps.get(looked_at)
        if stamp is not None and stamp != UNTRUSTED:
            self.readings[path] = (stamp, reading)
        return reading

    def _read(self, path: str, check: Check | None = None, trim: bool = True) -> Reading:
        opened = self._bytes(path, self.limit, check)
        if isinstance(opened, Reading):
            return opened
        data, status = opened
        return _decoded(path, data, status.st_size, (status.st_dev, status.st_ino), self.limit, trim=trim)

    def _read_head(self, path: str, check: Check | None) -> Reading:
        opened = self._bytes(path, HEAD, check)
        if isinstance(opened, Reading):
            return opened
        data, status = opened
        end = _end_of_front_matter(data)
        if end is None and len(data) > HEAD:
            return self._read(path, check)
        # What was read of the body says whether the file is text: one that is none is found out before it is used.
        identity = (status.st_dev, status.st_ino)
        if end is None or not _is_text(data):
            whole = _decoded(path, data, len(data), identity, HEAD, is_head=True)
            if end is None or not whole.has_text:
                return whole
        return _decoded(path, data[:end], end, identity, self.limit, is_head=True)

    def is_folder(self, path: str) -> bool:
        """Whether a directory is there. Asked once; its absence is stamped by the directory above."""
        known = self._folders.get(path)
        if known is None:
            way = [path]  # a path may have more segments than calls can be nested
            while way[-1] != "/" and above(way[-1]) not in self._folders:
                way.append(above(way[-1]))
            for each in reversed(way):
                known = self._folders[each] = self._look_for_folder(each)
        return bool(known)

    def entries(self, path: str, check: Check | None = None) -> tuple[list[str], Refusal | None]:
        """The names in a directory by code point, and why they could not be had."""
        if not self.is_folder(path):
            trouble = self.trouble(path)
            return [], ("unreadable", trouble, "file-unreadable") if trouble else None
        self.stamp(path)
        refusal = check.refusal(self, path, is_folder=True) if check else None
        if refusal:
            return [], refusal
        try:
            if check is None or os.scandir not in os.supports_fd:
                with self.disk.scandir(path) as listing:
                    return sorted(entry.name for entry in listing), None
            return self._checked_entries(path, check)
        except OSError as error:
            self._doubt(path, error)
            return [], ("unreadable", _why(error), "file-unreadable")

    def _checked_entries(self, path: str, check: Check) -> tuple[list[str], Refusal | None]:
        """The names in the directory that was opened, if that is one that may be read, whatever has its name by now."""
        descriptor = self.disk.open(path, _FOLDER_FLAGS)
        try:
            real = self._real_path(descriptor, path)
            refusal = self._refusal_of_opened(path, real, check, is_folder=True)
            if refusal:
                return [], refusal
            with self.disk.scandir(descriptor) as listing:
                return sorted(entry.name for entry in listing), None
        finally:
            self.disk.close(descriptor)

    def _refusal_of_opened(self, path: str, real: str, check: Check, is_folder: bool = False) -> Refusal | None:
        if not real:
            self.distrust(path)
            return "unreadable", CHANGED, "file-unreadable"
        refusal = check.refusal(self, path, real, is_folder)
        if refusal:
            self.distrust(path)
        return refusal

    def _real_path(self, descriptor: int, path: str) -> str:
        """Where the file that is open really is; empty if that cannot be told because its name means another one by now."""
        real = path_of_open_file(descriptor)
        if real and not real.endswith(_DELETED):
            return real
        try:
            status = self.disk.fstat(descriptor)
            if real:
                return real if status.st_nlink else real.removesuffix(_DELETED)
            real = real_path(path)
            now = self.disk.lstat(real)
        except (OSError, ValueError):
            return ""
        return real if (now.st_dev, now.st_ino) == (status.st_dev, status.st_ino) else ""

    def real(self, folder: str) -> str:
        """Where a folder really is. It is asked once, so that what is swapped later does not move it."""
        if folder not in self._real:
            try:
                self._real[folder] = real_path(folder)
            except ValueError:
                self._real[folder] = _NOWHERE
        return self._real[folder]

    def trouble(self, path: str) -> str:
        """Why a directory, or one above it, could not even be looked at; nothing where it is only not there."""
        while self._troubles and path not in self._troubles and path != above(path):
            path = above(path)
        return self._troubles.get(path, "")

    def identity(self, path: str) -> tuple[int, int] | None:
        """Which directory or file this really is, whatever its name; None if it is not there."""
        known = self._identities.get(path)
        if known is None:
            try:
                status = self.disk.stat(path)
            except (OSError, ValueError):
                return None
            known = status.st_dev, status.st_ino
        return known

    def has_entry(self, path: str) -> bool:
        """Whether the directory has an entry of this name, be it a link to nothing or something that cannot be looked at.

        A missing one is stamped by its directory.
        """
        was_absent = path in self._before and self._before[path][1].fate == "absent"
        if was_absent and (known := self._known(path)) and known.fate == "absent":
            return False
        if self._is_there(path):
            return True
        folder = above(path)
        if folder not in self.stamps and self.is_folder(folder):
            self.stamp(folder)
            # It may have come after the first look and before the stamp.
            if self._is_there(path):
                return True
        self._kept(path, Reading(path, "absent"))
        return False

    def _is_there(self, path: str) -> bool:
        try:
            self.disk.lstat(path)
        except OSError as error:
            return error.errno not in _ABSENT
        except ValueError:
            return False
        return True

    def has_git(self, folder: str) -> bool:
        """Whether a directory is the root of a repository: it holds a folder `.git`, or the file of a worktree or submodule."""
        self.stamp(folder)
        path = os.path.join(folder, ".git")
        try:
            mode = self.disk.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                self.stamp(path)
                mode = self.disk.stat(path).st_mode
        except (OSError, ValueError):
            return False
        return stat.S_ISDIR(mode) or stat.S_ISREG(mode)

    def leads_out(self, path: str, root: str) -> bool:
        """Whether a path that is written inside a directory really lies outside of it, by a link on the way."""
        if not is_inside(path, root) or not self.has_link(path, root):
            return False
        real, real_root = real_path(path), real_path(root)
        self.stamp_way(above(real), real_root)
        return not is_inside(real, real_root)

    def is_linked(self, path: str, top: str) -> bool:
        """Whether a path below a directory is a link, or leads through one."""
        while path != top and is_inside(path, top):
            if self.is_link(path):
                return True
            path = above(path)
        return False

    def has_link(self, path: str, root: str) -> bool:
        """As `is_linked`; asked once of each path, and of those on the way."""
        way = []
        while path != root and path not in self._links:
            if path == above(path):
                return False  # it never was below the root as that is written
            way.append(path)
            path = above(path)
        known = path != root and self._links[path]
        for each in reversed(way):
            known = self._links[each] = known or self.is_link(each)
        return known

    def is_link(self, path: str) -> bool:
        """Whether a path is itself a link."""
        try:
            return stat.S_ISLNK(self.disk.lstat(path).st_mode)
        except (OSError, ValueError):
            return False

    def stamp(self, path: str) -> Stamp:
        """Remember what a path looks like now; what changed a moment ago is not trusted to tell of its next change.

        What is not there is remembered by the directory it would be in. A link that leads nowhere is not trusted: it may lead
        somewhere else when another link does, of which nothing is known here.
        """
        missing = path
        while missing not in self.stamps:
            try:
                self.stamps[missing] = _trusted(self.disk.stat(missing))
            except (OSError, ValueError):
                self.stamps[missing] = UNTRUSTED if self.is_link(missing) else None
                missing = above(missing)
        return self.stamps[path]

    def stamp_way(self, path: str, top: str) -> None:
        """Stamp a path and the directories on its way from the top: which of them are links decides where it leads."""
        while is_inside(path, top) and path != top:
            self.stamp(path)
            path = above(path)

    def distrust(self, path: str) -> None:
        """Let a path count as changed at the next look, whatever its stamp: something unseen depends on it."""
        self.stamps[path] = UNTRUSTED

    def _look_for_folder(self, path: str) -> bool:
        if path != "/" and not self._folders[above(path)]:
            return False
        try:
            status = self.disk.stat(path)
        except (OSError, ValueError) as error:
            self._note_missing(path, error)
            return False
        if stat.S_ISDIR(status.st_mode):
            self._identities[path] = status.st_dev, status.st_ino
            return True
        self.stamps[path] = _trusted(status)
        return False

    def _note_missing(self, path: str, error: OSError | ValueError) -> None:
        """A directory that is not there: the one above tells when it comes, unless it is a link whose target is missing."""
        number = getattr(error, "errno", ENOENT)
        if number not in _ABSENT | {ELOOP}:
            self._troubles[path] = _why(error)
        if self.has_entry(path):
            self.stamp(path)
            self._doubt(path, error)

    def _doubt(self, path: str, error: OSError | ValueError) -> None:
        """A failing disk, or too many open files, may be over at the next look, and no stamp would tell."""
        if getattr(error, "errno", ENOENT) not in _LASTING:
            self.distrust(path)

    def _bytes(self, path: str, limit: int, check: Check | None = None) -> tuple[bytes, os.stat_result] | Reading:
        """At most one byte more than the limit, and what the open file says of itself."""
        descriptor = self._open(path, check)
        if isinstance(descriptor, Reading):
            return descriptor
        try:
            status = self.disk.fstat(descriptor)
            self.stamps[path] = _trusted(status)
            if not stat.S_ISREG(status.st_mode):
                return _unreadable(path, f"it is {_kind(status.st_mode)}, not a file")
            if check is not None:
                refusal = self._refusal_of_opened(path, self._real_path(descriptor, path), check)
                if refusal:
                    return _refused(path, refusal)
            return self._all(descriptor, limit + 1, status.st_size), status
        except OSError as error:
            self.distrust(path)
            return _unreadable(path, _why(error))
        finally:
            self.disk.close(descriptor)

    def _open(self, path: str, check: Check | None) -> int | Reading:
        """The open file, or why there is none. One that comes while it is looked for is looked for again.

        What a link leads to is checked before it is opened: opening a device can do something.
        """
        if not self.is_folder(above(path)):
            trouble = self.trouble(above(path))
            return _unreadable(path, trouble) if trouble else Reading(path, "absent")
        flags = _FLAGS if check is None else _FLAGS | _NO_LINK
        for _ in range(_TRIES):
            try:
                if check is not None and not flags & _NO_LINK and (refused := self._refused_link(path, check)):
                    return refused
                descriptor: int = self.disk.open(path, flags)
                return descriptor
            except (OSError, ValueError) as error:
                if flags & _NO_LINK and self.is_link(path):
                    flags &= ~_NO_LINK
                    continue
                if getattr(error, "errno", None) not in _ABSENT:
                    self.stamp(path)
                    self._doubt(path, error)
                    return _unreadable(path, _why(error))
            if not self.has_entry(path):
                return Reading(path, "absent")
            if self.is_link(path):
                self.stamp(path)
                return _unreadable(path, "it is a link to nothing")
        self.distrust(path)
        return _unreadable(path, GONE)

    def _refused_link(self, path: str, check: Check) -> Reading | None:
        refusal = check.refusal(self, path, real_path(path))
        if refusal:
            self.stamp(path)
        return _refused(path, refusal) if refusal else None

    def _all(self, descriptor: int, limit: int, size: int) -> bytes:
        """The bytes of a file up to a limit. Some files say that their size is 0, and have content."""
        data: bytes = self.disk.read(descriptor, limit)
        if len(data) == size > 0:
            return data
        parts = [data]
        missing = limit - len(data)
        while data and missing > 0:
            data = self.disk.read(descriptor, missing)
            parts.append(data)
            missing -= len(data)
        return b"".join(parts)


def above(path: str) -> str:
    """The directory above an absolute path, quicker than `os.path.dirname`."""
    return path[: path.rfind("/")] or "/" if os.sep == "/" else os.path.dirname(path)


def real_path(path: str) -> str:
    """Where a path really leads. A link that is removed meanwhile is looked for again; in the end it leads nowhere."""
    for _ in range(_TRIES):
        try:
            return os.path.realpath(path)
        except OSError:
            continue
    return _NOWHERE


def path_of_open_file(descriptor: int) -> str:
    """Where an open file really is, as the system says; empty where it does not."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return ""


def is_unchanged(stamps: Sequence[tuple[str, Stamp]], disk: Any = os) -> bool:
    """Whether everything that was looked at still looks the same: one `stat` each, nothing is read."""
    look = disk.stat
    for path, stamp in stamps:
        try:
            s = look(path)
        except (OSError, ValueError):
            if stamp is not None:
                return False
        else:
            if stamp != (s.st_mtime_ns, s.st_ctime_ns, s.st_size, s.st_ino, s.st_dev):
                return False
    return True


def _trusted(status: os.stat_result) -> Stamp:
    changed = max(status.st_mtime_ns, status.st_ctime_ns)
    tick = _TICK if changed % 1_000_000_000 else _COARSE_TICK
    if changed > time.time_ns() - tick:
        return UNTRUSTED
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev


def _is_text(data: bytes) -> bool:
    """A quick look, which may say no where the last character is cut."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in data


def _decoded(
    path: str, data: bytes, size: int, identity: tuple[int, int], limit: int, is_head: bool = False, trim: bool = True
) -> Reading:
    is_cut = len(data) > limit
    size = max(size, len(data))
    known: Any = {"size": size, "identity": identity}
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")):
        encoding = "UTF-32" if data.startswith((b"\xff\xfe\0\0", b"\0\0")) else "UTF-16"
        reason = f"it is {encoding}, not UTF-8; save it as UTF-8"
        return Reading(path, "unreadable", code="file-not-utf8", reason=reason, **known)
    if b"\0" in data:
        return Reading(
            path, "binary", code="file-binary", reason=f"it holds a NUL byte at offset {data.index(0)}", **known
        )
    try:
        text = data[:limit].decode()
    except UnicodeDecodeError as error:
        if not (is_cut and error.start >= limit - 3 and error.reason == "unexpected end of data"):
            reason = f"byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8; save it as UTF-8"
            return Reading(path, "unreadable", code="file-not-utf8", reason=reason, **known)
        text = data[: error.start].decode()
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if not (text.strip() if trim else text):
        return Reading(path, "blank", **known)
    if is_head:
        return Reading(path, "used", text, 1, "", size, identity, "", "")
    text, line = without_blank_lines(text) if trim else (text, 1)
    if is_cut:
        reason = f"it has {size:,} bytes; what follows the first {limit:,} is left out"
        return Reading(path, "cut", text, line, digest(text), code="file-cut", reason=reason, **known)
    return Reading(path, "used", text, line, digest(text), **known)


def _end_of_front_matter(data: bytes) -> int | None:
    """Where the line after the closing `---` begins; None if there is none in these bytes."""
    position = data.find(b"\n---", 3)
    while position >= 0:
        end = data.find(b"\n", position + 4)
        if end >= 0 and not data[position + 4 : end].strip():
            return end + 1
        position = data.find(b"\n---", position + 4)
    return None


def _unreadable(path: str, reason: str) -> Reading:
    return Reading(path, "unreadable", code="file-unreadable", reason=reason)


def _refused(path: str, refusal: Refusal) -> Reading:
    fate, reason, code = refusal
    return Reading(path, fate, code=code, reason=reason)


def _why(error: OSError | ValueError) -> str:
    if getattr(error, "errno", None) == ELOOP:
        return "its links lead in a circle"
    if getattr(error, "errno", None) == ENAMETOOLONG:
        return "its name is too long"
    return (getattr(error, "strerror", None) or str(error)).lower()


def _kind(mode: int) -> str:
    kinds = (
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    return next((name for test, name in kinds if test(mode)), "something else")
