"""The one finder: it searches the places of a layout's patterns for instruction files, SYSTEM.md, skills and residents.

Text files come farthest first, skills nearest first. From a group it takes the first file that is neither blank nor unreadable; each
of the others is a candidate with its fate. `gather` decides which of two equal files to keep, across all lookups.
"""

from __future__ import annotations

import os
import re

from ..findings import finding
from ..text.lines import printable
from ..vocabulary import replace, value
from .files import GONE
from .links import WORKSPACE_PLACES, reach_of
from .paths import is_inside, users_folder
from .search import Search
from .stamps import real_path
from .trail import Trail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..layout.model import Lookup, Pattern
    from ..vocabulary import Workspace
    from .files import Reader
    from .links import Reach
    from .readings import Reading

_LAYERS = {"home": "user", "config": "user", "env": "user", "system": "system", "path": "extra"}


@value
class Bound:
    """The folder that a file's includes must be in, and whether it is the user's own, to which the scope's rows do not apply."""

    folder: str
    is_users_own: bool = False


@value
class Slot:
    """The alternatives of a group in one directory, best first: each pattern with the directory it starts from."""

    patterns: Sequence[tuple[Pattern, str]]


def slots(lookup: Lookup, workspace: Workspace, trail: Trail, reader: Reader) -> Iterator[Slot]:
    """Every slot to search, in order. Adjacent groups of the place `walk` are searched together, directory by directory."""
    run: list[Sequence[Pattern]] = []
    for group in lookup.groups:
        place = group[0].place if group else ""
        if run and run[0][0].place != place:
            yield from _walked(run, lookup, workspace, reader)
            run = []
        if place in ("walk", "between"):
            run.append(group)
            continue
        patterns = [_with_root(pattern, workspace) for pattern in group]
        yield Slot(
            tuple((pattern, base) for pattern in patterns if (base := base_of(pattern, workspace, trail)) is not None)
        )
    yield from _walked(run, lookup, workspace, reader)


def _with_root(pattern: Pattern, workspace: Workspace) -> Pattern:
    """The pattern with `{root|slug}` filled in: the root's path with every character but letters and digits as a hyphen."""
    if "{root|slug}" not in pattern.path:
        return pattern
    slug = re.sub("[^A-Za-z0-9]", "-", workspace.root or workspace.cwd)
    return replace(pattern, path=pattern.path.replace("{root|slug}", slug))


def _walked(run: Sequence[Sequence[Pattern]], lookup: Lookup, workspace: Workspace, reader: Reader) -> Iterator[Slot]:
    if not run:
        return
    is_confined = any(pattern.confined for group in run for pattern in group)
    if lookup.markers is None or is_confined:
        directories = walked_directories("git" if is_confined else lookup.walk, workspace)
    else:
        directories = _marked_directories(lookup.markers, workspace, reader)
    if run[0][0].place == "between":
        directories = directories[1:-1]
    for directory in directories if lookup.kind == "text" and lookup.order != "nearest" else reversed(directories):
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


def _marked_directories(markers: Sequence[str], workspace: Workspace, reader: Reader) -> list[str]:
    """The directories from the nearest one that contains a marker down to the working directory, farthest first."""
    directories = walked_directories("root", workspace)
    for number in range(len(directories) - 1, -1, -1):
        if any(reader.has_entry(os.path.join(directories[number], each)) for each in markers):
            return directories[number:]
    return directories[-1:]


def base_of(pattern: Pattern, workspace: Workspace, trail: Trail) -> str | None:
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
    if pattern.place == "system":
        return "/"
    if pattern.place == "above":
        return _above_root(workspace)
    if pattern.place == "path" and not pattern.path.startswith("~/"):
        return workspace.cwd
    base = users_folder(pattern, workspace)
    if base is None and not any(each.code == "home-missing" for each in trail.findings):
        trail.findings.append(finding("home-missing", _missing_place(workspace)))
    return base


def _above_root(workspace: Workspace) -> str | None:
    """The directory above the git root; None outside a repository and for a repository that is the whole disk."""
    root = workspace.root or workspace.cwd
    above = os.path.dirname(root)
    return above if workspace.is_repository and above != root else None


def _missing_place(workspace: Workspace) -> str:
    if workspace.home:
        return "the folder of the user's settings is unknown because APPDATA is not set; the files in it were skipped"
    name = "USERPROFILE" if workspace.platform == "win32" else "HOME"
    return f"the home directory is unknown because {name} is not set; the user's own files were skipped"


def layer_of(lookup: Lookup, pattern: Pattern) -> str:
    """The layer of the files that a pattern finds."""
    return lookup.layer or _LAYERS.get(pattern.place, "project")


def bound_of(path: str, pattern: Pattern, lookup: Lookup, workspace: Workspace) -> Bound:
    """The folder that a file's includes must be in: the workspace for a file of the project, the pattern's folder for the user's."""
    root = workspace.root or workspace.cwd
    if pattern.place in (*WORKSPACE_PLACES, "above") or (pattern.place == "path" and is_inside(path, root)):
        return Bound(root)
    for each in (each for group in lookup.groups for each in group if each.place not in WORKSPACE_PLACES):
        base = base_of(each, workspace, Trail())
        folder = os.path.dirname(
            os.path.normpath(os.path.join(base or "/", each.path.removeprefix("~/").partition("*")[0]))
        )
        if base and is_inside(path, folder):
            return Bound(folder, is_users_own=True)
    return Bound(os.path.dirname(path), is_users_own=True)


