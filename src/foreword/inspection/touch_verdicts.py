"""Determines which instruction files are sent when an agent touches a file: those in the folders above it that its layout finds."""

from __future__ import annotations

from posixpath import dirname

from ..sources.globs import matches_glob
from ..sources.paths import is_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ..layout.model import Layout, Lookup, Pattern
    from ..vocabulary import Inputs


def find_touch_rule(
    path: str, layout: Layout, inputs: Inputs, root: str, cwd: str, files: Collection[str]
) -> tuple[str, Lookup, Pattern] | None:
    """Find out whether an instruction file is added when another file in its folder is touched.

    Returns the folder, the lookup rule and the pattern, or None if it is not. `files` are the instruction files that exist; of those
    in a group, only the first counts.
    """
    for lookup in layout.touch.lookups if layout.touch else ():
        if not _applies(lookup, inputs) or (lookup.within == "cwd" and not is_inside(path, cwd)):
            continue
        for group in lookup.groups:
            for number, pattern in enumerate(group):
                folder = _find_base_folder(path, pattern, root, cwd) if pattern.place == "down" else ""
                if folder and not _has_file_for_earlier_pattern(folder, group[:number], files):
                    return folder, lookup, pattern
    return None


def _applies(lookup: Lookup, inputs: Inputs) -> bool:
    """Whether a lookup rule's conditions about other lookup rules hold."""
    found = {f"found:{name}" for name, entries in inputs.found.items() if entries}
    return all(any(fact in found for fact in term.facts) != term.negated for term in lookup.when)


def _find_base_folder(path: str, pattern: Pattern, root: str, cwd: str) -> str:
    """Return the folder from which a pattern finds a file, or empty if that folder is the working directory or above it."""
    for folder in _folders_above(path, root):
        if matches_glob(path[len(folder) :], pattern.path) and not is_inside(cwd, folder):
            return folder
    return ""


def _folders_above(path: str, root: str) -> Iterator[str]:
    folder = dirname(path)
    while folder != root and is_inside(folder, root):
        yield folder
        folder = dirname(folder)


def _has_file_for_earlier_pattern(folder: str, patterns: Sequence[Pattern], files: Collection[str]) -> bool:
    return any(f"{folder}/{pattern.path}" in files for pattern in patterns)
