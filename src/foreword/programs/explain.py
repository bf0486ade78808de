"""Explain why a file that the layout never considered is not in the prompt.

There are four possible answers: the file does not exist, it is sent when the agent touches a file in its folder, only an agent that works
in another folder reads it, or no agent with this layout reads it.
"""

from __future__ import annotations

import os

from ..errors import ForewordError
from ..inspection.agents import AgentView, compare_agents
from ..packs.mirrors import all_mirrors
from ..packs.std import NAMES
from ..sources.environment import resolve_workspace
from ..sources.paths import USER_PLACES, is_inside
from ..sources.reader import Reader
from ..sources.tree import Listings
from ..text.lines import printable
from ..text.tokens import Count
from ..vocabulary import Candidate, replace
from .agents import agents_that_read, folders_above, verdict_on
from .touch_candidates import touch_candidates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..engine.assembler import Assembler
    from ..inspection.agents import Verdict
    from ..layout.model import Layout, Pattern
    from ..vocabulary import Agent, Fate
    from .question import Question

_ALSO_READ_BY, _THESE_LAYOUTS, _THESE_AGENTS = "also read by ", "these layouts do: ", "these agents do: "
# For a file outside the workspace, how many of the folders above it to try as working directories.
_MAX_ABOVE = 5


def is_match(path: str, requested: str, question: Question) -> bool:
    """Whether a path is at or below `requested`, or has that name. An empty string matches every path."""
    return (
        not requested
        or os.path.basename(path) == requested
        or any(is_inside(path, possible) for possible in question.paths_of(requested))
    )


