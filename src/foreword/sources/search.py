"""Searches for files that match a pattern with wildcards, within limits."""

from __future__ import annotations

import os

from ..findings import finding
from ..text.lines import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .links import Reach
    from .reader import Reader
    from .trail import Trail

# Third-party code is never searched, and every search has a limit.
_SKIPPED_FOLDERS = frozenset(("node_modules", ".git"))
_MAX_FOLDERS = 20_000
_MAX_MATCHES = 20_000
SKILL_FILE = "SKILL.md"
_MAX_LINKED_FOLDERS = 1_000


def _matching_names(names: Sequence[str], segment: str, hidden: bool = False) -> list[str]:
    """Return the names that a pattern segment matches. Unless `hidden`, a leading `*` does not match hidden names."""
    if "*" not in segment:
        return [segment] if segment in names else []
    parts = segment.split("*")
    skips_hidden = segment.startswith("*") and not hidden
    return [name for name in names if _contains_in_order(name, parts) and not (skips_hidden and name.startswith("."))]


def _contains_in_order(name: str, parts: Sequence[str]) -> bool:
    """Whether a name consists of these parts with anything between them."""
    position, end = len(parts[0]), len(name) - len(parts[-1])
    if position > end or not name.startswith(parts[0]) or not name.endswith(parts[-1]):
        return False
    for part in parts[1:-1]:
        position = name.find(part, position, end) + len(part)
        if position < len(part):
            return False
    return True


