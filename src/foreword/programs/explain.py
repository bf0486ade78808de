"""Explain why a file that the layout never considered is not in the prompt.

There are three possible answers: the file does not exist, no agent with this layout reads it, or only an agent that works in another
folder reads it.
"""

from __future__ import annotations

import os

from ..errors import ForewordError
from ..packs.agents import NAMES as MIRRORS
from ..packs.std import NAMES
from ..sources.environment import absolute
from ..sources.files import Reader
from ..sources.paths import is_inside
from ..text.lines import printable
from ..vocabulary import Candidate, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..engine.assembler import Assembler
    from ..layout.model import Layout
    from ..vocabulary import Agent

# How many folders above a file outside the workspace to try as working directories.
_MAX_ABOVE = 5


def is_match(path: str, wanted: str, cwd: str) -> bool:
    """Whether a path is at or below `wanted`, or has that name. An empty string matches every path."""
    return (
        not wanted
        or os.path.basename(path) == wanted
        or any(is_inside(path, possible) for possible in _paths(wanted, cwd))
    )


def explain_path(
    assembler: Assembler, agent: Agent, wanted: str, cwd: str, absent: Sequence[Candidate]
) -> list[Candidate]:
    """Candidates that explain why nothing at a path was used. `absent` are the candidates there that do not exist."""
    paths = _paths(wanted, cwd)
    path = next((possible for possible in paths if os.path.lexists(possible)), paths[0])
    if absent and not os.path.lexists(path):
        return [
            replace(candidate, reason=candidate.reason or "the file does not exist; it would be read")
            for candidate in absent
        ]
    return [*absent, explain(assembler, path, agent)]


def _paths(wanted: str, cwd: str) -> list[str]:
    """The absolute paths that a name may refer to: relative to the workspace, and relative to the current directory."""
    return [absolute(os.path.join(cwd, wanted), os.environ), absolute(wanted, os.environ)]


def explain(assembler: Assembler, path: str, agent: Agent | None = None) -> Candidate:
    """The fate of an absolute path that was not considered, and the reason."""
    printable_path = printable(path)
    if not os.path.lexists(path):
        return Candidate(printable_path, "", "absent", "the file does not exist" + _suggest_similar(path))
    folders = list(_possible_folders(path, assembler))
    match = _find_folder(assembler, path, folders, agent)
    if match:
        folder, candidate = match
        fate = "" if candidate.fate == "used" else f"; its fate there is {candidate.fate}"
        reason = f"only an agent that works in {printable(folder)} reads it{fate}"
        return Candidate(printable_path, candidate.layer, "elsewhere", reason)
    layout = assembler.layout()
    others, agents = (
        [
            name
            for name in names
            if name != layout.name
            and _find_folder(
                assembler.copy_with(layout=name, assignments=()), path, [*folders, assembler.workspace.cwd], agent
            )
        ]
        for names in (NAMES, MIRRORS)
    )
    kind = "anything below it" if os.path.isdir(path) else "it"
    readers = f"these layouts do: {', '.join(others)}" if others else "no other shipped layout does"
    if agents:
        readers = (
            f"{readers}; these agents do: {', '.join(agents)}" if others else f"these agents do: {', '.join(agents)}"
        )
    reason = f"the layout '{layout.name}' does not read {kind} ({_describe_reads(path, layout)}); {readers}"
    return Candidate(printable_path, "", "unread", reason)


def _suggest_similar(path: str) -> str:
    from difflib import get_close_matches

    folder, name = os.path.split(path)
    close = get_close_matches(name, [printable(entry) for entry in Reader().entries(folder)[0]], n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _possible_folders(path: str, assembler: Assembler) -> Iterator[str]:
    """The folders above a path in which an agent might work, nearest first."""
    workspace = assembler.snapshot().plan.workspace
    top = workspace.root or workspace.cwd
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    number = 0
    while folder != os.path.dirname(folder) and (is_inside(folder, top) or number < _MAX_ABOVE):
        yield folder
        if folder == top:
            return
        folder, number = os.path.dirname(folder), number + 1


def _find_folder(
    assembler: Assembler, path: str, folders: Iterable[str], agent: Agent | None
) -> tuple[str, Candidate] | None:
    """The topmost of the consecutive folders in which the path, or something below it, is a candidate, and that candidate."""
    match = None
    for folder in folders:
        candidate = _candidate_in(assembler, path, folder, agent)
        if match and candidate is None:
            break
        match = (folder, candidate) if candidate else match
    return match


def _candidate_in(assembler: Assembler, path: str, folder: str, agent: Agent | None) -> Candidate | None:
    """The candidate at or below a path, for an agent that works in this folder."""
    printable_path = printable(path)
    other = assembler.copy_with(workspace=replace(assembler.workspace, cwd=folder, root=None))
    try:
        candidates = other.snapshot(agent).inputs.candidates
    except ForewordError:  # the folder's settings are refused, or another layout lacks a key
        return None
    return next(
        (
            candidate
            for candidate in candidates
            if candidate.fate != "absent" and is_inside(candidate.path, printable_path)
        ),
        None,
    )


def _describe_reads(path: str, layout: Layout) -> str:
    """Describe what the layout reads instead: names of instruction files, or folders of skills."""
    name = os.path.basename(path)
    is_skill = name.lower() == "skill.md"
    names: dict[str, None] = {}
    for lookup in layout.lookups:
        if (lookup.kind == "skill") == is_skill:
            for pattern in (pattern for group in lookup.groups for pattern in group):
                names[pattern.path.partition("*")[0].rstrip("/") if is_skill else os.path.basename(pattern.path)] = None
    for other in names:
        if other != name and other.lower() == name.lower():
            return f"it must be named {other}"
    return f"it reads {'skills in ' if is_skill else ''}{', '.join(names)}" if names else "it does not read such files"
