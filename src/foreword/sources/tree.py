"""Searches below a folder for files, or for folders that contain certain files and for every SKILL.md. Links are not followed."""

from __future__ import annotations

import os

from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

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


def scan_below(top: str, names: Collection[str]) -> Tree:
    """Find the folders at or below `top` that contain one of `names`, and all skills.

    File names match in any letter case. A name may also be a path (`.agents/AGENTS.md`).
    """
    file_names = {name.lower() for name in names if "/" not in name}
    paths = [name for name in names if "/" in name]
    folders: list[str] = []
    skills: list[str] = []
    unlisted: list[str] = []

    for folder, files in _walk(top, unlisted):
        if not file_names.isdisjoint(map(str.lower, files)) or any(
            os.path.lexists(os.path.join(folder, name)) for name in paths
        ):
            folders.append(folder)
        if "SKILL.md" in files:
            skills.append(os.path.join(folder, "SKILL.md"))
    return Tree(folders, skills, unlisted)


def _walk(top: str, unlisted: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each folder with the names of its files, parents first. `os.walk` could exceed the recursion limit in deep folders."""
    pending = [top]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(folder) as listing:
                entries = [(entry.name, entry.is_dir(), entry.is_symlink()) for entry in listing]
        except OSError as error:
            unlisted.append(str(error.filename or folder))
            continue
        yield folder, [name for name, is_folder, _ in entries if not is_folder]
        subfolders = [
            name for name, is_folder, is_link in entries if is_folder and not is_link and name not in SKIPPED_FOLDERS
        ]
        pending.extend(os.path.join(folder, name) for name in sorted(subfolders, reverse=True))


def files_below(top: str, skip: str, limit: int) -> list[str]:
    """The first `limit` files at or below `top`, except hidden files and those named `skip`. At most _MAX_FOLDERS are searched."""
    found: list[str] = []
    for number, (folder, subfolders, files) in enumerate(os.walk(top)):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        found += [os.path.join(folder, name) for name in sorted(files) if name != skip and not name.startswith(".")]
        if len(found) >= limit or number >= _MAX_FOLDERS:
            break
    return found[:limit]
