"""Answer which skills were found, and why the prompt lists or does not list each."""

from __future__ import annotations

from ..building.conditions import describe_conditions, facts_of, holds, skill_findings, unlisted_skills
from ..vocabulary import Skill, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..engine.assembler import Assembler
    from ..vocabulary import Agent, Finding


@value
class FoundSkill:
    """A skill, and why the prompt does not list it. The reason is empty if it does."""

    skill: Skill
    reason: str = ""


def find_skills(assembler: Assembler, agent: Agent) -> tuple[list[FoundSkill], Sequence[Finding]]:
    """Return the skills that were found for an agent, and everything that a person should know about what was found."""
    snapshot = assembler.snapshot(agent)
    layout, inputs = snapshot.layout, snapshot.inputs
    facts = facts_of(layout, inputs, agent)
    unlisted = unlisted_skills(layout, inputs, facts)
    found: list[FoundSkill] = []
    for name, entries in inputs.found.items():
        reason = ""
        if name in unlisted:
            section = unlisted[name]
            missing = [term for term in section.when if not holds(term, facts)] if section else ()
            reason = f"the list needs {describe_conditions(missing)}" if missing else "the layout does not list skills"
        for entry in entries:
            if isinstance(entry, Skill):
                found.append(FoundSkill(entry, "its front matter hides it" if entry.hidden else reason))
    return found, (*inputs.findings, *skill_findings(layout, inputs, agent, facts))
