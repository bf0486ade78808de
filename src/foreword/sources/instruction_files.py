"""Finds all instruction files in a repository, for all layouts, in one walk.

A pattern such as `.github/instructions/**/*.md` is tried at every depth, so that misplaced files are found too. Links to folders are
not followed. Nested repositories, installed packages, and hidden folders that occur in no pattern are skipped.
"""

from __future__ import annotations

from ..vocabulary import value
from .globs import matches_glob
from .links import WORKSPACE_PLACES
from .tree import SKIPPED_FOLDERS, Listings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ..layout.model import Layout
    from .tree import EntryKind

_MAX_FOLDERS = 20_000
_MAX_DEPTH = 64


@value
class InstructionFiles:
    """The files that were found, sorted by code point, and the folders that could not be listed, each with the reason."""

    paths: Sequence[str]
    unlisted: Sequence[tuple[str, str]] = ()
    is_complete: bool = True


def instruction_file_patterns(layouts: Iterable[Layout], kind: str = "text") -> tuple[str, ...]:
    """Return the paths of all patterns with which layouts find instruction files, without the places they start from.

    `kind` is that of the lookup rules. Patterns for the user's own files are included, because people copy such files into a project, where no
    agent reads them.
    """
    paths: dict[str, None] = {}
    for lookup in (lookup for layout in layouts for lookup in layout.lookups if lookup.kind == kind):
        for pattern in (pattern for group in lookup.groups for pattern in group):
            if pattern.path[:1] in ("/", "~") or ".." in pattern.path.split("/"):
                continue
            if pattern.place in (*WORKSPACE_PLACES, "path"):
                paths[pattern.path.removeprefix("./")] = None
            elif pattern.place in ("home", "env"):
                folder = pattern.default.rpartition("/")[2]
                paths[f"{folder}/{pattern.path}" if folder else pattern.path] = None
    return tuple(paths)


def find_instruction_files(
    top: str, patterns: Iterable[str], listings: Listings | None = None, max_folders: int = _MAX_FOLDERS, cwd: str = ""
) -> InstructionFiles:
    """Find every file at or below `top` that matches one of these patterns at any depth, in at most this many folders.

    Hidden folders are searched only if a pattern names them, or if they lead to `cwd`.
    """
    index, listings = _PatternIndex(patterns), listings or Listings()
    files: list[str] = []
    unlisted: list[tuple[str, str]] = []
    pending: list[tuple[str, tuple[str, ...]]] = [(top, ())]
    visited, is_deep = 0, False
    while pending and visited < max_folders:
        folder, parts = pending.pop()
        try:
            entries = listings.entries(folder)
        except OSError as error:
            unlisted.append((folder, (error.strerror or str(error)).lower()))
            continue
        if parts and ".git" in entries:
            continue
        visited += 1
        start = folder if folder.endswith("/") else folder + "/"
        files += [start + name for name in index.select(parts, entries) if entries[name] == "file"]
        subfolders = index.folders_to_search(entries, _next_name(folder, cwd))
        if subfolders and len(parts) >= _MAX_DEPTH:
            is_deep = True
            continue
        pending += [(start + name, (*parts, name)) for name in subfolders]
    return InstructionFiles(sorted(files), unlisted, is_complete=not pending and not is_deep)


def _next_name(folder: str, below: str) -> str:
    """Return the name that comes after a folder in a path below it, or empty."""
    return below[len(folder) + 1 :].partition("/")[0] if below.startswith(f"{folder}/") else ""


def select_instruction_files(names_by_folder: Mapping[str, Iterable[str]], patterns: Iterable[str]) -> list[str]:
    """Return the paths that `find_instruction_files` would find among these files. Folders are relative to the repository's root."""
    index = _PatternIndex(patterns)
    selected: list[str] = []
    for folder, names in names_by_folder.items():
        parts = folder.split("/") if folder else []
        if not all(map(index.may_contain_files, parts)):
            continue
        found = index.select(parts, names)
        selected += [f"{folder}/{name}" for name in found] if folder else found
    return selected


def hidden_folders(layouts: Iterable[Layout]) -> frozenset[str]:
    """Return the names of hidden folders in the patterns of all lookup rules, such as `.claude`."""
    return frozenset(
        name
        for layout in layouts
        for lookup in layout.lookups
        for group in lookup.groups
        for pattern in group
        for name in f"{pattern.default}/{pattern.path}".split("/")[:-1]
        if name.startswith(".") and "*" not in name and name.strip(".")
    )


class _PatternIndex:
    """Patterns, indexed so that most names can be rejected without matching globs."""

    def __init__(self, patterns: Iterable[str]) -> None:
        split_patterns = [tuple(pattern.split("/")) for pattern in dict.fromkeys(patterns)]
        self.names = {segments[0] for segments in split_patterns if len(segments) == 1 and "*" not in segments[0]}
        self.complex_patterns = [segments for segments in split_patterns if len(segments) > 1 or "*" in segments[0]]
        self.anywhere = tuple(filter(_starts_anywhere, self.complex_patterns))
        self.by_first_name: dict[str, list[tuple[str, ...]]] = {}
        for segments in self.complex_patterns:
            if not _starts_anywhere(segments):
                self.by_first_name.setdefault(segments[0], []).append(segments)
        self.hidden_folders = {
            name for segments in split_patterns for name in segments[:-1] if name.startswith(".") and "*" not in name
        }

    def may_contain_files(self, folder: str) -> bool:
        """Whether a folder of this name should be searched."""
        return folder not in SKIPPED_FOLDERS and (not folder.startswith(".") or folder in self.hidden_folders)

    def folders_to_search(self, entries: Mapping[str, EntryKind], also: str = "") -> list[str]:
        """Return the names of those folders that should be searched, including the one called `also`."""
        if "folder" not in entries.values():
            return []
        return [
            name
            for name, kind in entries.items()
            if kind == "folder" and (name == also or self.may_contain_files(name))
        ]

    def select(self, parts: Sequence[str], names: Iterable[str]) -> Collection[str]:
        """Return those of the names that match in the folder with these path segments."""
        candidates = [segments for name in set(parts) for segments in self.by_first_name.get(name, ())]
        if not candidates and not self.anywhere:
            return self.names.intersection(names)
        folder, patterns = "/".join(parts), (*self.anywhere, *candidates)
        return [name for name in names if name in self.names or _matches(folder, name, patterns)]


def _starts_anywhere(segments: Sequence[str]) -> bool:
    """Whether a pattern may match in a folder of any name."""
    return len(segments) == 1 or "*" in segments[0]


def _matches(folder: str, name: str, patterns: Iterable[Sequence[str]]) -> bool:
    return any(
        ("*" in segments[-1] or segments[-1] == name) and matches_glob(f"{folder}/{name}", f"**/{'/'.join(segments)}")
        for segments in patterns
    )
