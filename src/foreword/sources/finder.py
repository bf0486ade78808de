"""The one finder: instruction files, SYSTEM.md, skills and residents are all found by looking in places and taking groups.

Texts come farthest first, skills nearest first. Of a group the first file that is neither blank nor unreadable is taken, and
each of the others is a candidate with its fate. Which of two equal files stays is decided in `gather`, over all finds.
"""

from __future__ import annotations

import os
import re

from ..findings import finding
from ..places import config_folder, is_inside
from ..vocabulary import Candidate, printable, value
from .files import GONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..layout import Find, Pattern
    from ..vocabulary import Fate, Finding, Workspace
    from .files import Reader, Reading

# Below a folder of skills may lie whole checkouts; these two never hold a skill, and there is an end to everything.
_PASSED_OVER = frozenset((".git", "node_modules"))
_MOST_FOLDERS = 20_000
SKILL_FILE = "SKILL.md"
_OWN_PLACES = ("cwd", "root", "walk")
_LAYERS = {"home": "user", "config": "user", "path": "extra"}


@value
class Bound:
    """The folder that the includes of a file stay in, and whether that is the user's own, whatever the scope allows."""

    folder: str
    is_users_own: bool = False


@value
class Slot:
    """One place for a group: the paths of its alternatives, best first, each with the pattern it came from."""

    patterns: Sequence[tuple[Pattern, str]]


class Trail:
    """What a search leaves behind: candidates with their fate, and findings."""

    def __init__(self) -> None:
        self.candidates: list[Candidate] = []
        self.findings: list[Finding] = []

    def leave(self, path: str, layer: str, fate: Fate, reason: str = "", code: str = "") -> None:
        """Record a candidate's fate, and a finding where a person should know of it."""
        shown = printable(path)
        self.candidates.append(Candidate(shown, layer, fate, reason))
        if code:
            self.findings.append(finding(code, f"{shown}: {reason}", shown))


def slots(find: Find, workspace: Workspace, trail: Trail) -> Iterator[Slot]:
    """Every place to look, in order. Neighbouring groups of the place `walk` are looked for together, directory by directory."""
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
    directories = [os.path.realpath(cwd) if is_reached_by_link else cwd]
    while directories[-1] != top and (above := os.path.dirname(directories[-1])) != directories[-1]:
        directories.append(above)
    directories[0] = cwd
    return directories[::-1]


def _base(pattern: Pattern, workspace: Workspace, trail: Trail) -> str | None:
    """The directory a pattern starts from; None, with a finding, where it may not or cannot."""
    is_own = pattern.place in _OWN_PLACES or (pattern.place == "path" and pattern.path[:1] not in ("/", "~"))
    if pattern.confined and not is_own:
        message = f"the workspace's own layout or settings look in '{pattern.place}:{pattern.path}'; only the workspace is theirs"
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
        trail.findings.append(finding("home-missing", _what_is_missing(workspace)))
    return base


def _what_is_missing(workspace: Workspace) -> str:
    if workspace.home:
        return "no folder of the user's settings is known (APPDATA is not set): what lies there was skipped"
    name = "USERPROFILE" if workspace.platform == "win32" else "HOME"
    return f"no home directory is known ({name} is not set): the user's own files were skipped"


def layer_of(find: Find, pattern: Pattern) -> str:
    """Whose a file is that this pattern found."""
    return find.layer or _LAYERS.get(pattern.place, "project")


def bound_of(path: str, pattern: Pattern, find: Find, workspace: Workspace) -> Bound:
    """Where the includes of a file stay: for what was found as the project's the workspace, for the user's own their folder."""
    root = workspace.root or workspace.cwd
    if pattern.place in _OWN_PLACES or (pattern.place == "path" and is_inside(path, root)):
        return Bound(root)
    for each in (each for group in find.groups for each in group if each.place not in _OWN_PLACES):
        base = _base(each, workspace, Trail())
        folder = os.path.dirname(
            os.path.normpath(os.path.join(base or "/", each.path.removeprefix("~/").partition("*")[0]))
        )
        if base and is_inside(path, folder):
            return Bound(folder, is_users_own=True)
    return Bound(os.path.dirname(path), is_users_own=True)


