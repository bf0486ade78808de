"""The definitions of the tools that ship with Foreword. `shipped_tools.py` runs them. Pure."""

from __future__ import annotations

from ..errors import CallError, expect, show, suggestion
from ..vocabulary.tools import USE_TOOL, Tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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


def shipped_tools(*names: str) -> tuple[Tool, ...]:
    """Return the shipped tools with these names, or all that `Conversation.call_tool` runs. Add them to `Agent.tools`.

    `use_tool` is returned only by its name. If an agent lists it from the start, tools that are added later do not invalidate the
    provider's cache; `Conversation.resolve_call` returns the tool that the model then calls.

    >>> [tool.name for tool in shipped_tools("use_skill", "use_tool")]
    ['use_skill', 'use_tool']
    """
    tools = {tool.name: tool for tool in _TOOLS}
    for name in names:
        expect("the name of a tool", name, str)
        if name not in tools:
            raise CallError(f"no tool {show(name)} is shipped{suggestion(str(name), tools)}")
    return tuple(tools[name] for name in names or (name for name in SHIPPED_NAMES if name != USE_TOOL))