def matches(
    pattern: Pattern, base: str, lookup: Lookup, reader: Reader, trail: Trail, layer: str, reach: Reach
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
    found = Search(reader, trail, layer, reach, lookup.kind == "skill", lookup.hidden).matching(start, wildcards)
    return found if lookup.kind == "skill" else list(dict.fromkeys(sorted(found)))


def _split_at_wildcard(pattern: Pattern, base: str) -> tuple[str, list[str]]:
    """The directory in which a pattern starts, and its segments from the first wildcard on."""
    path = pattern.path.removeprefix("~/") if pattern.place == "path" else pattern.path
    start = "/" if pattern.place == "path" and path.startswith("/") else base
    segments = [segment for segment in path.split("/") if segment not in ("", ".")]
    fixed = next((number for number, segment in enumerate(segments) if "*" in segment), len(segments))
    return os.path.normpath(os.path.join(start, *segments[:fixed])), segments[fixed:]


def choose(
    slot: Slot, lookup: Lookup, workspace: Workspace, reader: Reader, trail: Trail
) -> list[tuple[Reading, Pattern, bool]]:
    """The usable files of a group, best first, each with whether it is used. Only files of the first pattern that matches are used.

    Files without text are recorded on the trail. So are files that only point at another one; they count as absent.
    """
    texts: list[tuple[Reading, Pattern, bool]] = []
    is_open = True
    for pattern, base in slot.patterns:
        layer = layer_of(lookup, pattern)
        reach = reach_of(pattern, base, lookup, workspace)
        paths = matches(pattern, base, lookup, reader, trail, layer, reach)
        readings = [
            reader.read(path, reach)
            if lookup.rules.trim not in ("tail", "none")
            else _whole(path, reach, reader, lookup, trail)
            for path in paths
        ]
        if len(readings) == 1 and readings[0].fate == "absent" and "*" not in pattern.path:
            trail.record(readings[0].path, layer, "absent", readings[0].reason, readings[0].code)
            continue
        usable = [
            each
            for each in readings
            if _is_usable(each, "*" in pattern.path, lookup, layer, reader, trail, reach, workspace)
        ]
        texts += [(each, pattern, is_open) for each in usable]
        hides = lookup.rules.blank == "hide" and any(each.fate == "blank" for each in readings)
        is_open = is_open and not usable and not hides
    return texts


def _whole(path: str, reach: Reach, reader: Reader, lookup: Lookup, trail: Trail) -> Reading:
    """The text of a file with the white space around it. A file with nothing else is blank, unless the lookup keeps those."""
    reading = reader.read_whole(path, reach)
    if not reading.has_text or reading.text.strip():
        return reading
    if lookup.rules.blank != "keep":
        return replace(reading, fate="blank", text="")
    shown = printable(path)
    trail.findings.append(finding("file-blank", f"{shown} contains only white space; this layout keeps it", shown))
    return reading


def _is_usable(
    reading: Reading,
    was_listed: bool,
    lookup: Lookup,
    layer: str,
    reader: Reader,
    trail: Trail,
    reach: Reach,
    workspace: Workspace,
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
    if lookup.exclude and (glob := _excluding(reading.path, lookup, workspace)):
        trail.record(reading.path, layer, "unused", f"it is excluded by {glob!r}")
        return False
    if (lookup.where or lookup.unless) and not _fits(reading, lookup, layer, trail):
        return False
    target = pointed_at(reading, lookup, reader)
    if target:
        reason = f"it only points at {os.path.basename(target)}"
        trail.record(reading.path, layer, "duplicate", reason, "file-duplicate", target)
        return False
    _report_other_case(reading.path, reader, trail)
    return True


def _fits(reading: Reading, lookup: Lookup, layer: str, trail: Trail) -> bool:
    """Whether the front matter of a file fits the lookup; if not, the reason is recorded."""
    if lookup.below and f"/{lookup.below}/" not in reading.path:
        return True
    from .scoping import why_left_out

    fate, reason, awaited, problem = why_left_out(reading.text, lookup)
    if problem:
        shown = printable(reading.path)
        trail.findings.append(finding("front-matter-invalid", f"{shown}: {problem}", shown, 1))
    if fate:
        trail.record(reading.path, layer, fate, reason, target=awaited)
    return not fate


def _excluding(path: str, lookup: Lookup, workspace: Workspace) -> str:
    """The glob that excludes a file; empty if there is none."""
    from .globs import matches_glob

    for glob in lookup.exclude:
        whole = glob
        if glob.startswith("~/"):
            whole = f"{workspace.home or '~'}{glob[1:]}"
        elif not glob.startswith(("/", "**")):
            whole = f"{workspace.root or workspace.cwd}/{glob}"
        if matches_glob(path, whole):
            return glob
    return ""


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


def pointed_at(reading: Reading, lookup: Lookup, reader: Reader) -> str:
    """The file in the same folder whose name is all that a file contains: an import line, or a link checked out as text.

    Empty unless the lookup searches for that file too; otherwise nobody would read it. A layout that keeps copies keeps these.
    """
    if (
        lookup.copies == "keep"
        or lookup.rules.imports is not None
        or len(reading.text) > 200
        or not (match := re.fullmatch(_POINTER, reading.text, re.IGNORECASE))
    ):
        return ""
    if all(os.path.basename(pattern.path) != match[1] for group in lookup.groups for pattern in group):
        return ""
    target = os.path.join(os.path.dirname(reading.path), match[1])
    if target == reading.path or not reader.has_entry(target):
        return ""
    reader.stamp(target)
    return target
