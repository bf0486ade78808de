"""Which files a scope allows reading. Links are resolved: all paths that are asked about are real."""

from __future__ import annotations

import os

from ..vocabulary import value
from .paths import is_inside
from .places import real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ..vocabulary import Access, Scope


@value
class _Rows:
    """Rows of a scope: their own paths, the beginnings of all paths below the recursive ones, and the folders of the others."""

    paths: Collection[str]
    beginnings: tuple[str, ...]
    folders: Collection[str]

    def cover(self, path: str) -> bool:
        """Whether a row covers a path: the row's own path, the files in it and, if it is recursive, everything below."""
        return path in self.paths or path.startswith(self.beginnings) or os.path.dirname(path) in self.folders


class ReadableFolders:
    """The folders that a scope allows or denies reading, which are resolved once, when they are first needed."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._allowed: _Rows | None = None
        self._denied: _Rows | None = None

    def allows(self, path: str) -> bool:
        """Whether the scope allows reading a path. A denial takes precedence."""
        return self.grants(path) and not self.denies(path)

    def grants(self, path: str) -> bool:
        """Whether a row of the scope allows reading a path. Another row may deny it."""
        if self._allowed is None:
            self._allowed = _resolve(self._scope.allow)
        return self._allowed.cover(path)

    def denies(self, path: str) -> bool:
        """Whether the scope denies reading a path."""
        if self._denied is None:
            self._denied = _resolve([row for row in self._scope.deny if row.permission != "write"])
        return self._denied.cover(path)


def _resolve(rows: Sequence[Access]) -> _Rows:
    paths = [real_path(row.path) for row in rows]
    below = [path for row, path in zip(rows, paths, strict=True) if row.recursive]
    folders = [path for row, path in zip(rows, paths, strict=True) if not row.recursive]
    return _Rows(paths, tuple(path.rstrip("/") + "/" for path in below), folders)


def is_in_any(folders: Sequence[str], path: str) -> bool:
    """Whether a path is in one of these folders."""
    for folder in folders:  # noqa: SIM110  a generator would be one more call
        if is_inside(path, folder):
            return True
    return False
