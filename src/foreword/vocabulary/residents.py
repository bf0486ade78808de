"""Entries that a prompt lists by name and description: skills, knowledge, workflows, sub-agents and commands."""

from __future__ import annotations

from ..errors import CallError, check_encodable, expect, is_plain, show, to_tuple
from .values import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

RESIDENT_KINDS = ("knowledge", "workflow")


@value
class Resident:
    """A file that the prompt lists by name and description: knowledge, a workflow, a sub-agent definition or a command.

    >>> Resident("deploy", "How to deploy.").description
    'How to deploy.'

    Fields:
        name: The name in the prompt.
        description: What it contains.
        path: The file; empty if the caller passed the entry.
        lines: The first and last line of its front matter.
        hash: The hash of the file, empty if it is not known.
        tools: A sub-agent's tools, as its definition names them.
        kind: `knowledge` or `workflow`, for an entry that the caller passes in `Agent.residents`.
    """

    name: str
    description: str
    path: str = ""
    lines: tuple[int, int] = (1, 1)
    hash: str = ""
    tools: str = ""
    kind: str = ""


@value
class Skill:
    """A folder with a SKILL.md.

    >>> Skill("deploy", "How to deploy.", "skills/deploy/SKILL.md").layer
    'project'

    Fields:
        name: The name of the skill.
        description: When to use it.
        path: The path of its SKILL.md.
        hidden: Whether it is left out of the prompt's list of skills.
        lines: The first and last line of its front matter.
        hash: The hash of its file, empty if it is not known.
        body: The text after the front matter. It is empty until the skill is used, and read then.
        body_line: The line where the body starts.
        paths: The globs of the files that it is for, separated by commas; empty if it is for all files.
        layer: The layer it belongs to: `project`, `user`, `system` or `extra`.
    """

    name: str
    description: str
    path: str
    hidden: bool = False
    lines: tuple[int, int] = (1, 1)
    hash: str = ""
    body: str = ""
    body_line: int = 1
    paths: str = ""
    layer: str = "project"


def checked_residents(residents: Sequence[Resident]) -> tuple[Resident, ...]:
    """Return an agent's residents, as a tuple. Raises a CallError for one that the prompt could not list."""
    rows = to_tuple("Agent.residents", residents, Resident)
    seen: set[tuple[str, str]] = set()
    for row in rows:
        _check_resident(row)
        if (row.kind, row.name) in seen:
            raise CallError(f"two residents of the kind {row.kind!r} are named {row.name!r}")
        seen.add((row.kind, row.name))
    return rows


def _check_resident(row: Resident) -> None:
    if row.kind not in RESIDENT_KINDS:
        kinds = " or ".join(map(repr, RESIDENT_KINDS))
        raise CallError(f"the kind of a resident must be {kinds}, not {show(row.kind)}")
    for name, text in (("name", row.name), ("description", row.description)):
        expect(f"the {name} of a resident", text, str)
        check_encodable(f"the {name} of a resident", text)
        if not text.strip():
            raise CallError(f"the {name} of a resident must not be blank (kind {row.kind!r}, name {show(row.name)})")
    if not is_plain(row.name):
        raise CallError(f"the name of a resident must not contain control characters: {show(row.name)}")
