"""A private temporary folder with the files of a git tree, in which prompts can be built.

Only files that are needed exist at first. Others are created when a prompt asks for them (`fill`); `listings` has all names without
creating them. The folder is never inside the workspace. A tree is untrusted: its names may be `..` or `.git`, its links may lead
anywhere, and its files may have gigabytes. Nothing is written outside the folder, and a link that leaves the tree leads to a path that
does not exist, so that it is refused as it would be in a real checkout.
"""

from __future__ import annotations

import os
from posixpath import dirname, normpath

from .git_trees import LINK, SUBMODULE, id_of, mode_of
from .reader import LIMIT
from .tree_listings import TreeListings, join, resolve_links

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Self

    from .git_trees import GitTrees, Tree

_MAX_NAMES = 100_000
_MAX_BYTES = 256 << 20
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class Checkout:
    """The files of one tree at a time. Use it in a `with` statement, which deletes the folder at the end.

    `links` are the tree's links that do not leave it, each with its target. `skipped` lists the paths that could not be created, and
    `skipped_before` those in the earlier tree. `is_complete` is False if there were too many names to create.
    """

    def __init__(self, objects: GitTrees, name: str) -> None:
        self.objects = objects
        self.top = os.path.realpath(_create_private_folder())
        self.root = os.path.join(self.top, name if name.isidentifier() else "repository")
        os.makedirs(os.path.join(self.root, ".git"))
        self.tree: dict[str, str] = {}
        self.listings = TreeListings(self.root)
        self.links = self.listings.targets
        self.filled: set[str] = set()
        self.skipped: dict[str, None] = {}
        self.skipped_before: dict[str, None] = {}
        self.is_complete = True
        self._opened: set[str] = set()  # folders whose names exist
        self._opened_below: set[str] = set()  # folders in which everything exists
        self._present: set[str] = set()
        self._folders: set[str] = {""}
        self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _remove_tree(self.top)

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
            self.links.pop(path, None)
            if path in self.skipped:
                self.skipped_before[path] = self.skipped.pop(path)
            self.filled.discard(path)  # even if it could not be created
            if path in self._present:
                self._remove(path)
        # A submodule, which is a folder, may become a file.
        deleted = [
            path for path, entry in differences.items() if path in self.tree and (not entry or self._is_submodule(path))
        ]
        for path in deleted:
            del self.tree[path]
        new = {path: entry for path, entry in differences.items() if entry}
        folders |= self.listings.remove(deleted) | self.listings.add(new)
        self.tree.update(new)
        self._remove_folders()
        self.write(refilled.union(needed))
        return folders.union(differences)

    def fill(self, paths: Iterable[str], listed: Iterable[str]) -> set[str]:
        """Create these absolute paths, if they are in the tree: files with their content, and folders.

        The folders in `listed` are created with everything below, but of the root, only the names are created. Returns the paths that
        were created or filled, and their folders.
        """
        wanted, opened = self._relative_paths(paths), self._relative_paths(listed)
        missing = self._missing(wanted)
        before = self._present | self._folders
        self._write(missing)
        for folder in wanted.intersection(self.listings.children):
            self._make_folder(folder)
        self._opened.update(opened)
        self._opened_below.update(filter(None, opened))
        self._create_names()
        created = missing | (self._present | self._folders) - before
        return created.union(map(dirname, created))

    def make_folder(self, folder: str) -> bool:
        """Create a folder that the tree may not have, so that a prompt can be built in it. Returns False if that is not possible."""
        return self._make_folder(folder)

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
            return os.fsencode(os.path.join(self.top, "outside"))
        self.links[path] = target
        return content

    # Names

    def _create_names(self) -> None:
        """Create the names that do not exist yet in opened folders."""
        known = (self._present, self._folders, self.skipped)
        for folder in sorted(self._folders_to_list()):
            for name, is_folder in self.listings.children.get(folder, {}).items():
                path = join(folder, name)
                if any(path in paths for paths in known):
                    continue
                if len(self._present) + len(self._folders) > _MAX_NAMES:
                    self.is_complete = False
                    return
                if is_folder:
                    self._make_folder(path)
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
        tree, room = self.tree, max(_MAX_NAMES - len(self._present), 0)
        if len(paths) > room:
            self.is_complete = False
            paths = set(sorted(paths, key=lambda path: (path.count("/"), path))[:room])
        sizes = self.objects.sizes(id_of(tree[path]) for path in paths)
        small = {id: size for id, size in sizes.items() if size <= LIMIT}
        allowed, budget = _select_ids(small, _MAX_BYTES - self._bytes)
        contents = self.objects.contents(allowed)
        for path in paths & self._present:
            self._remove(path)
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
        if not _is_safe(path) or not self._make_folder(dirname(path)):
            self.skipped[path] = None
            return
        target = os.path.join(self.root, path)
        try:
            if mode_of(entry) == LINK:
                os.symlink(self._link_target(path, content), os.fsencode(target))
            else:
                _write_file(target, content, size)
        except (OSError, ValueError):
            self.skipped[path] = None
            return
        self._present.add(path)

    # Folders

    def _make_folder(self, folder: str) -> bool:
        """Create a folder and those above it. Returns False if one of them is a file or a link in this tree."""
        missing = []
        while folder not in self._folders:
            missing.append(folder)
            folder = dirname(folder)
        return all(map(self._make_one_folder, reversed(missing)))

    def _make_one_folder(self, folder: str) -> bool:
        path = os.path.join(self.root, folder)
        try:
            if not _is_safe(folder):
                return False
            os.mkdir(path, 0o700)
        except FileExistsError:
            if os.path.islink(path) or not os.path.isdir(path):
                return False
        except (OSError, ValueError):
            return False
        self._folders.add(folder)
        return True

    def _remove(self, path: str) -> None:
        """Delete a file or link."""
        self._present.discard(path)
        self.filled.discard(path)
        try:
            os.unlink(os.path.join(self.root, path))
        except OSError:
            pass  # it could not be created

    def _remove_folders(self) -> None:
        """Delete the folders that the tree does not have."""
        for folder in sorted(self._folders - self.listings.children.keys(), reverse=True):
            try:
                os.rmdir(os.path.join(self.root, folder))
                self._folders.discard(folder)
            except OSError:
                pass  # it is not empty


