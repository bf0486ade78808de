"""The one finder: it searches the places of a layout's patterns for instruction files, SYSTEM.md, skills and residents.

Text files come farthest first, skills nearest first. From a group it takes the first file that is neither blank nor unreadable; each
of the others is a candidate with its fate. `gather` decides which of two equal files to keep, across all finds.
"""

from __future__ import annotations

import os
import re

from ..findings import finding
from ..text.lines import printable
from ..vocabulary import Candidate, value
from .files import GONE
from .links import WORKSPACE_PLACES, reach_of
from .paths import config_folder, is_inside
from .stamps import real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..layout.model import Find, Pattern
    from ..vocabulary import Fate, Finding, Workspace
    from .files import Reader
    from .links import Reach
    from .readings import Reading
    from .stamps import Refusal

# Other people's code is never searched, and every search has a limit.
_SKIPPED = frozenset(("node_modules",))
_MAX_FOLDERS = 20_000
SKILL_FILE = "SKILL.md"
_MAX_LINKED_FOLDERS = 1_000
_LAYERS = {"home": "user", "config": "user", "path": "extra"}


@value
class Bound:
    """The folder that a file's includes must be in, and whether it is the user's own, to which the scope's rows do not apply."""

    folder: str
    is_users_own: bool = False


@value
class Slot:
    """The alternatives of a group in one directory, best first: each pattern with the directory it starts from."""

    patterns: Sequence[tuple[Pattern, str]]


class Trail:
    """The record of a search: candidates with their fates, and findings."""

    def __init__(self) -> None:
        self.candidates: list[Candidate] = []
        self.findings: list[Finding] = []

    def record(self, path: str, layer: str, fate: Fate, reason: str = "", code: str = "", target: str = "") -> None:
        """Record a candidate's fate, and a finding if there is a code for it."""
        shown = printable(path)
        self.candidates.append(Candidate(shown, layer, fate, reason, printable(target)))
        if code:
            self.findings.append(finding(code, f"{shown}: {reason}", shown))

    def refuse(self, path: str, layer: str, refusal: Refusal, link: str = "") -> None:
        """Record a file or folder that may not be read. The finding names the link that leads to it, so each link has one."""
        fate, reason, code = refusal
        shown, link = printable(path), printable(link or path)
        about = reason if link == shown else f"{link}: {reason}"
        self.candidates.append(Candidate(shown, layer, fate, about))
        self.findings.append(finding(code, f"{link}: {reason}", link))


def slots(find: Find, workspace: Workspace, trail: Trail) -> Iterator[Slot]:
    """Every slot to search, in order. Adjacent groups of the place `walk` are searched together, directory by directory."""
    run: list[Sequence[Pattern]] = []
    for group in find.groups:
        if group and group[0].place == "walk":
            run.append(group)
            continue
        yield from _walked(run, find, workspace)
        run = []
        yield Slot(
            tuple((pattern, base) for pattern in group if (base := _base(pattern, workspace, trail)) is not None)
        )
    yield from _walked(run, find, workspace)


def _walked(run: Sequence[Sequence[Pattern]], find: Find, workspace: Workspace) -> Iterator[Slot]:
    if not run:
        return
    is_confined = any(pattern.confined for group in run for pattern in group)
    directories = walked_directories("git" if is_confined else find.walk, workspace)
    for directory in directories if find.kind == "text" else reversed(directories):
        for group in run:
            yield Slot(tuple((pattern, directory) for pattern in group))


def walked_directories(walk: str, workspace: Workspace) -> list[str]:
    """The directories of the place `walk`, farthest first."""
    root, cwd = workspace.root or workspace.cwd, workspace.cwd
    top = None if walk == "root" or (walk == "git-or-root" and not workspace.is_repository) else root
    is_reached_by_link = top is not None and not is_inside(cwd, top)
    directories = [real_path(cwd) if is_reached_by_link else cwd]
    while directories[-1] != top and (above := os.path.dirname(directories[-1])) != directories[-1]:
        directories.append(above)
    directories[0] = cwd
    return directories[::-1]