class Search:
    """Searches for files that match a pattern with wildcards."""

    def __init__(
        self, reader: Reader, trail: Trail, layer: str, reach: Reach, is_skill: bool, hidden: bool = False
    ) -> None:
        self.reader, self.trail, self.layer, self.reach, self.is_skill = reader, trail, layer, reach, is_skill
        self.hidden = hidden
        self.skill_folders: set[str] = set()
        self.match_count, self.is_limit_reported = 0, False

    def matching(self, folder: str, segments: Sequence[str]) -> list[str]:
        """Return the paths below a folder that match these segments."""
        first, rest = segments[0], list(segments[1:])
        if first == "**":
            return list(self.matching_at_any_depth(folder, rest or ["*"]))
        names = self.limited(_matching_names(self.names(folder), first, self.hidden), folder, segments)
        found = [os.path.join(folder, name) for name in names]
        if not rest:
            return found if first != "*" else [path for path in found if not self.reader.is_folder(path)]
        if "*" not in "".join(rest):
            return [path for subfolder in found if (path := self.file_below(subfolder, rest))]
        subfolders = [path for path in found if self.reader.is_folder(path)]
        return [path for subfolder in subfolders for path in self.matching(subfolder, rest)]

    def limited(self, names: list[str], folder: str, segments: Sequence[str]) -> list[str]:
        """Return the names that the limit on all matches still allows. The first time that it does not allow all, it is reported."""
        room = _MAX_MATCHES - self.match_count
        if len(names) > room and not self.is_limit_reported:
            self.is_limit_reported = True
            self.report_limit(folder, f"{_MAX_MATCHES:,} files and folders that match '{'/'.join(segments)}'")
        self.match_count += min(len(names), room)
        return names[:room]

    def file_below(self, folder: str, rest: Sequence[str]) -> str:
        """Return the path `rest` below a folder, or empty if it is missing. A SKILL.md may be in another letter case, such as `skill.md`."""
        path = os.path.join(folder, *rest)
        return path if self.exists(path, folder) else self.skill_in_other_case(folder, rest)

    def skill_in_other_case(self, folder: str, rest: Sequence[str]) -> str:
        if not self.is_skill or list(rest) != [SKILL_FILE]:
            return ""
        names, _ = self.reader.entries(folder, self.reach)
        other_name = next((name for name in names if name.lower() == SKILL_FILE.lower()), "")
        return os.path.join(folder, other_name) if other_name else ""

    def exists(self, path: str, folder: str) -> bool:
        """Whether a file below a folder exists. If not, the folder is stamped, so that the file is noticed when it is created."""
        if self.is_refused(folder):
            return False
        if self.reader.has_entry(path):
            return True
        if self.reader.is_folder(folder):
            self.reader.stamp(folder)
        return False

    def is_refused(self, folder: str) -> bool:
        """Whether a folder is a link that may not be followed. If so, it is recorded."""
        refusal = self.reach.refusal(self.reader, folder, is_folder=True)
        if refusal is None:
            return False
        self.reader.stamp(folder)
        if self.reader.is_folder(folder):
            self.trail.refuse(folder, self.layer, refusal, self.reach.link(self.reader, folder))
        return True

    def matching_at_any_depth(self, top: str, rest: Sequence[str]) -> Iterator[str]:
        """Yield the files that match `rest` in `top` and the folders below it. Links are followed, but each folder is visited only once."""
        is_fixed = "*" not in "".join(rest)
        for folder in self.walk(top):
            if not is_fixed:
                yield from self.matching(folder, rest)
                continue
            path = "/".join((folder.rstrip("/"), *rest))
            if not self.reader.has_entry(path):
                path = self.skill_in_other_case(folder, rest)
            if path:
                yield path
                if self.is_skill and folder != top:
                    self.skill_folders.add(folder)

    def walk(self, top: str) -> Iterator[str]:
        """Yield `top` and the folders below it, parents first, sorted by code point."""
        reader = self.reader
        seen: set[tuple[int, int]] = set()
        pending = [top]
        linked_count = 0
        while pending:
            folder = pending.pop()
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
            linked_count += reader.has_link(folder, self.reach.folder)
            if len(seen) > _MAX_FOLDERS or linked_count > _MAX_LINKED_FOLDERS:
                is_linked = linked_count > _MAX_LINKED_FOLDERS
                self.report_limit(
                    top,
                    f"{_MAX_LINKED_FOLDERS:,} folders reached by links" if is_linked else f"{_MAX_FOLDERS:,} folders",
                )
                return
            # Skill folders may contain checkouts of other repositories; other lookups do not search nested repositories.
            if folder != top and not self.is_skill and reader.has_git(folder):
                continue
            yield folder
            if folder not in self.skill_folders:
                pending.extend(self.folders_in(folder))

    def folders_in(self, folder: str) -> list[str]:
        """Return the folders in a folder, in reverse order. Hidden ones are included only if the lookup rule searches them."""
        names = [name for name in self.names(folder) if self.hidden or not name.startswith(".")]
        names = [name for name in names if name not in _SKIPPED_FOLDERS]
        prefix = folder.rstrip("/") + "/"
        paths = [prefix + name for name in reversed(names)]
        folders = {path: self.reader.is_folder(path) for path in paths}
        self.report_problems(folder, [path for path in paths if not folders[path]])
        return [path for path in paths if folders[path]]

    def report_problems(self, folder: str, paths: Iterable[str]) -> None:
        """Record a folder if some of its entries could not be examined."""
        problems = [problem for path in paths if (problem := self.reader.problem(path))]
        if problems:
            reason = f"{len(problems):,} of its entries could not be examined: {problems[0]}"
            self.trail.record(folder, self.layer, "unreadable", reason, "file-unreadable")

    def report_limit(self, top: str, limit: str) -> None:
        message = f"{printable(top)} contains more than {limit}; the rest was not searched"
        self.trail.findings.append(finding("scan-limit", message, printable(top)))

    def names(self, folder: str) -> list[str]:
        names, refusal = self.reader.entries(folder, self.reach)
        if refusal and refusal[2] == "link-refused":
            self.trail.refuse(folder, self.layer, refusal, self.reach.link(self.reader, folder))
        elif refusal:
            self.trail.record(folder, self.layer, *refusal)
        return names
