"""Reads the disk for lint's checks: whether a file exists, and what makefiles and packages contain."""

from __future__ import annotations

import os

from ..sources.links import workspace_reach
from ..sources.paths import is_inside
from ..sources.reader import Reader
from ..sources.tree import Listings, walk_folders
from ..text.lines import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..vocabulary import Workspace

_MAX_FILES = 500_000
_MAX_PROJECT_FILES = 1_000


class LintDisk:
    """Reads the disk for the checks, only inside the workspace. Each path is looked up once."""

    def __init__(self, workspace: Workspace, listings: Listings) -> None:
        self._known: dict[str, bool] = {}
        self.listings = listings
        self.reader = Reader()
        self._files_by_root: dict[str, Mapping[str, Sequence[str]] | None] = {}
        self._linked_folders: dict[str, str] = {}
        self.enter(workspace)

    def enter(self, workspace: Workspace) -> None:
        """Switch to this workspace."""
        self.workspace, self.root = workspace, workspace.root or workspace.cwd

    def files_above(self, path: str, names: Sequence[str], folder: str) -> Iterator[tuple[str, str | None]]:
        """Yield, for each folder from that of `path` up to the root, the path and text of the first file with one of these names.

        If `folder` is set, look in that subfolder of each, and stop at the first match. The text is None if it cannot be read in full.
        """
        current = os.path.dirname(path)
        if not is_inside(path, self.root) or not self._exists(current):
            return
        while is_inside(current, self.root):
            searched = os.path.normpath(os.path.join(current, folder))
            files = [os.path.join(searched, name) for name in names] if is_inside(searched, self.root) else []
            file = next(filter(self._exists, files), "")
            if file:
                reading = self.reader.read(file, workspace_reach(self.root, self.workspace))
                yield printable(file), reading.text if reading.fate in ("used", "blank") else None
                if folder:
                    return
            if current == os.path.dirname(current):
                return
            current = os.path.dirname(current)

    def files_anywhere(self, names: Sequence[str]) -> list[tuple[str, str | None]] | None:
        """Return the path and text of each file in the workspace with one of these names, or None if there are too many.

        The text is None if it cannot be read in full.
        """
        files = self._files()
        paths = [path for name in names for path in files.get(name, ())] if files is not None else []
        if files is None or len(paths) > _MAX_PROJECT_FILES:
            return None
        reach = workspace_reach(self.root, self.workspace)
        readings = [self.reader.read(path, reach) for path in paths]
        return [
            (printable(reading.path), reading.text if reading.fate in ("used", "blank") else None)
            for reading in readings
        ]

    def exists_anywhere(self, target: str) -> bool:
        """Whether the path of any file in the workspace ends with `target`. True if there are too many files to find out.

        People leave out folders of sources: `api/shop.py` is `api/src/shop.py`.
        """
        files = self._files()
        parts = [part for part in target.split("/") if part not in ("", ".", "..")]
        return files is None or any(_ends_with(path, parts) for path in files.get(os.path.basename(target), ()))

    def _files(self) -> Mapping[str, Sequence[str]] | None:
        """Return the paths of all files in the workspace by name, or None if there are too many."""
        if self.root not in self._files_by_root:
            self._files_by_root[self.root] = _files_by_name(self.root, self.listings)
        return self._files_by_root[self.root]

    def exists(self, path: str, target: str, only_beside: bool = False) -> bool:
        """Whether a path that a file mentions exists in the file's folder or, unless `only_beside` is set, in one above it, up to the root.

        Paths outside the workspace count as existing, because a user's own file may be about any project.
        """
        if not is_inside(path, self.root) or target.startswith("~/"):
            return not only_beside
        folder = os.path.dirname(path)
        if not only_beside and self._exists(os.path.normpath(os.path.join(self._linked_folder(path), target))):
            return True
        while is_inside(folder, self.root):
            full_path = os.path.normpath(os.path.join(folder, target))
            if not is_inside(full_path, self.root):
                return folder == os.path.dirname(path)
            if self._exists(full_path):
                return True
            if only_beside or folder == os.path.dirname(folder):
                break
            folder = os.path.dirname(folder)
        return False

    def _linked_folder(self, path: str) -> str:
        """Return the folder that contains a file or, if it is a link, its target. The text of a linked file is written for that folder."""
        if path not in self._linked_folders:
            real = os.path.dirname(os.path.realpath(path))
            self._linked_folders[path] = real if is_inside(real, os.path.realpath(self.root)) else os.path.dirname(path)
        return self._linked_folders[path]

    def _exists(self, path: str) -> bool:
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self.listings.exists(path)
        return known


_SOURCE_FOLDERS = frozenset(("src", "lib", "source", "sources"))


def _ends_with(path: str, parts: Sequence[str]) -> bool:
    """Whether a path, whose name is the last of these parts, ends with them, disregarding folders of sources between them."""
    wanted = list(parts)
    for folder in reversed(path.split("/")):
        if not wanted:
            return True
        if folder == wanted[-1]:
            wanted.pop()
        elif folder not in _SOURCE_FOLDERS:
            return False
    return not wanted


def _files_by_name(root: str, listings: Listings) -> dict[str, list[str]] | None:
    files: dict[str, list[str]] = {}
    count = 0
    for folder, entries in walk_folders(root, [], listings):
        count += len(entries)
        if count > _MAX_FILES:
            return None
        for name, kind in entries.items():
            if kind == "file":
                files.setdefault(name, []).append(f"{folder}/{name}")
    return files
