"""A private temporary folder with the files of a git tree, in which prompts can be built.

Only files that are needed exist at first. Others are created when a prompt asks for them (`fill`); `listings` has all names without
creating them. The folder is never inside the workspace. A tree is untrusted: its names may be `..` or `.git`, its links may lead
anywhere, and its files may have gigabytes. Nothing is written outside the folder, and a link that leaves the tree leads to a path that
does not exist, so that it is refused as it would be in a real checkout.
"""

from __future__ import annotations

import os
from posixpath import basename, dirname, normpath

from .git_trees import LINK, SUBMODULE, id_of, mode_of
from .private_folder import PrivateFolder
from .reader import LIMIT
from .tree_listings import TreeListings, join, resolve_links

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Self

    from .git_trees import GitTrees, Tree

_MAX_NAMES = 100_000
_MAX_BYTES = 256 << 20


class Checkout:
    """The files of one tree at a time. Use it in a `with` statement, which deletes the folder at the end.

    `links` are the tree's links that do not leave it, each with its target. `skipped` lists the paths that could not be created, and
    `skipped_before` those in the earlier tree. `is_complete` is False if there were too many names to create.
    """

    def __init__(self, objects: GitTrees, name: str) -> None:
        self.objects = objects
        self.folder = PrivateFolder(name)
        self.root = self.folder.root
        self.tree: dict[str, str] = {}
        self.listings = TreeListings(self.root)
        self.links = self.listings.targets
        self.filled: set[str] = set()
        self.skipped: dict[str, None] = {}
        self.skipped_before: dict[str, None] = {}
        self.is_complete = True
        self._opened: set[str] = set()  # folders whose names exist
        self._opened_below: set[str] = set()  # folders in which everything exists
        self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.folder.delete()

    def open(self, tree: Tree) -> None:
        """Start with this tree. Nothing is created yet."""
        self.tree = dict(tree)
        self.listings.add(tree)

    def write(self, needed: Collection[str]) -> None:
        """Create the links of the tree, and these files with their content."""
        links = self.listings.links
        self._write(self._missing(links.union(needed)))
        self._follow_links(links.intersection(needed))
        self._create_names()

    def change(self, differences: Mapping[str, str], needed: Collection[str]) -> set[str]:
        """Replace some files, by path: each with its new entry, or empty to delete it. Needed files, and those that had content, get theirs.

        Returns the paths and folders that are different now.
        """
        refilled = {path for path in differences if path in self.filled}
        # A file that could not be created was absent, which depends on its folder.
        folders = {dirname(path) for path in differences if path in self.skipped}
        for path in differences:
            self._empty(path)
        # A submodule, which is a folder, may become a file.
        deleted = [
            path for path, entry in differences.items() if path in self.tree and (not entry or self._is_submodule(path))
        ]
        for path in deleted:
            del self.tree[path]
        new = {path: entry for path, entry in differences.items() if entry}
        folders |= self.listings.remove(deleted) | self.listings.add(new)
        self.tree.update(new)
        self.folder.remove_folders(self.listings.children.keys())
        self.write(refilled.union(needed))
        return folders.union(differences)

    def _empty(self, path: str) -> None:
        """Remove what was created for a path of the tree."""
        self.links.pop(path, None)
        if path in self.skipped:
            self.skipped_before[path] = self.skipped.pop(path)
        self.filled.discard(path)  # even if it could not be created
        if path in self.folder.files:
            self.folder.remove(path)

    def fill(self, paths: Iterable[str], listed: Iterable[str]) -> set[str]:
        """Create these absolute paths, if they are in the tree: files with their content, and folders.

        The folders in `listed` are created with everything below, but of the root, only the names are created. Returns the paths that
        were created or filled, and their folders.
        """
        wanted, opened = self._relative_paths(paths), self._relative_paths(listed)
        missing = self._missing(wanted)
        before = self.folder.files | self.folder.folders
        self._write(missing)
        for folder in wanted.intersection(self.listings.children):
            self.folder.make_folder(folder)
        self._opened.update(opened)
        self._opened_below.update(filter(None, opened))
        self._create_names()
        created = missing | (self.folder.files | self.folder.folders) - before
        return created.union(map(dirname, created))

    def names(self) -> dict[str, Collection[str]]:
        """Return the names in each of the tree's folders, by its absolute path: all that exist, and those that can be created."""
        children = self.listings.children
        names: dict[str, Collection[str]] = {
            join(self.root, folder): found for folder, found in children.items() if folder
        }
        names[self.root] = {*children[""], ".git"}
        for path in self.folder.folders | self.folder.files:
            folder, name = dirname(path), basename(path)
            if name and name not in children.get(folder, (name,)):
                above = join(self.root, folder) if folder else self.root
                names[above] = {*names[above], name}
        return names

    def make_folder(self, folder: str) -> bool:
        """Create a folder that the tree may not have, so that a prompt can be built in it. Returns False if that is not possible."""
        return self.folder.make_folder(folder)

    def _relative_paths(self, paths: Iterable[str]) -> set[str]:
        """Return those of the absolute paths that are in the folder, relative to it and without links."""
        start = len(self.root)
        inside = [
            path[start + 1 :] for path in paths if path.startswith(self.root) and path[start : start + 1] in ("", "/")
        ]
        return {resolve_links(path, self.links) for path in inside}

    def _is_submodule(self, path: str) -> bool:
        return mode_of(self.tree[path]) == SUBMODULE

    def _missing(self, paths: Iterable[str]) -> set[str]:
        """Return those of the paths that are files or links of the tree without their content."""
        return {
            path for path in paths if path in self.tree and path not in self.filled and not self._is_submodule(path)
        }

    # Links

    def _follow_links(self, links: Collection[str]) -> None:
        """Create what these links lead to."""
        targets = {resolve_links(path, self.links) for path in links}
        self._write(self._missing(targets))
        self._opened_below |= {target for target in targets if target and target in self.listings.children}

    def _link_target(self, path: str, content: bytes) -> bytes:
        """Return where a link leads: as in the tree, or to a path that does not exist if it would leave the tree."""
        target = os.fsdecode(content)
        resolved = normpath(join(dirname(path), target))
        if os.path.isabs(target) or resolved == ".." or resolved.startswith("../"):
            return os.fsencode(self.folder.outside)
        self.links[path] = target
        return content

    # Names

    def _create_names(self) -> None:
        """Create the names that do not exist yet in opened folders."""
        known = (self.folder.files, self.folder.folders, self.skipped)
        for folder in sorted(self._folders_to_list()):
            for name, is_folder in self.listings.children.get(folder, {}).items():
                path = join(folder, name)
                if any(path in paths for paths in known):
                    continue
                if len(self.folder.files) + len(self.folder.folders) > _MAX_NAMES:
                    self.is_complete = False
                    return
                if is_folder:
                    self.folder.make_folder(path)
                else:
                    self._create(path, self.tree[path], b"", 0)

    def _folders_to_list(self) -> set[str]:
        """Return the opened folders, and those below that must be complete."""
        children = self.listings.children
        pending = [folder for folder in self._opened_below if folder in children]
        folders = self._opened.union(pending)
        while pending and len(folders) <= _MAX_NAMES:
            folder = pending.pop()
            found = [join(folder, name) for name, is_folder in children[folder].items() if is_folder]
            pending += [path for path in found if path not in folders]
            folders.update(found)
        return folders

    # Files

    def _write(self, paths: set[str]) -> None:
        """Create these files with their content. Links are created last, so that no file is written through one."""
        tree, room = self.tree, max(_MAX_NAMES - len(self.folder.files), 0)
        if len(paths) > room:
            self.is_complete = False
            paths = set(sorted(paths, key=lambda path: (path.count("/"), path))[:room])
        sizes = self.objects.sizes(id_of(tree[path]) for path in paths)
        small = {id: size for id, size in sizes.items() if size <= LIMIT}
        allowed, budget = _select_ids(small, _MAX_BYTES - self._bytes)
        contents = self.objects.contents(allowed)
        for path in paths & self.folder.files:
            self.folder.remove(path)
        for path in sorted(paths, key=lambda path: (mode_of(tree[path]) == LINK, path)):
            id, is_link = id_of(tree[path]), mode_of(tree[path]) == LINK
            self.filled.add(path)
            content = contents.get(id)
            if content is None and id in sizes and id not in small and budget > 0 and not is_link:
                # The reader's limit is smaller than the file, so the rest is never read. The size is kept.
                content = self.objects.start_of(id, LIMIT + 1)
            if content is None:
                self.skipped[path] = None
                continue
            self._bytes += len(content)
            self._create(path, tree[path], content, sizes[id])

    def _create(self, path: str, entry: str, content: bytes, size: int) -> None:
        if mode_of(entry) == LINK:
            is_created = self.folder.accepts(path) and self.folder.link(path, self._link_target(path, content))
        else:
            is_created = self.folder.write(path, content, size)
        if not is_created:
            self.skipped[path] = None


def blocking_file(tree: Tree, folder: str) -> str:
    """Return the file or link of a tree that is at the path of a folder or above it, or empty if there is none."""
    while folder and (folder not in tree or mode_of(tree[folder]) == SUBMODULE):
        folder = dirname(folder)
    return folder


def _select_ids(sizes: Mapping[str, int], budget: int) -> tuple[list[str], int]:
    """Return the ids, in order, whose contents fit into this many bytes, and what remains of it, which is negative if some do not."""
    allowed = []
    for id in sorted(sizes):
        budget -= sizes[id]
        if budget >= 0:
            allowed.append(id)
    return allowed, budget
