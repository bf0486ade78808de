"""A private temporary folder, in which files of an untrusted git tree are created.

Nothing is written outside it, whatever the tree's names are: a path that leaves it or belongs to a repository's own files is refused, and
no file is written through a link.
"""

from __future__ import annotations

import os
from posixpath import dirname

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class PrivateFolder:
    """Creates files, links and folders by their paths below `root`. `files` (with links) and `folders` are those that exist."""

    def __init__(self, name: str) -> None:
        self.top = os.path.realpath(_create_private_folder())
        self.root = os.path.join(self.top, name if name.isidentifier() else "repository")
        self.outside = os.path.join(self.top, "outside")  # a path that does not exist
        self.files: set[str] = set()
        self.folders: set[str] = {""}
        os.makedirs(os.path.join(self.root, ".git"))

    def delete(self) -> None:
        """Delete the folder with everything in it."""
        _remove_tree(self.top)

    def accepts(self, path: str) -> bool:
        """Whether a file can be created at this path. Creates the folders above it."""
        return _is_safe(path) and self.make_folder(dirname(path))

    def write(self, path: str, content: bytes, size: int) -> bool:
        """Create a file of this size, which begins with the content. Returns False if that is not possible."""
        if not self.accepts(path):
            return False
        try:
            _write_file(os.path.join(self.root, path), content, size)
        except (OSError, ValueError):
            return False
        self.files.add(path)
        return True

    def link(self, path: str, target: bytes) -> bool:
        """Create a link. Returns False if that is not possible."""
        if not self.accepts(path):
            return False
        try:
            os.symlink(target, os.fsencode(os.path.join(self.root, path)))
        except (OSError, ValueError):
            return False
        self.files.add(path)
        return True

    def make_folder(self, folder: str) -> bool:
        """Create a folder and those above it. Returns False if one of them is a file or a link in this tree."""
        missing = []
        while folder not in self.folders:
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
        self.folders.add(folder)
        return True

    def remove(self, path: str) -> None:
        """Delete a file or link."""
        self.files.discard(path)
        try:
            os.unlink(os.path.join(self.root, path))
        except OSError:
            pass  # it could not be created

    def remove_folders(self, kept: Collection[str]) -> None:
        """Delete the folders that are empty, except these."""
        for folder in sorted(self.folders.difference(kept), reverse=True):
            try:
                os.rmdir(os.path.join(self.root, folder))
                self.folders.discard(folder)
            except OSError:
                pass  # it is not empty


def _write_file(path: str, content: bytes, size: int) -> None:
    descriptor = os.open(path, _FLAGS, 0o600)
    try:
        _write_all(descriptor, content)
        if size > len(content):
            os.ftruncate(descriptor, size)
    finally:
        os.close(descriptor)


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
