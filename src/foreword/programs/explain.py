"""Why a file is not in a prompt, for files that the layout never considered; and files whose names are in the wrong case.

Three answers that are easily confused: there is no such file; no agent with this layout reads it; it counts only for an agent that
works in another folder.
"""

from __future__ import annotations

import os

from ..errors import ForewordError
from ..findings import finding
from ..packs.std.compiled import NAMES
from ..sources.files import Reader
from ..sources.paths import is_inside
from ..text.lines import printable
from ..vocabulary import Candidate, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..engine.assembler import Assembler
    from ..layout.model import Layout
    from ..vocabulary import Agent, Finding

# How many folders above a file outside of the workspace an agent is imagined in.
_MOST_ABOVE = 5


def explain(assembler: Assembler, path: str, agent: Agent | None = None) -> Candidate:
    """What becomes of an absolute path that is none of the candidates, and why."""
    shown = printable(path)
    if not os.path.lexists(path):
        return Candidate(shown, "", "absent", "there is no such file" + _similar(path))
    folders = list(_folders(path, assembler))
    there = _where(assembler, path, folders, agent)
    if there:
        folder, candidate = there
        fate = "" if candidate.fate == "used" else f"; there it is {candidate.fate}"
        reason = f"it counts only for an agent that works in {printable(folder)}{fate}"
        return Candidate(shown, candidate.layer, "elsewhere", reason)
    layout = assembler.layout()
    others = [
        name
        for name in NAMES
        if name != layout.name
        and _where(assembler.like(layout=name, assignments=()), path, [*folders, assembler.workspace.cwd], agent)
    ]
    kind = "below it" if os.path.isdir(path) else "it"
    readers = f"these layouts would: {', '.join(others)}" if others else "no other shipped layout does"
    reason = f"the layout '{layout.name}' does not read {kind} ({_reads(path, layout)}); {readers}"
    return Candidate(shown, "", "unread", reason)


def _similar(path: str) -> str:
    from difflib import get_close_matches

    folder, name = os.path.split(path)
    close = get_close_matches(name, [printable(each) for each in Reader().entries(folder)[0]], n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _folders(path: str, assembler: Assembler) -> Iterator[str]:
    """The folders above a path in which an agent may work, the nearest first."""
    workspace = assembler.snapshot().plan.workspace
    top = workspace.root or workspace.cwd
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    number = 0
    while folder != os.path.dirname(folder) and (is_inside(folder, top) or number < _MOST_ABOVE):
        yield folder
        if folder == top:
            return
        folder, number = os.path.dirname(folder), number + 1


def _where(
    assembler: Assembler, path: str, folders: Iterable[str], agent: Agent | None
) -> tuple[str, Candidate] | None:
    """The farthest of neighbouring folders in which a path, or something below it, is a candidate; and that candidate."""
    found = None
    for folder in folders:
        candidate = _considered(assembler, path, folder, agent)
        if found and candidate is None:
            break
        found = (folder, candidate) if candidate else found
    return found


def _considered(assembler: Assembler, path: str, folder: str, agent: Agent | None) -> Candidate | None:
    """The candidate that a path, or something below it, is for an agent in a folder."""
    shown = printable(path)
    there = assembler.like(workspace=replace(assembler.workspace, cwd=folder, root=None))
    try:
        candidates = there.snapshot(agent).inputs.candidates
    except ForewordError:  # the folder's own settings are refused, or another layout does not know a setting
        return None
    return next((each for each in candidates if each.fate != "absent" and is_inside(each.path, shown)), None)


def _reads(path: str, layout: Layout) -> str:
    """What the layout reads instead: names of instruction files, or the folders of skills."""
    name = os.path.basename(path)
    is_skill = name.lower() == "skill.md"
    known: dict[str, None] = {}
    for find in layout.finds:
        if (find.kind == "skill") == is_skill:
            for pattern in (pattern for group in find.groups for pattern in group):
                known[pattern.path.partition("*")[0].rstrip("/") if is_skill else os.path.basename(pattern.path)] = None
    for other in known:
        if other != name and other.lower() == name.lower():
            return f"the name is {other}"
    return f"it reads {'skills in ' if is_skill else ''}{', '.join(known)}" if known else "it reads no such files"


class WrongCase:
    """Files at or below `root` that would have been read, were it not for the capital letters of their names.

    Many prompts may be asked about: each folder is listed once, and each file is reported once.
    """

    def __init__(self, root: str = "/") -> None:
        self.root, self.reader = root, Reader()
        self.asked: set[str] = set()
        self.names: dict[str, dict[str, list[str]]] = {}

    def findings(self, candidates: Sequence[Candidate]) -> Iterator[Finding]:
        for path in [each.path for each in candidates if each.fate == "absent"]:
            if path in self.asked or not is_inside(path, self.root):
                continue
            self.asked.add(path)
            folder, wanted = os.path.split(path)
            for name in self._names_in(folder).get(wanted.lower(), ()):
                if name != wanted and os.path.isfile(os.path.join(folder, name)):
                    shown = printable(os.path.join(folder, name))
                    yield finding("file-case", f"{shown} was not read: it must be named {wanted}", shown)

    def _names_in(self, folder: str) -> dict[str, list[str]]:
        """The names in a folder, by how they are written in small letters."""
        if folder not in self.names:
            self.names[folder] = {}
            for name in self.reader.entries(folder)[0]:
                self.names[folder].setdefault(name.lower(), []).append(name)
        return self.names[folder]