def _write_file(path: str, content: bytes, size: int) -> None:
    """Create a file of this size, which begins with the content."""
    descriptor = os.open(path, _FLAGS, 0o600)
    try:
        _write_all(descriptor, content)
        if size > len(content):
            os.ftruncate(descriptor, size)
    finally:
        os.close(descriptor)


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


def _is_safe(path: str) -> bool:
    """Whether a path from a tree stays in the folder and is not part of a repository's own files."""
    return all(
        name not in ("", ".", "..") and name.lower() not in (".git", "git~1") and "\0" not in name
        for name in path.split("/")
    )


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


# These replace functions of `tempfile` and `shutil`, which take longer to import than to run.


def _create_private_folder() -> str:
    """Create a temporary folder that only this user can read."""
    path = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"foreword-{os.urandom(8).hex()}")
    try:
        os.mkdir(path, 0o700)
        return path
    except OSError:
        import tempfile

        return tempfile.mkdtemp(prefix="foreword-")


def _remove_tree(top: str) -> None:
    """Remove a folder with everything in it, as far as possible. Links are removed, not followed."""
    for folder, folders, files in os.walk(top, topdown=False):
        for name in (*files, *folders):
            path = os.path.join(folder, name)
            try:
                os.rmdir(path) if name in folders and not os.path.islink(path) else os.unlink(path)
            except OSError:
                pass
    try:
        os.rmdir(top)
    except OSError:
        pass
