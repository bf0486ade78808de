"""Activate skills in a conversation, by sending the model a message with the skill's body."""

from __future__ import annotations

import os

from ..engine.skills import activation, skill_named, skill_text, with_body
from ..errors import expect
from .state import after_use, state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..vocabulary import Edition, Skill
    from .assembling import ConversationAssembler
    from .builder import EditionBuilder
    from .editions import Editions
    from .transitions import Transitions


class SkillActivator:
    """Activates skills in one conversation."""

    def __init__(
        self,
        id: str,
        transitions: Transitions,
        editions: Editions,
        assembling: ConversationAssembler,
        builder: EditionBuilder,
    ) -> None:
        self._id, self._transitions, self._editions = id, transitions, editions
        self._assembling, self._builder = assembling, builder

    def use(self, name: str) -> Mapping[str, Any]:
        """Return the message that sends the model a skill's body. The second time, it only says that the skill is active."""
        expect("the name of a skill", name, str)
        current = self._transitions.current_or_new()
        inputs, layout = self._builder.inputs(current), self._assembling.layout
        skill = skill_named(name, layout, inputs)
        if name in state_of(current).skills:
            return {"role": "user", "content": skill_text(layout, "skill_active_message", skill)}
        skill = with_body(skill, layout, inputs.workspace, self._assembling.trust)
        self._editions.update(self._id, current, lambda state: after_use(state, name))
        return {"role": "user", "content": activation(layout, skill) + _change_note(skill, current)}


def _change_note(skill: Skill, current: Edition) -> str:
    """Return a note for the model if a skill's file is newer than the list of skills in the prompt, otherwise an empty string."""
    from datetime import datetime

    try:
        changed = os.stat(skill.path).st_mtime
        listed = datetime.fromisoformat(state_of(current).gathered or current.created).timestamp()
    except (OSError, ValueError):
        return ""
    return "\n\n(This file has changed since the list of skills was made.)" if changed > listed else ""
