"""Find every file of a repository that some layout would read somewhere in it: one walk for all layouts.

A pattern such as `.github/instructions/**/*.md` is compared at every depth, so that a file in the wrong place is found too. Links to
folders are not followed. Other repositories, installed packages and hidden folders that no pattern names are skipped.
"""

from __future__ import annotations

import os

from ..vocabulary import value
from .globs import matches_glob
from .links import WORKSPACE_PLACES
from .tree import SKIPPED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..layout.model import Layout

_MAX_FOLDERS = 20_000


@value
class InstructionFiles:
    """The files that were found, by code point. `unlisted` are folders that could not be listed, each with the reason."""

    paths: Sequence[str]
    unlisted: Sequence[tuple[str, str]] = ()
    is_complete: bool = True


def paths_in_repository(layouts: Iterable[Layout]) -> tuple[str, ...]:
    """The paths of all patterns by which the layouts find instruction files, without the places they start from.

    Those of the user's own files count too: people copy such a file into a project, where nobody reads it.
    """
    found: dict[str, None] = {}
    for lookup in (lookup for layout in layouts for lookup in layout.lookups if lookup.kind == "text"):
        for pattern in (pattern for group in lookup.groups for pattern in group):
            if pattern.path[:1] in ("/", "~") or ".." in pattern.path.split("/"):
                continue
            if pattern.place in (*WORKSPACE_PLACES, "path"):
                found[pattern.path.removeprefix("./")] = None
            elif pattern.place in ("home", "env"):
                folder = pattern.default.rpartition("/")[2]
                found[f"{folder}/{pattern.path}" if folder else pattern.path] = None
    return tuple(found)


def find_instruction_files(top: str, patterns: Iterable[str]) -> InstructionFiles:
    """Every file at or below `top` that matches one of these patterns at any depth."""
    known = _Patterns(patterns)
    found: list[str] = []
    unlisted: list[tuple[str, str]] = []
    waiting: list[tuple[str, tuple[str, ...]]] = [(top, ())]
    visited = 0
    while waiting and visited < _MAX_FOLDERS:
        here, parts = waiting.pop()
        try:
            entries = _entries(here)
        except OSError as error:
            unlisted.append((here, (error.strerror or str(error)).lower()))
            continue
        if parts and ".git" in entries:
            continue
        visited += 1
        named = [os.path.join(here, name) for name in filter(known.below(parts), entries) if not entries[name]]
        found += [path for path in named if not os.path.isdir(path)]
        below = [name for name, is_folder in entries.items() if is_folder and known.may_contain_files(name)]
        waiting += [(os.path.join(here, name), (*parts, name)) for name in below]
    return InstructionFiles(sorted(found), unlisted, is_complete=not waiting)


def _entries(folder: str) -> dict[str, bool]:
    """The names in a folder, each with whether it is a folder; a link is not."""
    with os.scandir(folder) as listing:
        return {each.name: each.is_dir(follow_symlinks=False) for each in listing}


class _Patterns:
    """Patterns, arranged so that most names are refused without a comparison."""

    def __init__(self, patterns: Iterable[str]) -> None:
        split = [tuple(each.split("/")) for each in dict.fromkeys(patterns)]
        self.names = {each[0] for each in split if len(each) == 1 and "*" not in each[0]}
        self.others = [each for each in split if len(each) > 1 or "*" in each[0]]
        self.hidden = {name for each in split for name in each[:-1] if name.startswith(".") and "*" not in name}

    def may_contain_files(self, folder: str) -> bool:
        """Whether to look into a folder of this name."""
        return folder not in SKIPPED and (not folder.startswith(".") or folder in self.hidden)

    def below(self, parts: Sequence[str]) -> _Matcher:
        """Compares the names of files in the folder with these parts."""
        starts = set(parts)
        possible = [each for each in self.others if len(each) == 1 or "*" in each[0] or each[0] in starts]
        return _Matcher(self.names, "/".join(parts), possible)


@value
class _Matcher:
    names: set[str]
    folder: str
    patterns: Sequence[Sequence[str]]

    def __call__(self, name: str) -> bool:
        if name in self.names:
            return True
        return any(
            ("*" in each[-1] or each[-1] == name) and matches_glob(f"{self.folder}/{name}", f"**/{'/'.join(each)}")
            for each in self.patterns
        )
