"""Builds a prompt as if some instructions did not exist: whole files, sections under a heading, or lines.

The prompt is built once to see which files it consists of. Then their texts are edited in memory, and it is built again.
"""

from __future__ import annotations

import os

from ..errors import to_tuple
from ..sources.edited_files import EditedDisk, TrustInOriginals
from ..sources.reader import Reader
from ..text.leaving_out import leave_out, select
from ..vocabulary import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from ..vocabulary import Agent, Prompt, Workspace
    from .assembler import Assembler

_READ = ("used", "cut", "duplicate", "shadowed", "waiting", "untrusted")


def without_instructions(
    assembler: Assembler, names: Sequence[str], agent: Agent | None = None, now: datetime | None = None
) -> Assembler:
    """Return a copy of an assembler whose prompts lack these instructions, their copies, and imports of files that are gone.

    A name is `FILE`, `FILE#HEADING`, `FILE:LINE`, `FILE:FIRST-LAST` or `HEADING`.
    """
    names = to_tuple("without", names, str)
    plan = assembler.plan()
    real = _files(assembler.prompt(agent, now), names, plan.workspace)
    edits = _edits(names, real, plan.workspace)
    copy = assembler.copy_with()
    copy.reader = lambda: Reader(disk=EditedDisk(edits, real))
    copy.looks_for_changes = False  # the edits are those of the files as they are now
    copy.finds_skills, copy.reads_user_files = assembler.finds_skills, assembler.reads_user_files
    if plan.trust is not None:
        originals = {path: _read_bytes(path) for path in edits}
        copy._current_plan = replace(copy.plan(), trust=TrustInOriginals(plan.trust, originals))
    return copy


def _files(prompt: Prompt, names: Sequence[str], workspace: Workspace) -> dict[str, str]:
    """Return the files that the prompt consists of and those that are named, each with its real path."""
    found = [candidate.path for candidate in prompt.candidates if candidate.fate in _READ]
    places = (workspace.cwd, workspace.root or workspace.cwd)
    found += [os.path.join(place, name.partition("#")[0]) for name in names for place in places]
    return {os.path.normpath(path): os.path.realpath(path) for path in found if os.path.isfile(path)}


def _edits(names: Sequence[str], real: Mapping[str, str], workspace: Workspace) -> dict[str, bytes | None]:
    """Return the new content of each file, or None if it is gone, by its real path."""
    reader = Reader()
    readings = {_name(path, workspace): reader.read(path, trim=False) for path in dict.fromkeys(real.values())}
    texts = {name: reading.text for name, reading in readings.items()}
    aliases = {_name(path, workspace): _name(target, workspace) for path, target in real.items()}
    selections = [each for name in names for each in select(_file_name(name, workspace, aliases), texts)]
    return {
        readings[name].path: None if text is None else text.encode("utf-8", "surrogateescape")
        for name, text in leave_out(texts, selections).items()
    }


def _name(path: str, workspace: Workspace) -> str:
    """Return a path relative to the root, or as it is if it is elsewhere."""
    root = workspace.root or workspace.cwd
    for top in (root, os.path.realpath(root)):
        if path.startswith(top + os.sep):
            return path[len(top) + 1 :].replace(os.sep, "/")
    return path


def _file_name(name: str, workspace: Workspace, aliases: dict[str, str]) -> str:
    """Return a name with its file as the texts are named: relative to the root, although it may be relative to the working directory."""
    file, mark, rest = name.partition("#")
    lines = ""
    if not mark and file.rpartition(":")[2].replace("-", "").isdecimal():
        file, mark, lines = file.rpartition(":")
    for path in (os.path.join(workspace.cwd, file), os.path.join(workspace.root or workspace.cwd, file)):
        known = _name(os.path.normpath(path), workspace)
        if file and known in aliases:
            return aliases[known] + mark + lines + rest
    return name


def _read_bytes(path: str) -> bytes:
    content = Reader().read_data(path)
    return content if isinstance(content, bytes) else b""
