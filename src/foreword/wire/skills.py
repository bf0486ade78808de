"""The JSON form of a skill that was found."""

from __future__ import annotations

from typing import TypedDict

from ..text.lines import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..vocabulary import Skill


class SkillForm(TypedDict):
    """A skill, and whether the prompt lists it. If not, `reason` says why."""

    name: str
    description: str
    location: str
    hidden: bool
    listed: bool
    reason: str


def skill_form(skill: Skill, reason: str = "") -> SkillForm:
    """Return a skill's form. `reason` says why the prompt does not list it, and is empty if it does."""
    return {
        "name": skill.name,
        "description": skill.description,
        "location": printable(skill.path),
        "hidden": skill.hidden,
        "listed": not reason,
        "reason": reason,
    }
