"""The tool `use_tool`, with which the model calls tools that are added late. Pure.

Chat Completions, Gemini and older models know only the tools at the start of a request, and a new one there invalidates the cache. If
the agent lists `use_tool` from the start, a late tool is not added to the list: the message that announces it contains its definition,
and the model calls it with `use_tool`. Earlier calls of such a tool, which a framework keeps by the tool's own name, are sent as calls
of `use_tool` too.
"""

from __future__ import annotations

import json

from ..vocabulary import replace
from ..vocabulary.tools import USE_TOOL, inactive_tools, new_tools_sentence
from .late import announcements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from ..vocabulary import Turn

# Servers for local models, which know only the tools at the start of a request. A conversation with one of them lists `use_tool` by itself.
SERVERS = ("llama.cpp", "llamacpp", "llama-server", "lm-studio", "lmstudio", "mlx", "ollama", "sglang", "vllm")
_ARGUMENT_KEYS = ("arguments", "input", "args")  # in calls to OpenAI, to Anthropic and Bedrock, and to Gemini
# The keys of calls and results inside blocks, for Chat Completions, Gemini and Bedrock.
_CALL_KEYS = ("function", "function_call", "functionCall", "function_response", "functionResponse", "toolUse")


def lists_use_tool(tools: Iterable[Mapping[str, Any]], changes: Sequence[Mapping[str, Any]]) -> bool:
    """Whether these tools include `use_tool`, and have done so since before these changes."""
    if any(USE_TOOL in change.get("added", ()) for change in changes) or USE_TOOL in inactive_tools(changes):
        return False
    schemas = [tool.get("schema") or {} for tool in tools if tool["name"] == USE_TOOL]
    return any({"name", "arguments"} <= (schema.get("properties") or {}).keys() for schema in schemas)


def is_usable(tool: Mapping[str, Any]) -> bool:
    """Whether `use_tool` can call a tool. The provider runs or finds some tools itself, so these must be in the list."""
    return tool["name"] != USE_TOOL and not (tool.get("type") or tool.get("defer") or tool.get("allowed_callers"))


def with_use_tool(turn: Turn) -> Turn:
    """Return the turn with its late tools in the messages instead of the list of tools, if the agent lists `use_tool`."""
    if not lists_use_tool(turn.tools, turn.changes):
        return turn
    announced = announcements(turn)
    added = {name for change in announced.values() for name in change.get("added", ())}
    late = {tool["name"]: tool for tool in turn.tools if tool["name"] in added and is_usable(tool)}
    if not late:
        return turn
    messages = [_with_use_tool_calls(message, late) for message in turn.messages]
    changes = {index: _with_definitions(change, late) for index, change in announced.items()}
    for index, change in changes.items():
        messages[index] = {**messages[index], "content": change["text"]}
    tools = [tool for tool in turn.tools if tool["name"] not in late]
    return replace(turn, messages=messages, changes=[*changes.values()], tools=tools)


def _with_definitions(change: Mapping[str, Any], late: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return a change whose text contains the definitions of the late tools that it adds. `added` then contains only the other tools."""
    added = change.get("added", ())
    names, others = [name for name in added if name in late], [name for name in added if name not in late]
    if not names:
        return change
    start = change["text"].removesuffix(new_tools_sentence(added))
    definitions = "\n".join(_definition(late[name]) for name in names)
    text = f"{start}{new_tools_sentence(names)} Call them with `{USE_TOOL}`. Their definitions:\n\n{definitions}"
    if others:
        text += f"\n\n{new_tools_sentence(others)}"
    return {**change, "text": text, "added": others}


def _definition(tool: Mapping[str, Any]) -> str:
    parameters = tool.get("schema") or {"type": "object", "properties": {}}
    return _json({"name": tool["name"], "description": tool.get("description") or "", "parameters": parameters})


def _json(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


# Calls in earlier messages


def _with_use_tool_calls(message: Mapping[str, Any], late: Collection[str]) -> Mapping[str, Any]:
    """Return a message with its calls of late tools, and the results that name these, as those of `use_tool`."""
    if message.get("type") == "function_call" or message.get("role") == "tool":
        message = _as_use_tool(message, late)
    for key in ("tool_calls", "content", "parts"):
        parts = message.get(key)
        if isinstance(parts, list | tuple):
            converted = [_part(part, late) for part in parts]
            message = {**message, key: converted} if converted != list(parts) else message
    return message


def _part(part: Any, late: Collection[str]) -> Any:
    if not isinstance(part, dict):
        return part
    if part.get("type") == "tool_use":
        return _as_use_tool(part, late)
    keys = [key for key in _CALL_KEYS if isinstance(part.get(key), dict)]
    return {**part, **{key: _as_use_tool(part[key], late) for key in keys}}


def _as_use_tool(call: Mapping[str, Any], late: Collection[str]) -> Mapping[str, Any]:
    """Return a call of a late tool as a call of `use_tool`, or the same call if it is not one. A result does not have arguments."""
    if call.get("name") not in late:
        return call
    key = next((key for key in _ARGUMENT_KEYS if key in call), None)
    if key is None:
        return {**call, "name": USE_TOOL}
    arguments = call[key]
    if not isinstance(arguments, str):
        return {**call, "name": USE_TOOL, key: {"name": call["name"], "arguments": arguments or {}}}
    try:
        parsed = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        parsed = arguments
    return {**call, "name": USE_TOOL, key: _json({"name": call["name"], "arguments": parsed})}
