"""The tools that ship with Foreword: `use_skill`, `read_plan` and `write_plan`, which it runs itself, and `use_tool`.

A layout tells the model to call `use_skill`, and a plan must outlive the messages that contain it. The plan is stored with the
conversation, so it works the same way on any machine; the next prompt that is built contains it, if the layout has a section for it.
`use_tool` calls one of the program's own tools that was added late (`providers/use_tool.py`).
"""

from __future__ import annotations

from ..errors import CallError, MissingError, expect, show
from ..shapes import NAME, OBJECT, STRING, check_table
from ..vocabulary import Document, replace
from ..vocabulary.tools import USE_TOOL
from .state import state_of
from .tool_calls import parse_arguments, resolve_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..shapes import Shape
    from .agents import ConversationAgent
    from .editions import Editions
    from .skills import SkillActivator
    from .transitions import Transitions

_MAX_PLAN_LENGTH = 2**16


# The arguments of those that Foreword runs.
_ARGUMENTS: dict[str, dict[str, Shape]] = {"use_skill": {"name": NAME}, "read_plan": {}, "write_plan": {"plan": STRING}}


class ShippedToolRunner:
    """Runs the shipped tools for one conversation."""

    def __init__(
        self, id: str, transitions: Transitions, editions: Editions, agent: ConversationAgent, skills: SkillActivator
    ) -> None:
        self._id, self._transitions, self._editions = id, transitions, editions
        self._agent, self._skills = agent, skills

    def call(self, name: str, arguments: Mapping[str, Any] | str) -> str:
        """Return the result of a tool for these arguments, which are a mapping or JSON."""
        expect("the name of a tool", name, str)
        if name == USE_TOOL:
            raise CallError(f"call_tool cannot run {USE_TOOL!r}; resolve_call returns the tool that the model means")
        if name not in _ARGUMENTS:
            raise MissingError(
                f"call_tool cannot run {show(name)}; it runs {', '.join(_ARGUMENTS)}, and your program runs the agent's other tools"
            )
        parsed = parse_arguments(name, arguments)
        check_table(parsed, _ARGUMENTS[name], name, required=_ARGUMENTS[name], shape=OBJECT)
        if name == "use_skill":
            return str(self._skills.use(parsed["name"])["content"])
        return self._read_plan() if name == "read_plan" else self._write_plan(parsed["plan"])

    def resolve(self, name: str, arguments: Mapping[str, Any] | str) -> tuple[str, dict[str, Any]]:
        """Return the name and the arguments of the tool that the model means with this call."""
        return resolve_call(self._transitions.current()[0], name, arguments)

    def _read_plan(self) -> str:
        current, _ = self._transitions.current()
        plan = self._agent.configured.plan or (state_of(current).plan if current else "")
        text = plan.text if isinstance(plan, Document) else plan
        return text if text.strip() else "There is no plan yet."

    def _write_plan(self, plan: str) -> str:
        if self._agent.configured.plan:
            raise CallError(
                "the program sets the plan (Agent.plan), so write_plan cannot change it; leave Agent.plan empty"
            )
        if len(plan) > _MAX_PLAN_LENGTH:
            raise CallError(f"write_plan: the plan has {len(plan):,} characters; the limit is {_MAX_PLAN_LENGTH:,}")
        current = self._transitions.current_or_new()
        if plan != state_of(current).plan:
            self._editions.update(self._id, current, lambda state: replace(state, plan=plan))
        return "The plan has been saved." if plan.strip() else "The plan has been deleted."
