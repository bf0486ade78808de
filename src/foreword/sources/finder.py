"""Finds instruction files, SYSTEM.md, skills and residents by a layout's lookup rules.

Text files are ordered farthest first, skills nearest first. From each group, the first file that is neither blank nor unreadable is
used; the others become candidates with their fates. `gather` removes duplicates across all lookup rules.
"""

from __future__ import annotations

import os

from ..findings import finding
from ..text import regex
from ..text.lines import printable
from ..vocabulary import replace, value
from .links import WORKSPACE_PLACES, reach_of
from .paths import absolute_path, is_inside, other_spellings, user_folder
from .places import parent_folder, real_path
from .reader import DISAPPEARED_REASON, FOLDER_REASON
from .search import Search
from .trail import Trail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..layout.model import Lookup, Pattern
    from ..vocabulary import Document, Workspace
    from .links import Reach
    from .reader import Reader
    from .readings import Reading

    # A group's alternatives in one directory, best first: each pattern with the directory it starts from and its reach.
    Slot = tuple[tuple[Pattern, str, Reach], ...]

_LAYERS = {"home": "user", "config": "user", "env": "user", "system": "system", "path": "extra"}


@value
class Bound:
    """The folder that a file's includes must be in. If it is the user's own folder, the scope does not restrict it."""

    folder: str
    is_users_own: bool = False


def find_slots(lookup: Lookup, workspace: Workspace, trail: Trail, reader: Reader) -> Iterator[Slot]:
    """Yield the slots to search, in order. Adjacent groups that start from `walk` are searched together, except in the orders `directory` and `pattern`."""
    walked_groups: list[Sequence[Pattern]] = []
    for group in lookup.groups:
        place = group[0].place if group else ""
        if walked_groups and (walked_groups[0][0].place != place or lookup.order in ("directory", "pattern")):
            yield from _walk_slots(walked_groups, lookup, workspace, reader)
            walked_groups = []
        if place in ("walk", "between", "down"):
            walked_groups.append(group)
            continue
        patterns = [_fill_in_root(pattern, workspace, reader) for pattern in group]
        yield tuple(
            (pattern, base, reach_of(pattern, base, lookup, workspace))
            for pattern in patterns
            if (base := base_of(pattern, workspace, trail)) is not None
        )
    yield from _walk_slots(walked_groups, lookup, workspace, reader)


def _fill_in_root(pattern: Pattern, workspace: Workspace, reader: Reader) -> Pattern:
    """Replace `{root|slug}` in a pattern with the main checkout's path, in which each character except letters and digits is a hyphen."""
    if "{root|slug}" not in pattern.path:
        return pattern
    from .repository import main_checkout

    slug = regex.sub("[^A-Za-z0-9]", "-", main_checkout(workspace, reader))
    return replace(pattern, path=pattern.path.replace("{root|slug}", slug))


def _walk_slots(
    walked_groups: Sequence[Sequence[Pattern]], lookup: Lookup, workspace: Workspace, reader: Reader
) -> Iterator[Slot]:
    if not walked_groups:
        return
    # In one directory, the reach depends only on whether a pattern is confined.
    sample_patterns = {pattern.confined: pattern for group in walked_groups for pattern in group}
    directories = _directories(walked_groups, lookup, workspace, reader, is_confined=True in sample_patterns)
    # If only one of several files with the same name is listed, it is the nearest.
    is_nearest_first = lookup.order in ("nearest", "pattern") if lookup.kind == "text" else lookup.same_name == "first"
    for directory in reversed(directories) if is_nearest_first else directories:
        reaches = {
            confined: reach_of(pattern, directory, lookup, workspace) for confined, pattern in sample_patterns.items()
        }
        for group in walked_groups:
            yield tuple([(pattern, directory, reaches[pattern.confined]) for pattern in group])


def _directories(
    walked_groups: Sequence[Sequence[Pattern]], lookup: Lookup, workspace: Workspace, reader: Reader, is_confined: bool
) -> Sequence[str]:
    """Return the directories in which these patterns are looked for, farthest first."""
    place = walked_groups[0][0].place
    if place == "down":
        return _with_matches(lookup.directories, walked_groups, reader)
    if lookup.markers is None or is_confined:
        directories = _without_main_checkout("git" if is_confined else lookup.walk, workspace, reader)
    else:
        directories = _marked_directories(lookup.markers, workspace, reader)
    return directories[1:-1] if place == "between" else directories