def matches(pattern: Pattern, base: str, reader: Reader, trail: Trail, layer: str) -> list[str]:
    """The files a pattern stands for below its base: itself, or for `*` and `**` what is there, by code point."""
    path = pattern.path
    if "*" not in path and pattern.place != "path" and ".." not in path:
        return [f"{base}/{path}" if base != "/" else f"/{path}"]
    if pattern.place == "path":
        path = path.removeprefix("~/")
    segments = [segment for segment in path.split("/") if segment not in ("", ".")]
    start = "/" if pattern.place == "path" and path.startswith("/") else base
    fixed = 0
    while fixed < len(segments) and "*" not in segments[fixed]:
        fixed += 1
    start = os.path.normpath(os.path.join(start, *segments[:fixed]))
    if fixed == len(segments):
        return [start]
    return _matching(start, segments[fixed:], reader, trail, layer)


def _matching(folder: str, segments: Sequence[str], reader: Reader, trail: Trail, layer: str) -> list[str]:
    first, rest = segments[0], list(segments[1:])
    if first == "**":
        return list(_at_any_depth(folder, rest, reader, trail, layer))
    names = _names(folder, reader, trail, layer)
    if "*" in first:
        chosen = re.compile(".*".join(map(re.escape, first.split("*"))), re.DOTALL)
        names = [
            name for name in names if chosen.fullmatch(name) and not (name.startswith(".") and first.startswith("*"))
        ]
    else:
        names = [first] if first in names else []
    found = [os.path.join(folder, name) for name in names]
    if not rest:
        return found
    if "*" not in "".join(rest):
        return [path for each in found if (path := _file_below(each, rest, reader))]
    return [path for each in found if reader.is_folder(each) for path in _matching(each, rest, reader, trail, layer)]


def _file_below(folder: str, rest: Sequence[str], reader: Reader) -> str:
    """The file `rest` below a folder; for a skill also one whose name differs in its capital letters. Empty without one."""
    path = os.path.join(folder, *rest)
    if _is_there(path, folder, reader):
        return path
    other = _in_another_case(reader.entries(folder)[0], rest) if len(rest) == 1 else ""
    return os.path.join(folder, other) if other else ""


def _in_another_case(names: Sequence[str], rest: Sequence[str]) -> str:
    """The name of a SKILL.md in a folder without one, in other letters, such as `skill.md`."""
    return next((name for name in names if name.lower() == "skill.md"), "") if list(rest) == [SKILL_FILE] else ""


def _is_there(path: str, folder: str, reader: Reader) -> bool:
    """Whether a file below a folder is there. A folder without it is stamped, so that the file is seen when it comes."""
    if reader.has_entry(path):
        return True
    if reader.is_folder(folder):
        reader.stamp(folder)
    return False


def _at_any_depth(top: str, rest: Sequence[str], reader: Reader, trail: Trail, layer: str) -> Iterator[str]:
    """Files `rest` in folders below `top`, but not below a folder that has one. Links are followed, circles end."""
    seen: set[tuple[int, int]] = set()
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        identity = reader.identity(folder)
        if identity is None:
            _names(folder, reader, trail, layer)
            continue
        if identity in seen:
            reader.stamp(folder)
            continue
        seen.add(identity)
        if len(seen) > _MOST_FOLDERS:
            trail.findings.append(
                finding(
                    "scan-limit",
                    f"{printable(top)} holds more than {_MOST_FOLDERS:,} folders; the rest was not looked at",
                    printable(top),
                )
            )
            return
        path = os.path.join(folder, *rest)
        if folder != top and reader.has_entry(path):
            yield path
            continue
        names = _names(folder, reader, trail, layer)
        if folder != top and (other := _in_another_case(names, rest)):
            yield os.path.join(folder, other)
            continue
        below = [os.path.join(folder, name) for name in reversed(names) if name not in _PASSED_OVER]
        folders = {each: reader.is_folder(each) for each in below}
        waiting.extend(each for each in below if folders[each])
        troubles = [trouble for each in below if not folders[each] and (trouble := reader.trouble(each))]
        if troubles:
            reason = f"{len(troubles):,} of its entries could not be looked at: {troubles[0]}"
            trail.leave(folder, layer, "unreadable", reason, "file-unreadable")