def _base(pattern: Pattern, workspace: Workspace, trail: Trail) -> str | None:
    """The directory that a pattern starts from; None, with a finding, if it is not allowed or not known."""
    is_own = pattern.place in WORKSPACE_PLACES or (pattern.place == "path" and pattern.path[:1] not in ("/", "~"))
    if pattern.confined and not is_own:
        message = f"the workspace's own layout or settings may search only the workspace, not '{pattern.place}:{pattern.path}'"
        trail.findings.append(finding("workspace-refused", message))
        return None
    if pattern.place == "cwd":
        return workspace.cwd
    if pattern.place == "root":
        return workspace.root
    base = workspace.home if pattern.place == "home" or pattern.path.startswith("~/") else config_folder(workspace)
    if pattern.place == "path" and not pattern.path.startswith("~/"):
        return workspace.cwd
    if base is None and not any(each.code == "home-missing" for each in trail.findings):
        trail.findings.append(finding("home-missing", _missing_place(workspace)))
    return base


def _missing_place(workspace: Workspace) -> str:
    if workspace.home:
        return "the folder of the user's settings is unknown because APPDATA is not set; the files in it were skipped"
    name = "USERPROFILE" if workspace.platform == "win32" else "HOME"
    return f"the home directory is unknown because {name} is not set; the user's own files were skipped"


def layer_of(find: Find, pattern: Pattern) -> str:
    """The layer of the files that a pattern finds."""
    return find.layer or _LAYERS.get(pattern.place, "project")


def bound_of(path: str, pattern: Pattern, find: Find, workspace: Workspace) -> Bound:
    """The folder that a file's includes must be in: the workspace for a file of the project, the pattern's folder for the user's."""
    root = workspace.root or workspace.cwd
    if pattern.place in WORKSPACE_PLACES or (pattern.place == "path" and is_inside(path, root)):
        return Bound(root)
    for each in (each for group in find.groups for each in group if each.place not in WORKSPACE_PLACES):
        base = _base(each, workspace, Trail())
        folder = os.path.dirname(
            os.path.normpath(os.path.join(base or "/", each.path.removeprefix("~/").partition("*")[0]))
        )
        if base and is_inside(path, folder):
            return Bound(folder, is_users_own=True)
    return Bound(os.path.dirname(path), is_users_own=True)


def matches(
    pattern: Pattern, base: str, find: Find, reader: Reader, trail: Trail, layer: str, reach: Reach
) -> list[str]:
    """The paths that a pattern matches below its base: one, or with `*` and `**` those that exist, by code point."""
    path = pattern.path
    if "*" not in path and pattern.place != "path" and ".." not in path:
        return [f"{base}/{path}" if base != "/" else f"/{path}"]
    start, wildcards = _split_at_wildcard(pattern, base)
    if not wildcards:
        return [start]
    if pattern.place == "path" and not reader.is_folder(start) and not reader.problem(start):
        shown = printable(start)
        trail.findings.append(finding("folder-missing", f"{shown} should be searched, but it is not a folder", shown))
    found = _Search(reader, trail, layer, reach, find.kind == "skill").matching(start, wildcards)
    return found if find.kind == "skill" else list(dict.fromkeys(sorted(found)))


def _split_at_wildcard(pattern: Pattern, base: str) -> tuple[str, list[str]]:
    """The directory in which a pattern starts, and its segments from the first wildcard on."""
    path = pattern.path.removeprefix("~/") if pattern.place == "path" else pattern.path
    start = "/" if pattern.place == "path" and path.startswith("/") else base
    segments = [segment for segment in path.split("/") if segment not in ("", ".")]
    fixed = next((number for number, segment in enumerate(segments) if "*" in segment), len(segments))
    return os.path.normpath(os.path.join(start, *segments[:fixed])), segments[fixed:]


def _matching_names(names: Sequence[str], segment: str) -> list[str]:
    """The names that a segment of a pattern matches; a leading `*` does not match hidden names."""
    if "*" not in segment:
        return [segment] if segment in names else []
    regex = re.compile(".*".join(map(re.escape, segment.split("*"))), re.DOTALL)
    skips_hidden = segment.startswith("*")
    return [name for name in names if regex.fullmatch(name) and not (skips_hidden and name.startswith("."))]


