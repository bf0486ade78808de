"""The files of a skill: its SKILL.md and the files that come with it. Hidden files, and files that may contain secrets, are left out."""

from __future__ import annotations

import os

from ..sources.links import reach_by_path
from ..sources.reader import Reader
from ..sources.readings import Reading
from ..sources.secrets import is_secret
from ..sources.tree import files_below
from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..vocabulary import Skill
    from .assembler import Assembler

MAIN_FILE = "SKILL.md"
MAX_FILES = 200


@value
class SkillFiles:
    """A skill, and the data of its files by their paths in the skill's folder."""

    skill: Skill
    files: Mapping[str, bytes]


def read_skill_files(assembler: Assembler, skill: Skill) -> SkillFiles:
    """Return a skill with those of its files that may be read. If an extension provides the skill, SKILL.md is its body."""
    plan = assembler.plan()
    guard = reach_by_path(
        skill.path, (lookup for lookup in plan.layout.lookups if lookup.kind == "skill"), plan.workspace
    )
    folder = os.path.dirname(skill.path)
    reader = Reader()
    reader.trust = plan.trust
    files: dict[str, bytes] = {}
    for path in (skill.path, *files_below(folder, os.path.basename(skill.path), MAX_FILES)):
        name = MAIN_FILE if path == skill.path else os.path.relpath(path, folder).replace(os.sep, "/")
        data = reader.read_data(path, guard)
        if not isinstance(data, Reading) and not is_secret(name):
            files[name] = data
    if skill.body and MAIN_FILE not in files:
        files[MAIN_FILE] = skill.body.encode("utf-8", "replace")
    return SkillFiles(skill, files)
