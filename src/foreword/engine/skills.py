"""Find a skill by name, read its body, and write the message that activates it."""

from __future__ import annotations

import os
import re

from ..errors import CallError, MissingError
from ..findings import finding
from ..sources.front_matter import body, read_resident, read_skill
from ..sources.links import reach_by_path
from ..sources.reader import Reader
from ..text.lines import printable
from ..vocabulary import Skill, digest, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..layout.model import Layout, Lookup
    from ..sources.readings import TrustCheck
    from ..vocabulary import Agent, Document, Finding, Inputs, Resident, Workspace

_MAX_FILES = 50


def all_skills(inputs: Inputs) -> Iterator[Skill]:
    """Yield every skill that was found."""
    for entries in inputs.found.values():
        yield from (entry for entry in entries if isinstance(entry, Skill))


def skill_named(name: str, layout: Layout, inputs: Inputs) -> Skill:
    """Return the skill with this name. Raises a MissingError that lists the known names."""
    if not any(lookup.kind == "skill" for lookup in layout.lookups):
        raise MissingError(f"the layout {layout.name} does not use skills")
    skills = {skill.name: skill for skill in all_skills(inputs)}
    if name not in skills:
        refused = [candidate for candidate in inputs.candidates if candidate.fate in ("refused", "untrusted")]
        match = next((candidate for candidate in refused if _is_path_of(candidate.path, name)), None)
        if match:
            raise MissingError(
                f"no skill {name!r}; {match.path} was {'refused' if match.fate == 'refused' else 'left out'}: {match.reason}"
            )
        hint = f"known: {', '.join(sorted(skills))}" if skills else "no skills were found"
        raise MissingError(f"no skill {name!r}; {hint}")
    return skills[name]


def _is_path_of(path: str, name: str) -> bool:
    """Whether a path is the folder or the SKILL.md of a skill with this name."""
    return name in path.rsplit("/", 2)[1:]


def with_body(skill: Skill, layout: Layout, workspace: Workspace, trust: TrustCheck | None = None) -> Skill:
    """Return the skill with its body, which is read from its file unless an extension provided it.

    `trust` checks the file again, because it may have changed since the skill was found.
    """
    if skill.body:
        return skill
    lookups = [lookup for lookup in layout.lookups if lookup.kind == "skill"]
    reader = Reader()
    reader.trust = trust
    reading = reader.read(skill.path, reach_by_path(skill.path, lookups, workspace))
    if not reading.has_text:
        raise CallError(
            f"the skill {skill.name!r} cannot be read: {reading.reason or reading.fate} ({printable(skill.path)})"
        )
    text, line = body(reading.text)
    return replace(skill, body=text, body_line=line + reading.line - 1, hash=reading.hash)


def entry_of(document: Document, lookup: Lookup) -> tuple[Document | Skill | Resident | None, list[Finding]]:
    """Convert an extension's document to an entry for a lookup: the document itself, or the skill or resident that it defines."""
    if lookup.kind == "text":
        return document, []
    if lookup.kind == "resident":
        resident, findings = read_resident(document.text, document.path)
        return resident and replace(resident, hash=digest(document.text)), findings
    if lookup.kind != "skill":
        from ..sources.definitions import read_definition

        definition, findings = read_definition(document.text, document.path, lookup.kind)
        return definition and replace(definition, hash=digest(document.text)), findings
    skill, findings = read_skill(document.text, document.path, lookup.validation)
    if skill is None:
        return None, findings
    text, line = body(document.text)
    return replace(skill, body=text, body_line=line + document.line - 1, hash=digest(document.text)), findings


def with_active_skill(
    agent: Agent, layout: Layout, inputs: Inputs, *, may_be_missing: bool = False, trust: TrustCheck | None = None
) -> tuple[Agent, Inputs]:
    """Return the agent with the skill itself instead of its name, if the layout has a section for the active skill.

    A skill whose body cannot be read is left out with a finding; with `may_be_missing`, so is one that does not exist.
    """
    has_section = any(section.list_name == "active_skill" for section in layout.all_sections)
    if not has_section or not isinstance(agent.skill, str) or not agent.skill:
        return agent, inputs
    try:
        skill = skill_named(agent.skill, layout, inputs)
    except MissingError as error:
        if not may_be_missing:
            raise
        return _without_skill(agent, inputs, error)
    try:
        return replace(agent, skill=with_body(skill, layout, inputs.workspace, trust)), inputs
    except CallError as error:
        return _without_skill(agent, inputs, error, printable(skill.path))


def _without_skill(agent: Agent, inputs: Inputs, error: CallError, path: str = "") -> tuple[Agent, Inputs]:
    omission = finding("skill-invalid", f"{error}; it is left out", path)
    return replace(agent, skill=""), replace(inputs, findings=(*inputs.findings, omission))


def activation(layout: Layout, skill: Skill) -> str:
    """Return the message that activates a skill: its body, worded by the layout, and a list of the skill's other files."""
    return skill_text(layout, "skill_message", skill) + _list_files(skill)


def skill_text(layout: Layout, key: str, skill: Skill) -> str:
    """Return one of the layout's messages about a skill."""
    values = {"{name}": skill.name, "{text}": skill.body}
    return "".join(
        values.get(part, part) for part in re.split(r"(\{name\}|\{text\})", layout.wording.get(key, "{text}"))
    )


def _list_files(skill: Skill) -> str:
    """Return a list of the other files in a skill's folder. They are not read."""
    from ..sources.tree import files_below

    paths = files_below(os.path.dirname(skill.path), "SKILL.md", _MAX_FILES + 1)
    if not paths:
        return ""
    shown = [f"- {printable(path)}" for path in paths[:_MAX_FILES]]
    more = [f"- … and more; only {_MAX_FILES} are listed"] if len(paths) > _MAX_FILES else []
    return "\n\nOther files of this skill, which have not been read:\n" + "\n".join(shown + more)