class _Search:
    """Searches for the files of a pattern with wildcards."""

    def __init__(self, reader: Reader, trail: Trail, layer: str, reach: Reach, is_skill: bool) -> None:
        self.reader, self.trail, self.layer, self.reach, self.is_skill = reader, trail, layer, reach, is_skill
        self.skill_folders: set[str] = set()

    def matching(self, folder: str, segments: Sequence[str]) -> list[str]:
        """The paths below a folder that match these segments."""
        first, rest = segments[0], list(segments[1:])
        if first == "**":
            return list(self.at_any_depth(folder, rest or ["*"]))
        found = [os.path.join(folder, name) for name in _matching_names(self.names(folder), first)]
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
        """The folders in a folder, in reverse order, without hidden ones."""
        names = [each for each in self.names(folder) if not each.startswith(".") and each not in _SKIPPED]
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


def choose(
    slot: Slot, find: Find, workspace: Workspace, reader: Reader, trail: Trail
) -> list[tuple[Reading, Pattern, bool]]:
    """The usable files of a group, best first, each with whether it is used. Only files of the first pattern that matches are used.

    Files without text are recorded on the trail. So are files that only point at another one; they count as absent.
    """
    texts: list[tuple[Reading, Pattern, bool]] = []
    is_open = True
    for pattern, base in slot.patterns:
        layer = layer_of(find, pattern)
        reach = reach_of(pattern, base, find, workspace)
        readings = [reader.read(path, reach) for path in matches(pattern, base, find, reader, trail, layer, reach)]
        if len(readings) == 1 and readings[0].fate == "absent" and "*" not in pattern.path:
            trail.record(readings[0].path, layer, "absent", readings[0].reason, readings[0].code)
            continue
        usable = [each for each in readings if _is_usable(each, "*" in pattern.path, find, layer, reader, trail, reach)]
        texts += [(each, pattern, is_open) for each in usable]
        is_open = is_open and not usable
    return texts


def _is_usable(
    reading: Reading, was_listed: bool, find: Find, layer: str, reader: Reader, trail: Trail, reach: Reach
) -> bool:
    if record_refused(reading, layer, reader, trail, reach):
        return False
    if not reading.has_text:
        is_gone = was_listed and reading.fate == "absent"
        reason = reading.reason or (
            "it contains only white space" if reading.fate == "blank" else GONE if is_gone else ""
        )
        trail.record(reading.path, layer, reading.fate, reason, "file-unreadable" if is_gone else reading.code)
        return False
    target = pointed_at(reading, find, reader)
    if target:
        reason = f"it only points at {os.path.basename(target)}"
        trail.record(reading.path, layer, "duplicate", reason, "file-duplicate", target)
        return False
    _report_other_case(reading.path, reader, trail)
    return True


def record_refused(reading: Reading, layer: str, reader: Reader, trail: Trail, reach: Reach) -> bool:
    """Record a file that may not be read, or a link that was followed out of the workspace. Return whether it was refused."""
    if reading.fate in ("refused", "untrusted"):
        refusal = (reading.fate, reading.reason, reading.code)
        trail.refuse(reading.path, layer, refusal, reach.link(reader, reading.path))
        return True
    if reading.has_text and reach.follow and reach.leads_out(reader, reading.path):
        shown = printable(reading.path)
        message = f"{shown} is a link that leaves the workspace; it was followed because of the setting links"
        trail.findings.append(finding("file-outside", message, shown))
    return False


def _report_other_case(path: str, reader: Reader, trail: Trail) -> None:
    folder, name = os.path.split(path)
    for variant in sorted({name.lower(), name.upper(), name.capitalize()} - {name}):
        other = os.path.join(folder, variant)
        if not reader.has_entry(other):
            continue
        reader.stamp(other)
        if reader.identity(other) != reader.identity(path):
            shown = printable(other)
            trail.findings.append(finding("file-case", f"{shown} was not read: it must be named {name}", shown))


_POINTER = r"@?(?:\./)?([\w.-]+\.md)\s*"


def pointed_at(reading: Reading, find: Find, reader: Reader) -> str:
    """The file in the same folder whose name is all that a file contains: an import line, or a link checked out as text.

    Empty unless the find searches for that file too; otherwise nobody would read it.
    """
    if len(reading.text) > 200 or not (match := re.fullmatch(_POINTER, reading.text, re.IGNORECASE)):
        return ""
    if all(os.path.basename(pattern.path) != match[1] for group in find.groups for pattern in group):
        return ""
    target = os.path.join(os.path.dirname(reading.path), match[1])
    if target == reading.path or not reader.has_entry(target):
        return ""
    reader.stamp(target)
    return target