def _names(folder: str, reader: Reader, trail: Trail, layer: str) -> list[str]:
    names, trouble = reader.entries(folder)
    if trouble:
        trail.leave(folder, layer, "unreadable", trouble, "file-unreadable")
    return names


def choose(
    slot: Slot, find: Find, workspace: Workspace, reader: Reader, trail: Trail
) -> list[tuple[Reading, Pattern, bool]]:
    """The texts of a group's alternatives, best first: of the first that gives any all its files are taken, the others not.

    What gives no text is left on the trail, and so is what only points at a neighbour, which counts as absent.
    """
    texts: list[tuple[Reading, Pattern, bool]] = []
    is_open = True
    for pattern, base in slot.patterns:
        layer = layer_of(find, pattern)
        readings = [reader.read(path) for path in matches(pattern, base, reader, trail, layer)]
        if len(readings) == 1 and readings[0].fate == "absent" and "*" not in pattern.path:
            trail.leave(readings[0].path, layer, "absent", readings[0].reason, readings[0].code)
            continue
        usable = [
            each
            for each in readings
            if _is_usable(each, "*" in pattern.path, find, layer, reader, trail)
            and may_be_used(each.path, pattern, layer, workspace, reader, trail)
        ]
        texts += [(each, pattern, is_open) for each in usable]
        is_open = is_open and not usable
    return texts


def _is_usable(reading: Reading, was_listed: bool, find: Find, layer: str, reader: Reader, trail: Trail) -> bool:
    if not reading.has_text:
        is_gone = was_listed and reading.fate == "absent"
        reason = reading.reason or ("nothing but white space" if reading.fate == "blank" else GONE if is_gone else "")
        trail.leave(reading.path, layer, reading.fate, reason, "file-unreadable" if is_gone else reading.code)
        return False
    target = pointed_at(reading, find, reader)
    if target:
        trail.leave(reading.path, layer, "duplicate", f"it only points at {os.path.basename(target)}", "file-duplicate")
        return False
    _look_for_other_case(reading.path, reader, trail)
    return True


def may_be_used(path: str, pattern: Pattern, layer: str, workspace: Workspace, reader: Reader, trail: Trail) -> bool:
    """A link of the project may lead out of the workspace, which is said; not where a stranger wrote the pattern."""
    root = workspace.root or workspace.cwd
    if pattern.place not in _OWN_PLACES and not pattern.confined:
        return True
    leads_out = reader.leads_out(path, root)
    if pattern.confined and not is_inside(os.path.realpath(path), os.path.realpath(root)):
        trail.leave(path, layer, "untrusted", "it lies outside the workspace that asked for it", "workspace-refused")
        return False
    if leads_out:
        shown = printable(path)
        trail.findings.append(finding("file-outside", f"{shown} is a link that leads out of the workspace", shown))
    return True


def _look_for_other_case(path: str, reader: Reader, trail: Trail) -> None:
    folder, name = os.path.split(path)
    for variant in sorted({name.lower(), name.upper(), name.capitalize()} - {name}):
        other = os.path.join(folder, variant)
        if not reader.has_entry(other):
            continue
        reader.stamp(other)
        if reader.identity(other) != reader.identity(path):
            shown = printable(other)
            trail.findings.append(finding("file-case", f"{shown} was not read: the name is {name}", shown))


_POINTER = re.compile(r"@?(?:\./)?([\w.-]+\.md)\s*", re.IGNORECASE)


def pointed_at(reading: Reading, find: Find, reader: Reader) -> str:
    """The neighbour whose name is all that a file holds: an import line, or a link checked out where links are text.

    It must be one that is looked for as well, or the file would point at what nobody reads.
    """
    if len(reading.text) > 200 or not (match := _POINTER.fullmatch(reading.text)):
        return ""
    if all(os.path.basename(pattern.path) != match[1] for group in find.groups for pattern in group):
        return ""
    target = os.path.join(os.path.dirname(reading.path), match[1])
    if target == reading.path or not reader.has_entry(target):
        return ""
    reader.stamp(target)
    return target