def _without_main_checkout(walk: str, workspace: Workspace, reader: Reader) -> list[str]:
    """Return the walked directories. With `checkout`, those of the checkout that a worktree inside it belongs to are left out."""
    directories, root = walked_directories(walk, workspace), workspace.root or workspace.cwd
    # The `.git` of a worktree is a file.
    if walk != "checkout" or not workspace.is_repository or reader.is_folder(os.path.join(root, ".git")):
        return directories
    from .repository import main_checkout

    main = main_checkout(workspace, reader)
    return [folder for folder in directories if is_inside(folder, root) or not is_inside(folder, main)]


def _with_matches(directories: Sequence[str], groups: Sequence[Sequence[Pattern]], reader: Reader) -> Sequence[str]:
    """Return the directories without those in which, according to an earlier walk, none of these patterns can match."""
    names = frozenset(pattern.path.partition("/")[0].lower() for group in groups for pattern in group)
    if reader.known is None or any("*" in name or name in ("", ".", "..") for name in names):
        return directories
    return [directory for directory in directories if reader.known.walked.may_contain(directory, names)]


def walked_directories(walk: str, workspace: Workspace) -> list[str]:
    """Return the directories that `walk` patterns search, farthest first."""
    root, cwd = workspace.root or workspace.cwd, workspace.cwd
    top = None if walk in ("root", "checkout") or (walk == "git-or-root" and not workspace.is_repository) else root
    is_reached_by_link = top is not None and not is_inside(cwd, top)
    directories = [real_path(cwd) if is_reached_by_link else cwd]
    while directories[-1] != top and (parent := parent_folder(directories[-1])) != directories[-1]:
        directories.append(parent)
    directories[0] = cwd
    return directories[::-1]


def _marked_directories(markers: Sequence[str], workspace: Workspace, reader: Reader) -> list[str]:
    """Return the directories from the nearest one that contains a marker down to the working directory, farthest first."""
    directories = walked_directories("root", workspace)
    for index in range(len(directories) - 1, -1, -1):
        if any(reader.has_entry(os.path.join(directories[index], marker)) for marker in markers):
            return directories[index:]
    return directories[-1:]


def base_of(pattern: Pattern, workspace: Workspace, trail: Trail) -> str | None:
    """Return the directory that a pattern starts from. Returns None, and reports a finding, if it is unknown or not allowed."""
    if pattern.confined and not _is_in_workspace(pattern, workspace):
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
        return _folder_above_root(workspace)
    if pattern.place == "path" and not pattern.path.startswith("~/"):
        return workspace.cwd
    base = user_folder(pattern, workspace)
    if base is None and (pattern.place != "env" or pattern.default):
        _report_missing_folder(workspace, trail)
    return base


def _report_missing_folder(workspace: Workspace, trail: Trail) -> None:
    if not any(reported.code == "home-missing" for reported in trail.findings):
        trail.findings.append(finding("home-missing", _missing_folder_message(workspace)))


def _is_in_workspace(pattern: Pattern, workspace: Workspace) -> bool:
    """Whether a pattern searches only the workspace."""
    if pattern.place != "path":
        return pattern.place in WORKSPACE_PLACES
    if pattern.path[:1] not in ("/", "~"):
        return True
    folder = absolute_path(pattern.path.partition("*")[0], workspace)
    return any(is_inside(folder, own) for own in (workspace.root, workspace.cwd) if own)


def _folder_above_root(workspace: Workspace) -> str | None:
    """Return the directory above the git root, or None outside a repository or if the repository is the whole disk."""
    root = workspace.root or workspace.cwd
    parent = parent_folder(root)
    return parent if workspace.is_repository and parent != root else None


def _missing_folder_message(workspace: Workspace) -> str:
    if workspace.home:
        return "the user's settings folder is unknown because APPDATA is not set; the files in it were skipped"
    name = "USERPROFILE" if workspace.platform == "win32" else "HOME"
    return f"the home directory is unknown because {name} is not set; the user's own files were skipped"


def layer_of(lookup: Lookup, pattern: Pattern) -> str:
    """Return the layer of the files that a pattern finds."""
    return lookup.layer or _LAYERS.get(pattern.place, "project")


