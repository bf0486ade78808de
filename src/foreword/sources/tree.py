"""List what is below a folder: its files, or the folders with files of certain names and every SKILL.md. Links are not followed."""

from __future__ import annotations

import os

from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

# Other people's code and generated files: nobody works in these.
SKIPPED = frozenset((".git", "node_modules", "site-packages", "__pycache__", ".venv", "venv", ".tox", ".hg", ".svn"))
_MAX_FOLDERS = 200


@value
class Tree:
    """Folders to work in and skills, each by code point; `unlisted` are folders that could not be listed."""

    folders: Sequence[str]
    skills: Sequence[str]
    unlisted: Sequence[str]


def scan_below(top: str, names: Collection[str]) -> Tree:
    """Every folder at or below `top` that contains one of `names`, which may be paths (`.agents/AGENTS.md`), in any letter case."""
    plain = {name.lower() for name in names if "/" not in name}
    nested = [name for name in names if "/" in name]
    folders: list[str] = []
    skills: list[str] = []
    unlisted: list[str] = []

    for folder, files in _walk(top, unlisted):
        if not plain.isdisjoint(map(str.lower, files)) or any(
            os.path.lexists(os.path.join(folder, name)) for name in nested
        ):
            folders.append(folder)
        if "SKILL.md" in files:
            skills.append(os.path.join(folder, "SKILL.md"))
    return Tree(folders, skills, unlisted)


def _walk(top: str, unlisted: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Every folder with the names of its files, before the folders in it. Not `os.walk`: folders may nest too deeply for recursion."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as listing:
                entries = [(each.name, each.is_dir(), each.is_symlink()) for each in listing]
        except OSError as error:
            unlisted.append(str(error.filename or folder))
            continue
        yield folder, [name for name, is_folder, _ in entries if not is_folder]
        subfolders = [name for name, is_folder, is_link in entries if is_folder and not is_link and name not in SKIPPED]
        waiting.extend(os.path.join(folder, name) for name in sorted(subfolders, reverse=True))


def files_below(top: str, skip: str, limit: int) -> list[str]:
    """The first files at or below `top`, without hidden ones and those named `skip`. Only the first folders are listed."""
    found: list[str] = []
    for number, (folder, subfolders, files) in enumerate(os.walk(top)):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        found += [os.path.join(folder, name) for name in sorted(files) if name != skip and not name.startswith(".")]
        if len(found) >= limit or number >= _MAX_FOLDERS:
            break
    return found[:limit]
