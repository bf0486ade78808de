"""The disk with some files edited and some missing, although nothing is written: a prompt can be built as if they were."""

from __future__ import annotations

import os
from errno import ENOENT

from .without_files import DiskWithout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class EditedDisk(DiskWithout):
    """The functions of the operating system that a reader calls, for a disk with these files edited.

    `edits` has a file's new content, or None if it is missing, by its real path. `links` are other paths of missing files.
    """

    def __init__(self, edits: Mapping[str, bytes | None], links: Mapping[str, str]) -> None:
        missing = {path for path, content in edits.items() if content is None}
        super().__init__([*missing, *(path for path, real in links.items() if real in missing)])
        self._edits = edits
        self._unread: dict[int, bytes] = {}

    def open(self, path: str, flags: int) -> int:
        real = os.path.realpath(path)
        if self._edits.get(real, b"") is None:
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT), path)
        descriptor = super().open(path, flags)
        content = self._edits.get(real)
        if content is not None:
            self._unread[descriptor] = content
        return descriptor

    def read(self, descriptor: int, count: int) -> bytes:
        if descriptor not in self._unread:
            return os.read(descriptor, count)
        content = self._unread[descriptor]
        self._unread[descriptor] = content[count:]
        return content[:count]

    def close(self, descriptor: int) -> None:
        self._unread.pop(descriptor, None)
        super().close(descriptor)


class TrustInOriginals:
    """A trust check that judges a file by its content on the disk, not by the edited one."""

    def __init__(self, trust: object, originals: Mapping[str, bytes]) -> None:
        self._trust, self._originals = trust, originals

    def __getattr__(self, name: str) -> object:
        return getattr(self._trust, name)

    def refusal(self, path: str, data: bytes, real: str = "") -> object:
        original = self._originals.get(real or os.path.realpath(path), data)
        return self._trust.refusal(path, original, real)  # type: ignore[attr-defined]
