"""Which paths are on disks of this machine. Looking at a file on a network file system may take any time, or never return."""

from __future__ import annotations

import re

from .paths import is_inside
from .places import real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_TABLE = "/proc/self/mountinfo"
# The kinds of file systems that neither use a network nor are implemented by a program.
_LOCAL = frozenset("bcachefs btrfs ext2 ext3 ext4 f2fs overlay ramfs rootfs squashfs tmpfs xfs zfs".split())
_ESCAPE = re.compile(r"\\([0-7]{3})")


def are_local(paths: Iterable[str], table: str = _TABLE) -> bool:
    """Whether all these absolute paths, with links resolved, are on local disks. False if the system does not say so."""
    try:
        with open(table, encoding="utf-8", errors="surrogateescape") as file:
            remote = [point for point, kind in map(_parse, file) if kind not in _LOCAL]
    except (OSError, ValueError, IndexError):
        return False
    return not any(is_inside(each, point) for path in paths for each in (path, real_path(path)) for point in remote)


def _parse(line: str) -> tuple[str, str]:
    """Return where a file system is mounted, and its kind."""
    before, _, after = line.partition(" - ")
    point = _ESCAPE.sub(lambda match: chr(int(match[1], 8)), before.split()[4])
    return point, after.split()[0]
