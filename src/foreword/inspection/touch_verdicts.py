"""Which files an agent is sent when it touches a file: instruction files in the folders on the way to it, found by its layout's patterns. Pure."""

from __future__ import annotations

from posixpath import dirname

from ..sources.globs import matches_glob
from ..sources.paths import is_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ..layout.model import Layout, Lookup, Pattern
    from ..vocabulary import Inputs


def brought_by_touch(
    path: str, layout: Layout, inputs: Inputs, root: str, cwd: str, files: Collection[str]
) -> tuple[str, Lookup, Pattern] | None:
    """The folder in which touching a file adds an instruction file, and the lookup rule and pattern; None if none does.

    `files` are the instruction files that exist; only the first one in a group counts.
    """
    for lookup in layout.touch.lookups if layout.touch else ():
        if not _applies(lookup, inputs) or (lookup.within == "cwd" and not is_inside(path, cwd)):
            continue
        for group in lookup.groups:
            for number, pattern in enumerate(group):
                folder = _folder(path, pattern, root, cwd) if pattern.place == "down" else ""
                if folder and not _has_earlier(folder, group[:number], files):
                    return folder, lookup, pattern
    return None


def _applies(lookup: Lookup, inputs: Inputs) -> bool:
    """Whether a lookup rule's conditions on other lookup rules hold."""
    found = {f"found:{name}" for name, entries in inputs.found.items() if entries}
    return all(any(fact in found for fact in term.facts) != term.negated for term in lookup.when)


def _folder(path: str, pattern: Pattern, root: str, cwd: str) -> str:
    """The folder from which a pattern finds a file, if it is not on the way from the root to the working directory; otherwise empty."""
    for folder in _folders_above(path, root):
        if matches_glob(path[len(folder) :], pattern.path) and not is_inside(cwd, folder):
            return folder
    return ""


def _folders_above(path: str, root: str) -> Iterator[str]:
    folder = dirname(path)
    while folder != root and is_inside(folder, root):
        yield folder
        folder = dirname(folder)


def _has_earlier(folder: str, patterns: Sequence[Pattern], files: Collection[str]) -> bool:
    return any(f"{folder}/{pattern.path}" in files for pattern in patterns)