def bound_of(path: str, pattern: Pattern, lookup: Lookup, workspace: Workspace) -> Bound:
    """Return the folder that a file's includes must be in: the workspace for a project file, otherwise the pattern's folder."""
    root = workspace.root or workspace.cwd
    if pattern.place in WORKSPACE_PLACES or (pattern.place == "path" and is_inside(path, root)):
        return Bound(root)
    for candidate in (
        candidate for group in lookup.groups for candidate in group if candidate.place not in WORKSPACE_PLACES
    ):
        base = base_of(candidate, workspace, Trail())
        folder = os.path.dirname(
            os.path.normpath(os.path.join(base or "/", candidate.path.removeprefix("~/").partition("*")[0]))
        )
        if base and is_inside(path, folder):
            return Bound(folder, is_users_own=True)
    return Bound(os.path.dirname(path), is_users_own=True)


def matching_paths(
    pattern: Pattern, base: str, lookup: Lookup, reader: Reader, trail: Trail, layer: str, reach: Reach
) -> list[str]:
    """Return the paths that a pattern matches below its base. Without wildcards, that is one path, which may be missing."""
    path = pattern.path
    if "*" not in path and pattern.place != "path" and ".." not in path:
        file = f"{base}/{path}" if base != "/" else f"/{path}"
        return [_in_any_case(file, reader) if lookup.any_case else file]
    start, wildcards = _split_at_wildcard(pattern, base)
    if not wildcards:
        return [start]
    if not reader.is_folder(start) and not reader.problem(start):
        if pattern.place == "path":
            display_path = printable(start)
            trail.findings.append(
                finding("folder-missing", f"{display_path} should be searched, but it is not a folder", display_path)
            )
        return []
    found = Search(reader, trail, layer, reach, lookup.kind == "skill", lookup.hidden).matching(start, wildcards)
    return found if lookup.kind == "skill" else list(dict.fromkeys(sorted(found)))


def _in_any_case(path: str, reader: Reader) -> str:
    """Return the path of a file, or of one in the same folder with another usual spelling of its name."""
    folder, name = os.path.split(path)
    walked = reader.known.walked if reader.known else None
    if walked and not walked.may_contain(folder, frozenset((name.lower(),))):
        return path
    others = (os.path.join(folder, spelling) for spelling in other_spellings(name))
    return path if reader.has_entry(path) else next(filter(reader.has_entry, others), path)


def searched_folder(pattern: Pattern, base: str) -> str:
    """Return the folder that a pattern with wildcards searches, or for a pattern without wildcards, its file's folder."""
    start, wildcards = _split_at_wildcard(pattern, base)
    return start if wildcards else os.path.dirname(start)


def _split_at_wildcard(pattern: Pattern, base: str) -> tuple[str, list[str]]:
    """Return the directory in which a pattern's search starts, and the segments from the first wildcard onwards."""
    path = pattern.path.removeprefix("~/") if pattern.place == "path" else pattern.path
    start = "/" if pattern.place == "path" and path.startswith("/") else base
    segments = [segment for segment in path.split("/") if segment not in ("", ".")]
    first_wildcard = next((index for index, segment in enumerate(segments) if "*" in segment), len(segments))
    return os.path.normpath(os.path.join(start, *segments[:first_wildcard])), segments[first_wildcard:]


def choose_files(
    slot: Slot, lookup: Lookup, workspace: Workspace, reader: Reader, trail: Trail
) -> list[tuple[Reading, Pattern, bool]]:
    """Return a slot's usable files as `_choose_files` does. Readers with shared contents choose once for all working directories."""
    if reader.known is None or lookup.directories:
        return _choose_files(slot, lookup, workspace, reader, trail)
    key = lookup.name, tuple([(pattern.path, base) for pattern, base, _ in slot])
    place = (
        workspace.root,
        workspace.home,
        (reader.encoding, reader.line_ends),
        [reach for _, _, reach in slot],
    )
    known = reader.known.choices.setdefault(key, [])
    for known_rule, known_place, chosen, candidates, findings, withheld, stamps in known:
        if known_place == place and known_rule == lookup:
            reader.stamps.update(stamps)
            trail.candidates.extend(candidates)
            trail.findings.extend(findings)
            trail.withheld.extend(withheld)
            return [(reading, slot[number][0], is_used) for reading, number, is_used in chosen]
    own, stamps_before, reader.stamps = Trail(), reader.stamps, {}
    files = _choose_files(slot, lookup, workspace, reader, own)
    own_stamps, reader.stamps = reader.stamps, stamps_before
    reader.stamps.update(own_stamps)
    patterns = [pattern for pattern, _, _ in slot]
    numbered = [(reading, patterns.index(pattern), is_used) for reading, pattern, is_used in files]
    known.append((lookup, place, numbered, own.candidates, own.findings, own.withheld, own_stamps))
    trail.candidates.extend(own.candidates)
    trail.findings.extend(own.findings)
    trail.withheld.extend(own.withheld)
    return files


