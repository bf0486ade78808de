"""The tools that prompts mention and Foreword itself runs: `use_skill`, `read_plan` and `write_plan`.

A layout tells the model to call `use_skill`, and a plan must outlive the messages that contain it. The plan is stored with the
conversation, so it works the same way on any machine; the next prompt that is built contains it, if the layout has a section for it.
"""

from __future__ import annotations

import json

from ..errors import CallError, MissingError, expect, show, suggestion
from ..shapes import NAME, OBJECT, STRING, check_table
from ..vocabulary import Document, replace
from ..vocabulary.tools import Tool
from .state import state_of

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


def _schema(**descriptions: str) -> dict[str, Any]:
    properties = {name: {"type": "string", "description": text} for name, text in descriptions.items()}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


_TOOLS = (
    Tool(
        "use_skill",
        "Returns the full instructions of one of the listed skills. Call it before you start a task that fits the skill.",
        schema=_schema(name="The name of the skill, as it is listed."),
    ),
    Tool(
        "read_plan",
        "Returns the current plan for this task, which stays available when earlier messages do not.",
        schema=_schema(),
    ),
    Tool(
        "write_plan",
        "Replaces the plan for this task. Write it before a task of several steps, and again whenever a step is done.",
        schema=_schema(plan="The whole plan, in Markdown. An empty string deletes it."),
    ),
)
_ARGUMENTS: dict[str, dict[str, Shape]] = {"use_skill": {"name": NAME}, "read_plan": {}, "write_plan": {"plan": STRING}}


def shipped_tools(*names: str) -> tuple[Tool, ...]:
    """Return the tools that `Conversation.call_tool` runs: those with these names, or all of them.

    Add them to `Agent.tools`, so that the model can call them.
    """
    tools = {tool.name: tool for tool in _TOOLS}
    for name in names:
        expect("the name of a tool", name, str)
        if name not in tools:
            raise CallError(f"no tool {show(name)} is shipped{suggestion(str(name), tools)}")
    return tuple(tools[name] for name in names or tools)


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
        if name not in _ARGUMENTS:
            raise MissingError(
                f"call_tool cannot run {show(name)}; it runs {', '.join(_ARGUMENTS)}, and your program runs the agent's other tools"
            )
        parsed = _parse(name, arguments)
        check_table(parsed, _ARGUMENTS[name], name, required=_ARGUMENTS[name], shape=OBJECT)
        if name == "use_skill":
            return str(self._skills.use(parsed["name"])["content"])
        return self._read_plan() if name == "read_plan" else self._write_plan(parsed["plan"])

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
        return "The plan is saved." if plan.strip() else "The plan is deleted."


def _parse(name: str, arguments: Any) -> Any:
    """Return the arguments as a plain dict. Models and SDKs pass JSON, or nothing for a tool without parameters."""
    if isinstance(arguments, str):
        try:
            return json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError):
            raise CallError(f"{name}: the arguments are not valid JSON: {show(arguments)}") from None
    if arguments is None:
        return {}
    return dict(arguments) if hasattr(arguments, "keys") else arguments
