"""Reduces lint's findings to those that say something new: once for each mistake, and nothing about files that are not shared."""

from __future__ import annotations

import os
import re

from ..sources.paths import is_inside
from ..sources.shared_files import ignored, left_out
from ..vocabulary import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..vocabulary import Finding

MISSING_FILE = "missing-file"
_MISSING_IMPORT = re.compile(r" not import @(\S+), because the file does not exist$")


def without_repeated_reasons(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings without those that another one says better.

    That a section is large is known if its file is cut or over an agent's limit, and that a text is repeated if an agent gets it twice.
    """
    findings = list(findings)
    too_long = {found.path for found in findings if found.code in ("cut-file", "over-limit")}
    said = {
        "oversized-section": too_long,
        "repeated-paragraph": {found.path for found in findings if found.code == "sent-twice"},
    }
    return [found for found in findings if found.path not in said.get(found.code, frozenset[str]())]


def without_files_of_git(findings: Sequence[Finding], root: str) -> list[Finding]:
    """Return the findings without missing files that git ignores, which a build or a person makes, or a sparse checkout leaves out."""
    paths = {
        found: set(_possible_paths(found.path, target, root))
        for found in findings
        if (target := _missing_target(found)) and is_inside(found.path, root)
    }
    names = set[str]().union(*paths.values())
    known = ignored(root, names) | left_out(root, names) if names else set[str]()
    return [found for found in findings if known.isdisjoint(paths.get(found, ()))]


def _missing_target(found: Finding) -> str:
    """Return the path in a finding about a file that does not exist, or empty if it is about something else."""
    if found.code == MISSING_FILE:
        return found.message.removesuffix(" does not exist")
    missing = _MISSING_IMPORT.search(found.message) if found.code == "unfollowed-import" else None
    return missing[1] if missing else ""


def _possible_paths(path: str, target: str, root: str) -> Iterator[str]:
    """Yield the paths, relative to the root, that a target in a file may mean."""
    folder = os.path.dirname(path)
    while is_inside(folder, root):
        path = os.path.normpath(os.path.join(folder, target))
        if is_inside(path, root):
            yield os.path.relpath(path, root)
        if folder == root:
            return
        folder = os.path.dirname(folder)


def fold_missing_files(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings, where those about one missing file in several files with the same name are one: often these are copies."""
    groups: dict[object, list[Finding]] = {}
    for found in findings:
        key = (found.message, os.path.basename(found.path)) if found.code == MISSING_FILE else found
        groups.setdefault(key, []).append(found)
    return [_name_others(group) for group in groups.values()]


def _name_others(group: Sequence[Finding]) -> Finding:
    """Return the first of these findings, which names the places of the others."""
    first, *others = group
    if not others:
        return first
    more = f" and {len(others) - 1:,} more" if len(others) > 1 else ""
    return replace(first, message=f"{first.message}; also in {others[0].path}:{others[0].line}{more}")
