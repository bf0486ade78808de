"""The tools that ship with Foreword: `use_skill`, `read_plan` and `write_plan`, which it runs itself, and `use_tool`.

A layout tells the model to call `use_skill`, and a plan must outlive the messages that contain it. The plan is stored with the
conversation, so it works the same way on any machine; the next prompt that is built contains it, if the layout has a section for it.
`use_tool` calls one of the program's own tools that was added late (`providers/use_tool.py`).
"""

from __future__ import annotations

from ..errors import CallError, MissingError, expect, show, suggestion
from ..shapes import NAME, OBJECT, STRING, check_table
from ..vocabulary import Document, replace
from ..vocabulary.tools import USE_TOOL, Tool
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


def _schema(**descriptions: str) -> dict[str, Any]:
    properties = {name: {"type": "string", "description": text} for name, text in descriptions.items()}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


_TOOLS = (
    Tool(
        "use_skill",
        "Loads one of the listed skills and returns its full instructions. Call it before you start a task that matches the skill's description.",
        schema=_schema(name="The name of the skill, as listed."),
    ),
    Tool(
        "read_plan",
        "Returns the current plan for this task. The plan remains available when earlier messages have been removed.",
        schema=_schema(),
    ),
    Tool(
        "write_plan",
        "Replaces the plan for this task. Write a plan before you start a task with several steps, and update it whenever you complete a step.",
        schema=_schema(plan="The complete plan, in Markdown. An empty string deletes the plan."),
    ),
    Tool(
        USE_TOOL,
        "Calls a tool whose definition was announced in a message. Call all other tools directly.",
        schema={
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The name of the tool, as announced."},
                "arguments": {
                    "type": "object",
                    "description": "The arguments of the tool, as described in its definition.",
                    "additionalProperties": True,
                },
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        },
    ),
)
SHIPPED_NAMES = tuple(tool.name for tool in _TOOLS)
# The arguments of those that Foreword runs.
_ARGUMENTS: dict[str, dict[str, Shape]] = {"use_skill": {"name": NAME}, "read_plan": {}, "write_plan": {"plan": STRING}}


def shipped_tools(*names: str) -> tuple[Tool, ...]:
    """Return the shipped tools with these names, or all that `Conversation.call_tool` runs. Add them to `Agent.tools`.

    `use_tool` is returned only by its name. If an agent lists it from the start, tools that are added later do not invalidate the
    provider's cache; `Conversation.resolve_call` returns the tool that the model then calls.
    """
    tools = {tool.name: tool for tool in _TOOLS}
    for name in names:
        expect("the name of a tool", name, str)
        if name not in tools:
            raise CallError(f"no tool {show(name)} is shipped{suggestion(str(name), tools)}")
    return tuple(tools[name] for name in names or _ARGUMENTS)


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