def _choose_files(
    slot: Slot, lookup: Lookup, workspace: Workspace, reader: Reader, trail: Trail
) -> list[tuple[Reading, Pattern, bool]]:
    """Return a slot's usable files, best first, each with whether it is used. Only files that the first matching pattern finds are used.

    Files without text are recorded on the trail. So are files that only point to another file; they count as absent.
    """
    chosen: list[tuple[Reading, Pattern, bool]] = []
    may_use, count = True, len(trail.withheld)
    for pattern, base, reach in slot:
        layer = layer_of(lookup, pattern)
        paths = matching_paths(pattern, base, lookup, reader, trail, layer, reach)
        readings = _read_matches(paths, pattern, reach, reader, lookup, trail)
        if len(readings) == 1 and readings[0].fate == "absent" and "*" not in pattern.path:
            trail.record(readings[0].path, layer, "absent", readings[0].reason, readings[0].code)
            continue
        usable = [
            reading
            for reading in readings
            if _is_usable(reading, "*" in pattern.path, lookup, layer, reader, trail, reach, workspace)
        ]
        if reader.trust is not None and may_use and not trail.withheld[count:]:
            trail.withheld += _withheld_texts(readings, lookup, workspace)
        chosen += [(reading, pattern, may_use) for reading in usable]
        may_use = may_use and not usable and not _hides_others(readings, lookup)
    return chosen


def _hides_others(readings: Sequence[Reading], lookup: Lookup) -> bool:
    """Whether one of these files is blank, or empty or a folder in a rule that keeps blank files, and the rule uses no other file then."""
    fates = {"hide": ("blank",), "keep": ("blank", "unreadable")}.get(lookup.rules.blank, ())
    return any(reading.fate in fates for reading in readings)


def _read_matches(
    paths: Sequence[str], pattern: Pattern, reach: Reach, reader: Reader, lookup: Lookup, trail: Trail
) -> list[Reading]:
    """Read the files that a pattern matches. A folder in which another pattern searches is left out."""
    readings = []
    for path in paths:
        if lookup.rules.trim in ("tail", "none"):
            reading = _read_untrimmed(path, reach, reader, lookup, trail)
        else:
            reading = reader.read(path, reach, by_line=True)
        if not pattern.may_be_folder or reading.reason != FOLDER_REASON:
            readings.append(reading)
    return readings


def _read_untrimmed(path: str, reach: Reach, reader: Reader, lookup: Lookup, trail: Trail) -> Reading:
    """Read a file with the white space around its text. A file with only white space is blank, unless the rule keeps blank files."""
    reading = reader.read(path, reach, trim=False, by_line=True)
    if reading.fate == "blank" and lookup.rules.blank == "all":
        reading = replace(reading, fate="used")
    if not reading.has_text or reading.text.strip():
        return reading
    if not lookup.rules.keep_blank:
        return replace(reading, fate="blank", text="")
    display_path, content = printable(path), "contains only white space" if reading.text else "is empty"
    trail.findings.append(finding("file-blank", f"{display_path} {content}; this layout keeps it", display_path))
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
        _record_without_text(reading, was_listed, layer, trail)
        return False
    if lookup.exclude and (glob := _excluding_glob(reading.path, lookup, workspace)):
        trail.record(reading.path, layer, "unused", f"it is excluded by {glob!r}")
        return False
    if (lookup.where or lookup.unless) and not _meets_conditions(reading, lookup, layer, trail):
        return False
    target = pointer_target(reading, lookup, reader)
    if target:
        reason = f"it only points to {os.path.basename(target)}"
        trail.record(reading.path, layer, "duplicate", reason, "file-duplicate", target)
        return False
    _report_other_case(reading.path, reader, trail)
    return True


