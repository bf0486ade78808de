"""Searches below a folder for files, for folders that contain certain files, and for every SKILL.md. Links are not followed."""

from __future__ import annotations

import os
from errno import EPERM

from ..vocabulary import value
from .paths import is_inside
from .places import FOLDER_FLAGS, path_of_open_file, real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from typing import Literal

    EntryKind = Literal["file", "folder", "linked folder"]

# Third-party code and generated files, where nobody writes instructions.
SKIPPED_FOLDERS = frozenset(
    (".git", "node_modules", "site-packages", "__pycache__", ".venv", "venv", ".tox", ".hg", ".svn")
)
_MAX_FOLDERS = 200


@value
class Tree:
    """The folders with instruction files, the skills, and the folders that could not be listed. All are in walking order."""

    folders: Sequence[str]
    skills: Sequence[str]
    unlisted: Sequence[str]


class Listings:
    """The entries of folders. Each folder is listed once, no matter how many searches there are.

    `inside` are the folders that a service serves. A folder below them is not listed if a link, which may have just replaced a folder,
    leads out of them.
    """

    def __init__(self, inside: Sequence[str] = ()) -> None:
        self._inside = inside
        self._entries: dict[str, dict[str, EntryKind]] = {}

    def entries(self, folder: str) -> dict[str, EntryKind]:
        """Return the names in a folder, each with its kind. Raises OSError if the folder cannot be listed."""
        entries = self._entries.get(folder)
        if entries is None:
            is_served = any(is_inside(folder, served) for served in self._inside)
            entries = self._entries[folder] = self._guarded_entries(folder) if is_served else _entries_in(folder)
        return entries

    @property
    def listed(self) -> Mapping[str, Collection[str]]:
        """The names in each folder that has been listed."""
        return self._entries

    def _guarded_entries(self, folder: str) -> dict[str, EntryKind]:
        """Return the entries of the folder that is opened, even if its path leads to another one later."""
        descriptor = os.open(folder, FOLDER_FLAGS)
        try:
            real = path_of_open_file(descriptor) or real_path(folder)
            if not any(is_inside(real, served) for served in self._inside):
                raise PermissionError(EPERM, "it is outside the folders that are served", folder)
            return _entries_in(descriptor if os.scandir in os.supports_fd else folder)
        finally:
            os.close(descriptor)

    def is_file(self, path: str) -> bool:
        """Whether there is a file at a path, or a link to one."""
        return os.path.isfile(path)

    def exists(self, path: str) -> bool:
        """Whether there is anything at a path, even a link that leads nowhere."""
        try:
            return os.path.lexists(path)
        except ValueError:
            return False


def _entries_in(folder: str | int) -> dict[str, EntryKind]:
    with os.scandir(folder) as listing:
        return {entry.name: _kind(entry) for entry in listing}


def _kind(entry: os.DirEntry[str]) -> EntryKind:
    try:
        if not entry.is_dir():
            return "file"
    except OSError:  # a circular link, or a link to something that cannot be examined
        return "file"
    return "linked folder" if entry.is_symlink() else "folder"


def scan_below(top: str, names: Collection[str], listings: Listings | None = None) -> Tree:
    """Find the folders at or below `top` that contain one of `names`, and all skills.

    File names match in any letter case. A name may also be a path (`.agents/AGENTS.md`).
    """
    file_names = {name.lower() for name in names if "/" not in name}
    paths = [name for name in names if "/" in name]
    folders: list[str] = []
    skills: list[str] = []
    unlisted: list[str] = []

    for folder, entries in walk_folders(top, unlisted, listings or Listings()):
        files = [name for name, kind in entries.items() if kind == "file"]
        if not file_names.isdisjoint(map(str.lower, files)) or any(
            os.path.lexists(os.path.join(folder, name)) for name in paths
        ):
            folders.append(folder)
        if "SKILL.md" in files:
            skills.append(os.path.join(folder, "SKILL.md"))
    return Tree(folders, skills, unlisted)


def walk_folders(top: str, unlisted: list[str], listings: Listings) -> Iterator[tuple[str, dict[str, EntryKind]]]:
    """Yield each folder with its entries, parents first. `os.walk` could exceed the recursion limit in deep folders."""
    pending = [top]
    while pending:
        folder = pending.pop()
        try:
            entries = listings.entries(folder)
        except OSError as error:
            unlisted.append(str(error.filename or folder))
            continue
        yield folder, entries
        subfolders = [name for name, kind in entries.items() if kind == "folder" and name not in SKIPPED_FOLDERS]
        pending.extend(os.path.join(folder, name) for name in sorted(subfolders, reverse=True))


def files_below(top: str, skip: str, limit: int) -> list[str]:
    """Return the first `limit` files at or below `top`, except hidden files and those named `skip`. Searches at most _MAX_FOLDERS folders."""
    found: list[str] = []
    for index, (folder, subfolders, files) in enumerate(os.walk(top)):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        found += [os.path.join(folder, name) for name in sorted(files) if name != skip and not name.startswith(".")]
        if len(found) >= limit or index >= _MAX_FOLDERS:
            break
    return found[:limit]
