"""A private temporary folder with the files of a git tree, in which prompts can be built.

All names exist, so that a check for a file gives the right answer, but only files that are needed have their content; the others are
empty until `fill` is called. The folder is never inside the workspace. A tree is untrusted: its names may be `..` or `.git`, its links
may lead anywhere, and its files may have gigabytes. Nothing is written outside the folder, and a link that leaves the tree leads to a
path that does not exist, so that it is refused as it would be in a real checkout.
"""

from __future__ import annotations

import os
from posixpath import normpath

from .files import LIMIT
from .git_trees import LINK, SUBMODULE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

    from .git_trees import GitTrees, Tree, TreeEntry

_MAX_NAMES = 100_000
_MAX_BYTES = 256 << 20
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class Checkout:
    """The files of one tree at a time. Use it in a `with` statement, which deletes the folder at the end.

    `skipped` lists the paths that could not be created, and `is_complete` says whether all names exist.
    """

    def __init__(self, objects: GitTrees, name: str) -> None:
        import tempfile

        self.objects = objects
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="foreword-"))
        self.root = os.path.join(self.top, name if name.isidentifier() else "repository")
        os.makedirs(os.path.join(self.root, ".git"))
        self.tree: Tree = {}
        self.filled: set[str] = set()
        self.skipped: dict[str, None] = {}
        self.is_complete = True
        self._present: set[str] = set()
        self._folders: set[str] = {""}
        self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        import shutil

        shutil.rmtree(self.top, ignore_errors=True)

    def switch(self, tree: Tree, is_needed: Callable[[str], bool]) -> None:
        """Replace the files with those of another tree. Files that are needed, or had content before, get their content."""
        stale = [path for path in self._present if tree.get(path) != self.tree.get(path)]
        refilled = {path for path in stale if path in self.filled}
        for path in stale:
            self._remove(path)
        self.tree = tree
        missing = {path: entry for path, entry in tree.items() if path not in self._present}
        needed = {
            path
            for path, entry in missing.items()
            if entry.mode != SUBMODULE and (entry.mode == LINK or path in refilled or is_needed(path))
        }
        self.is_complete = len(tree) <= _MAX_NAMES
        for path in missing.keys() - needed if self.is_complete else ():
            self._create_name(path, missing[path])
        self._write(needed)

    def fill(self, paths: Iterable[str]) -> bool:
        """Write the content of these absolute paths, if they are empty files of the tree. Returns whether there were any."""
        start = len(self.root) + 1
        wanted = {path[start:] for path in paths if path.startswith(self.root + "/")}
        missing = {
            path
            for path in wanted
            if path in self.tree and path not in self.filled and self.tree[path].mode != SUBMODULE
        }
        for path in missing & self._present:
            self._remove(path)
        self._write(missing)
        return bool(missing)

    def make_folder(self, folder: str) -> bool:
        """Create a folder that the tree does not have, so that a prompt can be built in it. Returns False if that is not possible."""
        return self._make_folder(folder)

    def _write(self, paths: set[str]) -> None:
        """Create these files with their content. Links are created last, so that no file is written through one."""
        sizes = self.objects.sizes(self.tree[path].id for path in paths)
        small = {id for id, size in sizes.items() if size <= LIMIT}
        budget = _MAX_BYTES - self._bytes
        allowed = set()
        for id in sorted(small):
            budget -= sizes[id]
            if budget >= 0:
                allowed.add(id)
        contents = self.objects.contents(sorted(allowed))
        for path in sorted(paths, key=lambda path: (self.tree[path].mode == LINK, path)):
            entry = self.tree[path]
            self.filled.add(path)
            content = contents.get(entry.id)
            if content is None and entry.id in sizes and entry.id not in small and budget > 0 and entry.mode != LINK:
                # The reader's limit is smaller than the file, so the rest is never read. The size is kept.
                content = self.objects.start_of(entry.id, LIMIT + 1)
            if content is None:
                self.skipped[path] = None
                continue
            self._bytes += len(content)
            self._create(path, entry, content, sizes[entry.id])

    def _create_name(self, path: str, entry: TreeEntry) -> None:
        if entry.mode == SUBMODULE:
            if self._make_folder(path):
                self._present.add(path)
        else:
            self._create(path, entry, b"", 0)

    def _create(self, path: str, entry: TreeEntry, content: bytes, size: int) -> None:
        if not _is_safe(path) or not self._make_folder(os.path.dirname(path)):
            self.skipped[path] = None
            return
        target = os.path.join(self.root, path)
        try:
            if entry.mode == LINK:
                os.symlink(self._link_target(path, content), os.fsencode(target))
            else:
                descriptor = os.open(target, _FLAGS, 0o600)
                try:
                    _write_all(descriptor, content)
                    if size > len(content):
                        os.ftruncate(descriptor, size)
                finally:
                    os.close(descriptor)
        except (OSError, ValueError):
            self.skipped[path] = None
            return
        self._present.add(path)

    def _link_target(self, path: str, content: bytes) -> bytes:
        """Return where a link leads: as in the tree, or to a path that does not exist if it would leave the tree."""
        target = os.fsdecode(content)
        resolved = normpath(os.path.join(os.path.dirname(path), target))
        is_outside = os.path.isabs(target) or resolved == ".." or resolved.startswith("../")
        return os.fsencode(os.path.join(self.top, "outside")) if is_outside else content

    def _make_folder(self, folder: str) -> bool:
        """Create a folder and those above it. Returns False if one of them is a file or a link in this tree."""
        if folder in self._folders:
            return True
        if not _is_safe(folder) or not self._make_folder(os.path.dirname(folder)):
            return False
        path = os.path.join(self.root, folder)
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            if os.path.islink(path) or not os.path.isdir(path):
                return False
        except (OSError, ValueError):
            return False
        self._folders.add(folder)
        return True

    def _remove(self, path: str) -> None:
        """Delete a file, and the folders above it that are then empty."""
        target = os.path.join(self.root, path)
        self._present.discard(path)
        self.filled.discard(path)
        try:
            if os.path.isdir(target) and not os.path.islink(target):
                os.rmdir(target)
            else:
                os.unlink(target)
            self._folders.discard(path)
            while (target := os.path.dirname(target)) != self.root:
                os.rmdir(target)
                self._folders.discard(target[len(self.root) + 1 :])
        except OSError:
            pass  # the folder is not empty


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
