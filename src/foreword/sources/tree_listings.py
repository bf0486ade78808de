"""The names in a git tree, by folder, for searches that would otherwise list a checkout."""

from __future__ import annotations

import os
from posixpath import dirname, normpath

from .git_trees import LINK, SUBMODULE, mode_of
from .tree import Listings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from .git_trees import Tree
    from .tree import EntryKind


_MAX_LINKS = 40
_FILES = "100"  # the modes of files begin with this


class TreeListings(Listings):
    """Listings of a tree as if it were checked out at `root`. Other folders are listed on the disk.

    `children` are the names in each folder, with whether each is a folder. `links` are the paths of links, and `targets` are those whose
    targets are known.
    """

    def __init__(self, root: str) -> None:
        super().__init__()
        self.root = root
        self.children: dict[str, dict[str, bool]] = {"": {}}
        self.links: set[str] = set()
        self.targets: dict[str, str] = {}

    def add(self, tree: Tree) -> set[str]:
        """Add the files of a tree. Returns the folders whose names are different now, and those that are new."""
        changed: set[str] = set()
        folder, names = "", self.children[""]
        for path, entry in tree.items():
            if entry[:3] != _FILES:
                mode = mode_of(entry)
                if mode == LINK:
                    self.links.add(path)
                if mode == SUBMODULE:
                    self._add_folder(path, changed)
                    continue
            above, _, name = path.rpartition("/")
            if folder != above:  # a tree is sorted, so this is rare
                folder = above
                self._add_folder(folder, changed)
                names = self.children[folder]
            if name not in names:
                changed.add(folder)
            names[name] = False
        self._forget(changed)
        return changed

    def remove(self, paths: Iterable[str]) -> set[str]:
        """Remove files, and the folders that are then empty. Returns the folders whose names are different now, and those that are gone."""
        changed: set[str] = set()
        for path in paths:
            self.links.discard(path)
            is_empty = True
            while path and is_empty:
                self.children.pop(path, None)  # a folder that is now empty, or a submodule
                folder, _, name = path.rpartition("/")
                self.children[folder].pop(name, None)
                changed.update((folder, path))
                path, is_empty = folder, not self.children[folder]
        self._forget(changed)
        return changed

    def exists(self, path: str) -> bool:
        name = self._name(path)
        if name is None:
            return super().exists(path)
        folder, _, last = name.rpartition("/")
        return name in self.children or last in self.children.get(folder, ()) or super().exists(path)

    def is_file(self, path: str) -> bool:
        name = self._name(path)
        folder, _, last = (name or "").rpartition("/")
        return self.children.get(folder, {}).get(last) is False if name else super().is_file(path)

    def entries(self, folder: str) -> dict[str, EntryKind]:
        name = self._name(folder)
        if name is None or name not in self.children:
            return super().entries(folder)
        if folder not in self._entries:
            entries: dict[str, EntryKind] = {} if name else {".git": "folder"}
            for child, is_folder in self.children[name].items():
                entries[child] = "folder" if is_folder else self._kind(join(name, child))
            self._entries[folder] = entries
        return self._entries[folder]

    def _add_folder(self, path: str, changed: set[str]) -> None:
        """Add a folder and those above it."""
        is_known = path in self.children
        self.children.setdefault(path, {})
        while not is_known:
            folder, _, name = path.rpartition("/")
            changed.update((path, folder))
            is_known = folder in self.children
            self.children.setdefault(folder, {})[name] = True
            path = folder

    def _forget(self, folders: Iterable[str]) -> None:
        for folder in folders:
            self._entries.pop(f"{self.root}/{folder}" if folder else self.root, None)

    def _name(self, path: str) -> str | None:
        """Return a path relative to the root, without links, or None if it is not in the tree's folder."""
        if path == self.root:
            return ""
        return resolve_links(path[len(self.root) + 1 :], self.targets) if path.startswith(self.root + "/") else None

    def _kind(self, path: str) -> EntryKind:
        is_linked = path in self.links and os.path.isdir(os.path.join(self.root, path))
        return "linked folder" if is_linked else "file"


def join(folder: str, name: str) -> str:
    """Return the path of a name in a folder, which is empty for the root."""
    return f"{folder}/{name}" if folder else name


def resolve_links(path: str, links: Mapping[str, str]) -> str:
    """Return the path without these links, which are given by path, each with its target."""
    for _ in range(_MAX_LINKS if links else 0):
        link = next((prefix for prefix in _prefixes(path) if prefix in links), "")
        if not link:
            break
        target = normpath(join(dirname(link), links[link]))
        path = normpath(f"{target}/{path[len(link) + 1 :]}")
    return "" if path == "." else path


def _prefixes(path: str) -> Iterator[str]:
    """Yield the path's folders, from the top, and the path itself."""
    end = path.find("/")
    while end >= 0:
        yield path[:end]
        end = path.find("/", end + 1)
    yield path