def explain_path(question: Question, requested: str, absent: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates that explain why nothing at a path was used. `absent` are the candidates there that do not exist."""
    paths = question.paths_of(requested)
    path = next((possible for possible in paths if os.path.lexists(possible)), paths[0])
    if absent and not os.path.lexists(path):
        return [
            replace(candidate, reason=candidate.reason or "the file does not exist; it would be read")
            for candidate in absent
        ]
    if explained := _explain_file(question, path) if os.path.isfile(path) else None:
        return [*absent, explained]
    return [*absent, *(_explain_touch(question, path) or [_explain(question, path)])]


def with_readers(question: Question, requested: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates. If only one file exists at the requested path, its reason also names the other agents that read it."""
    existing = [candidate for candidate in candidates if candidate.fate != "absent"]
    path = next((existing_path for existing_path in question.paths_of(requested) if os.path.isfile(existing_path)), "")
    if len(existing) != 1 or existing[0].path != printable(path):
        return list(candidates)
    reason = "; ".join(filter(None, (existing[0].reason, _also_read_by(question, path))))
    return [replace(candidate, reason=reason) if candidate is existing[0] else candidate for candidate in candidates]


def split_readers(reason: str) -> tuple[str, list[str]]:
    """Split a reason into what concerns this layout, and the clauses that list who else reads the file."""
    clauses = reason.split("; ")
    readers = [clause for clause in clauses if clause.startswith((_ALSO_READ_BY, _THESE_LAYOUTS, _THESE_AGENTS))]
    return "; ".join(clause for clause in clauses if clause not in readers), readers


def readers_in(reason: str) -> list[str]:
    """Return the names of the agents that a reason lists as readers of the file."""
    agents = [clause for clause in split_readers(reason)[1] if not clause.startswith(_THESE_LAYOUTS)]
    return [
        name for clause in agents for name in clause.removeprefix(_ALSO_READ_BY).removeprefix(_THESE_AGENTS).split(", ")
    ]


_FATES: Mapping[str, Fate] = {
    "on-touch": "waiting",
    "elsewhere": "elsewhere",
    "shadowed": "shadowed",
    "copy": "duplicate",
    "blank": "blank",
    "unused": "unused",
    "refused": "refused",
    "unreadable": "unreadable",
}
"""The fates for the verdicts of `foreword agents` on a file that the prompt does not consider."""


def _explain_file(question: Question, path: str) -> Candidate | None:
    """Return what `foreword agents` says about a file of the repository, as a candidate, or None if no agent with this layout reads it."""
    workspace = question.assembler.snapshot().plan.workspace
    if not is_inside(path, workspace.root or workspace.cwd):
        return None
    verdict, layer = verdict_on(question, path)
    if verdict.name not in _FATES:
        return None
    reason = "; ".join(filter(None, (verdict.reason, _also_read_by(question, path))))
    target = "" if verdict.name == "elsewhere" else verdict.target
    return Candidate(printable(path), layer, _FATES[verdict.name], reason, target)


def _explain_touch(question: Question, path: str) -> list[Candidate]:
    """Return the files at or below a path that the agent considers when it touches a file in the same folder."""
    workspace = question.assembler.snapshot().plan.workspace
    root = workspace.root or workspace.cwd
    folders = folders_above([os.path.join(path, "file") if os.path.isdir(path) else path], root)
    touched = {
        candidate.path: candidate
        for candidate in (touch_candidates(question.assembler, folders) if folders else ())
        if is_inside(candidate.path, printable(path)) and candidate.fate != "absent"
    }
    if not touched:
        return []
    snapshot = question.assembler.snapshot(question.agent_with_template())
    count = Count(0, "", True, 0.0)
    view = AgentView(snapshot.layout, snapshot.inputs, question.checked_prompt(), count, (), list(touched.values()))
    table = compare_agents([view], list(touched), printable(root), printable(workspace.cwd))
    return [
        _touched_candidate(question, touched[row.path], row.verdicts[0]) for row in table.rows if row.path in touched
    ]


def _touched_candidate(question: Question, candidate: Candidate, verdict: Verdict) -> Candidate:
    """Return a file that a touch considers: as `waiting` if a touch sends it."""
    also = _also_read_by(question, candidate.path) if os.path.isfile(candidate.path) else ""
    if verdict.name == "on-touch":
        candidate = replace(candidate, fate="waiting", reason=verdict.reason, target=verdict.target)
    return replace(candidate, reason="; ".join(filter(None, (candidate.reason, also))))


def _also_read_by(question: Question, path: str) -> str:
    """Describe which other agents read a file. Returns an empty string if there are none."""
    address = question.assembler.layout().address
    agents = [agent.name for agent in agents_that_read(question, path) if agent.address != address]
    return _ALSO_READ_BY + ", ".join(agents) if agents else ""


def _explain(question: Question, path: str) -> Candidate:
    """Return the fate of an absolute path that was not considered, and the reason."""
    printable_path = printable(path)
    if not os.path.lexists(path):
        return Candidate(printable_path, "", "absent", "the file does not exist" + _suggest_similar(path, question))
    assembler, agent = question.assembler, question.agent_with_template()
    folders = list(_possible_folders(path, assembler))
    match = _find_folder(assembler, path, folders, agent)
    if match:
        folder, candidate = match
        fate = "" if candidate.fate == "used" else f"its fate there is {candidate.fate}"
        also = _also_read_by(question, path) if os.path.isfile(path) else ""
        parts = (f"only an agent that works in {printable(folder)} reads it", fate, also)
        reason = "; ".join(filter(None, parts))
        return Candidate(printable_path, candidate.layer, "elsewhere", reason)
    layout = assembler.layout()
    others = [name for name in NAMES if name != layout.name and _is_read_with(name, path, folders, assembler, agent)]
    agents = (
        _agents_that_read_below(question, path, folders, agent)
        if os.path.isdir(path)
        else [mirror.name for mirror in agents_that_read(question, path)]
    )
    kind = "anything below it" if os.path.isdir(path) else "it"
    readers = [_THESE_LAYOUTS + ", ".join(others)] if others else []
    readers += [_THESE_AGENTS + ", ".join(agents)] if agents else []
    readers = readers or ["no other shipped layout does"]
    reason = f"the layout '{layout.name}' does not read {kind} ({_describe_reads(path, layout)}); {'; '.join(readers)}"
    return Candidate(printable_path, "", "unread", reason)


def _agents_that_read_below(question: Question, path: str, folders: Sequence[str], agent: Agent) -> list[str]:
    """Return the names of the agents that read anything below a folder."""
    assembler = question.assembler
    mirrors, _ = all_mirrors(resolve_workspace(question.workspace, Reader()), Reader(), assembler.packs)
    return [mirror.name for name, mirror in mirrors.items() if _is_read_with(name, path, folders, assembler, agent)]


def _is_read_with(layout: str, path: str, folders: Sequence[str], assembler: Assembler, agent: Agent) -> bool:
    other = assembler.copy_with(layout=layout, assignments=())
    return _find_folder(other, path, [*folders, assembler.workspace.cwd], agent) is not None


def _suggest_similar(path: str, question: Question) -> str:
    from difflib import get_close_matches

    folder, name = os.path.split(path)
    try:
        names = sorted(Listings(question.workspace.inside).entries(folder))
    except (OSError, ValueError):
        return ""
    close = get_close_matches(name, [printable(entry) for entry in names], n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _possible_folders(path: str, assembler: Assembler) -> Iterator[str]:
    """Yield the folders above a path in which an agent might work, nearest first."""
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
    """Return the candidate at or below the path, with its folder: the last of the consecutive folders that have one."""
    match = None
    for folder in folders:
        candidate = _candidate_in(assembler, path, folder, agent)
        if match and candidate is None:
            break
        match = (folder, candidate) if candidate else match
    return match


def _candidate_in(assembler: Assembler, path: str, folder: str, agent: Agent | None) -> Candidate | None:
    """Return the candidate at or below a path, for an agent that works in this folder."""
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


def _patterns(layout: Layout, kind: str) -> Iterator[Pattern]:
    """Yield the patterns of the lookup rules of one kind."""
    for lookup in layout.lookups:
        if lookup.kind == kind:
            for group in lookup.groups:
                yield from group


def instruction_names(layout: Layout) -> set[str]:
    """Return the names of the instruction files that a layout reads."""
    return {os.path.basename(pattern.path) for pattern in _patterns(layout, "text")}


def _describe_reads(path: str, layout: Layout) -> str:
    """Describe what the layout reads instead: names of instruction files, or folders of skills."""
    name = os.path.basename(path)
    is_skill = name.lower() == "skill.md"
    places: dict[str, set[str]] = {}
    for pattern in _patterns(layout, "skill" if is_skill else "text"):
        known = pattern.path.partition("*")[0].rstrip("/") if is_skill else os.path.basename(pattern.path)
        places.setdefault(known, set()).add(pattern.place)
    # Names that are looked for only in the user's own folders would be no use in a project.
    names = [name for name, found_in in places.items() if not found_in.issubset(USER_PLACES)] or list(places)
    for other in names:
        if other != name and other.lower() == name.lower():
            return f"it must be named {other}"
    return f"it reads {'skills in ' if is_skill else ''}{', '.join(names)}" if names else "it does not read such files"
