"""Say how to include a file in the prompt, from what happened to it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ..vocabulary import Candidate

_WAYS: Mapping[str, str] = {
    "absent": "create it",
    "blank": "write something into it",
    "shadowed": "move its text into {target}",
    "waiting": "move its text into {main}; until then, it is sent only for those files",
    "elsewhere": "move its text into {main}",
    "unread": "move its text into {main}",
    "cut": "shorten it, or give its section more room in the layout",
    "unreadable": "make it readable",
    "binary": "save it as text in UTF-8",
    "untrusted": "trust this folder",
}
"""By fate. `{target}` is the file that explains the fate, and `{main}` the instruction file that is nearest to the agent."""


_ALIGNED = ("shadowed", "elsewhere", "unread")


def how_to_include(candidate: Candidate, main: str, *, is_released: bool) -> str:
    """Return how to include a file, as an instruction. Empty if its text is in the prompt already, or if that depends on the reason.

    `is_released` says whether the layout mirrors a released agent, which `foreword align` can make read an AGENTS.md.
    """
    is_unknown = candidate.fate == "absent" and not candidate.layer  # creating it would not be enough
    way = "" if is_unknown else _WAYS.get(candidate.fate, "")
    names = {"target": candidate.target, "main": main}
    if any(f"{{{name}}}" in way and not known for name, known in names.items()):
        return ""
    can_align = is_released and candidate.fate in _ALIGNED and os.path.basename(candidate.path) == "AGENTS.md"
    return ("run `foreword align`, or " if can_align else "") + way.format(**names)


def main_file(candidates: Sequence[Candidate], names: Collection[str], cwd: str) -> str:
    """Return the instruction file with one of these names that is nearest to an agent in `cwd`, or the first one that would be read there."""
    project = [row for row in candidates if row.layer == "project" and os.path.basename(row.path) in names]
    used = [row.path for row in project if row.fate == "used"]
    absent = [row.path for row in project if row.fate == "absent" and os.path.dirname(row.path) == cwd]
    return max(used, key=lambda path: path.count("/"), default="") or next(iter(absent), "")