def _record_without_text(reading: Reading, was_listed: bool, layer: str, trail: Trail) -> None:
    """Record a file that is absent, blank or unreadable. One that was in its folder's list a moment ago has disappeared."""
    is_gone = was_listed and reading.fate == "absent"
    reason = reading.reason or (
        "it contains only white space" if reading.fate == "blank" else DISAPPEARED_REASON if is_gone else ""
    )
    trail.record(reading.path, layer, reading.fate, reason, "file-unreadable" if is_gone else reading.code)


def _withheld_texts(readings: Sequence[Reading], lookup: Lookup, workspace: Workspace) -> Iterator[Document]:
    """Yield the texts of untrusted files that the lookup rule would use if they were trusted."""
    for reading in readings if not (lookup.needs_touch or lookup.is_probe) else ():
        if reading.fate == "untrusted" and not (lookup.exclude and _excluding_glob(reading.path, lookup, workspace)):
            for document in reading.withheld:
                if _meets_conditions(replace(reading, text=document.text), lookup, "", Trail()):
                    yield document


def _meets_conditions(reading: Reading, lookup: Lookup, layer: str, trail: Trail) -> bool:
    """Whether a file's front matter meets the lookup rule's conditions. If not, the reason is recorded."""
    if not lookup.has_conditions_for(reading.path):
        return True
    from .scoping import check_front_matter

    fate, reason, awaited_paths, problem = check_front_matter(reading, lookup)
    if problem:
        display_path = printable(reading.path)
        trail.findings.append(finding("front-matter-invalid", f"{display_path}: {problem}", display_path, 1))
    if fate:
        trail.record(reading.path, layer, fate, reason, target=awaited_paths)
    return not fate


def record_refused(reading: Reading, layer: str, reader: Reader, trail: Trail, reach: Reach) -> bool:
    """Record a file that may not be read, or a link that points outside the workspace. Returns whether the file was refused."""
    if reading.fate in ("refused", "untrusted"):
        refusal = (reading.fate, reading.reason, reading.code)
        trail.refuse(reading.path, layer, refusal, reach.link(reader, reading.path))
        return True
    if reading.has_text and reach.follow and reach.leads_out(reader, reading.path):
        display_path = printable(reading.path)
        message = f"{display_path} is a link that leaves the workspace; it was followed because of the setting links"
        trail.findings.append(finding("file-outside", message, display_path))
    return False


def _report_other_case(path: str, reader: Reader, trail: Trail) -> None:
    folder, name = os.path.split(path)
    if reader.known and reader.known.walked.has_one_case(folder, name):
        return
    for variant in other_spellings(name):
        other = os.path.join(folder, variant)
        if not reader.has_entry(other):
            continue
        reader.stamp(other)
        if reader.identity(other) != reader.identity(path):
            display_path = printable(other)
            trail.findings.append(
                finding("file-case", f"{display_path} was not read: it must be named {name}", display_path)
            )


_POINTER = r"\s*@?(?:\./)?([\w.-]+\.md)\s*"


def pointer_target(reading: Reading, lookup: Lookup, reader: Reader) -> str:
    """Return the file that a pointer file refers to. A pointer file contains only a file name: an import, or a link checked out as text.

    Returns an empty string if this is not a pointer file, if the lookup rule does not search for the other file too (nothing else
    would read it), or if the layout keeps duplicates.
    """
    if (
        lookup.keep_equal_texts
        or lookup.rules.imports is not None
        or len(reading.text) > 200
        or ".md" not in reading.text.lower()
        or not (match := regex.fullmatch(_POINTER, reading.text, regex.IGNORECASE))
    ):
        return ""
    if all(os.path.basename(pattern.path) != match[1] for group in lookup.groups for pattern in group):
        return ""
    target = os.path.join(os.path.dirname(reading.path), match[1])
    if target == reading.path or not reader.has_entry(target):
        return ""
    reader.stamp(target)
    return target


def _excluding_glob(path: str, lookup: Lookup, workspace: Workspace) -> str:
    from .scoping import excluding_glob

    return excluding_glob(path, lookup, workspace)
