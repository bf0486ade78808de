"""Searches for the files of a pattern with wildcards, within limits."""

from __future__ import annotations

import os
import re

from ..findings import finding
from ..text.lines import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .files import Reader
    from .links import Reach
    from .trail import Trail

# Other people's code is never searched, and every search has a limit.
_SKIPPED = frozenset(("node_modules", ".git"))
_MAX_FOLDERS = 20_000
SKILL_FILE = "SKILL.md"
_MAX_LINKED_FOLDERS = 1_000


def _matching_names(names: Sequence[str], segment: str, hidden: bool = False) -> list[str]:
    """The names that a segment of a pattern matches; unless `hidden`, a leading `*` does not match hidden names."""
    if "*" not in segment:
        return [segment] if segment in names else []
    regex = re.compile(".*".join(map(re.escape, segment.split("*"))), re.DOTALL)
    skips_hidden = segment.startswith("*") and not hidden
    return [name for name in names if regex.fullmatch(name) and not (skips_hidden and name.startswith("."))]


class Search:
    """Searches for the files of a pattern with wildcards."""

    def __init__(
        self, reader: Reader, trail: Trail, layer: str, reach: Reach, is_skill: bool, hidden: bool = False
    ) -> None:
        self.reader, self.trail, self.layer, self.reach, self.is_skill = reader, trail, layer, reach, is_skill
        self.hidden = hidden
        self.skill_folders: set[str] = set()

    def matching(self, folder: str, segments: Sequence[str]) -> list[str]:
        """The paths below a folder that match these segments."""
        first, rest = segments[0], list(segments[1:])
        if first == "**":
            return list(self.at_any_depth(folder, rest or ["*"]))
        found = [os.path.join(folder, name) for name in _matching_names(self.names(folder), first, self.hidden)]
        if not rest:
            return found if first != "*" else [each for each in found if not self.reader.is_folder(each)]
        if "*" not in "".join(rest):
            return [path for each in found if (path := self.file_below(each, rest))]
        return [path for each in found if self.reader.is_folder(each) for path in self.matching(each, rest)]

    def file_below(self, folder: str, rest: Sequence[str]) -> str:
        """The file `rest` below a folder, for a skill in any letter case, such as `skill.md`; empty if it is missing."""
        path = os.path.join(folder, *rest)
        return path if self.exists(path, folder) else self.in_another_case(folder, rest)

    def in_another_case(self, folder: str, rest: Sequence[str]) -> str:
        if not self.is_skill or list(rest) != [SKILL_FILE]:
            return ""
        names, _ = self.reader.entries(folder, self.reach)
        other = next((name for name in names if name.lower() == SKILL_FILE.lower()), "")
        return os.path.join(folder, other) if other else ""

    def exists(self, path: str, folder: str) -> bool:
        """Whether a file below a folder exists. A folder without it is stamped, so that the file is noticed when it is created."""
        if self.is_refused(folder):
            return False
        if self.reader.has_entry(path):
            return True
        if self.reader.is_folder(folder):
            self.reader.stamp(folder)
        return False

    def is_refused(self, folder: str) -> bool:
        """Whether a folder is a link that may not be followed; if so, record it."""
        refusal = self.reach.refusal(self.reader, folder, is_folder=True)
        if refusal is None:
            return False
        self.reader.stamp(folder)
        if self.reader.is_folder(folder):
            self.trail.refuse(folder, self.layer, refusal, self.reach.link(self.reader, folder))
        return True

    def at_any_depth(self, top: str, rest: Sequence[str]) -> Iterator[str]:
        """Files `rest` in `top` and in the folders below it. Links are followed; a folder is visited once, so circles end."""
        is_fixed = "*" not in "".join(rest)
        for folder in self.walk(top):
            if not is_fixed:
                yield from self.matching(folder, rest)
                continue
            path = os.path.join(folder, *rest)
            if not self.reader.has_entry(path):
                path = self.in_another_case(folder, rest)
            if path:
                yield path
                if self.is_skill and folder != top:
                    self.skill_folders.add(folder)

    def walk(self, top: str) -> Iterator[str]:
        """`top` and the folders below it, each before those in it, by code point."""
        reader = self.reader
        seen: set[tuple[int, int]] = set()
        waiting = [top]
        through_links = 0
        while waiting:
            folder = waiting.pop()
            identity = reader.identity(folder) if reader.is_folder(folder) else None
            if identity is None:
                self.names(folder)
                continue
            if identity in seen:
                reader.stamp(folder)
                continue
            if self.is_refused(folder):
                continue
            seen.add(identity)
            through_links += reader.has_link(folder, self.reach.folder)
            if len(seen) > _MAX_FOLDERS or through_links > _MAX_LINKED_FOLDERS:
                self.report_limit(top, through_links > _MAX_LINKED_FOLDERS)
                return
            # A folder of skills may contain checkouts; other files in another repository do not belong to this one.
            if folder != top and not self.is_skill and reader.has_git(folder):
                continue
            yield folder
            if folder not in self.skill_folders:
                waiting.extend(self.folders_in(folder))

    def folders_in(self, folder: str) -> list[str]:
        """The folders in a folder, in reverse order, without hidden ones, unless the lookup searches those too."""
        names = [each for each in self.names(folder) if self.hidden or not each.startswith(".")]
        names = [each for each in names if each not in _SKIPPED]
        below = [os.path.join(folder, name) for name in reversed(names)]
        folders = {each: self.reader.is_folder(each) for each in below}
        problems = [problem for each in below if not folders[each] and (problem := self.reader.problem(each))]
        if problems:
            reason = f"{len(problems):,} of its entries could not be examined: {problems[0]}"
            self.trail.record(folder, self.layer, "unreadable", reason, "file-unreadable")
        return [each for each in below if folders[each]]

    def report_limit(self, top: str, is_linked: bool) -> None:
        limit = f"{_MAX_LINKED_FOLDERS:,} folders reached by links" if is_linked else f"{_MAX_FOLDERS:,} folders"
        message = f"{printable(top)} contains more than {limit}; the rest was not searched"
        self.trail.findings.append(finding("scan-limit", message, printable(top)))

    def names(self, folder: str) -> list[str]:
        names, refusal = self.reader.entries(folder, self.reach)
        if refusal and refusal[2] == "link-refused":
            self.trail.refuse(folder, self.layer, refusal, self.reach.link(self.reader, folder))
        elif refusal:
            self.trail.record(folder, self.layer, *refusal)
        return names
