"""Read a request to Bedrock's Converse as one to Anthropic's Messages, so that comparisons need to know only one of them. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_POINT = "cachePoint"


def from_converse(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the request in Anthropic's form, with cache points as fields of what they follow. Other requests are returned unchanged."""
    config, messages = request.get("toolConfig"), request.get("messages")
    if not isinstance(config, dict) and not _has_converse_blocks(request):
        return request
    converted = {key: content for key, content in request.items() if key not in ("toolConfig", "modelId")}
    if isinstance(config, dict):
        converted["tools"] = _converted(config.get("tools"))
    if "modelId" in request:
        converted["model"] = request["modelId"]
    if isinstance(messages, list | tuple):
        converted["messages"] = [_message(message) for message in messages]
    return {**converted, "system": _converted(request.get("system"))}


def _has_converse_blocks(request: Mapping[str, Any]) -> bool:
    """Whether the first block of the system prompt or of the first message is one of Converse, which has no type."""
    messages = request.get("messages")
    first = messages[0] if isinstance(messages, list | tuple) and messages else None
    for blocks in (request.get("system"), first.get("content") if isinstance(first, dict) else None):
        if isinstance(blocks, list | tuple) and blocks and isinstance(blocks[0], dict):
            return "type" not in blocks[0] and not blocks[0].keys().isdisjoint(("text", _POINT, "toolResult"))
    return False


def _message(message: Any) -> Any:
    return {**message, "content": _converted(message.get("content"))} if isinstance(message, dict) else message


def _converted(entries: Any) -> Any:
    """Convert tools or blocks. A cache point becomes a field of the entry before it."""
    if not isinstance(entries, list | tuple):
        return entries
    converted: list[Any] = []
    for entry in entries:
        if isinstance(entry, dict) and entry.keys() == {_POINT}:
            if converted and isinstance(converted[-1], dict):
                converted[-1] = {**converted[-1], "cache_control": entry[_POINT]}
        else:
            converted.append(_entry(entry))
    return converted


def _entry(entry: Any) -> Any:
    if not isinstance(entry, dict):
        return entry
    if isinstance(entry.get("text"), str) and "type" not in entry:
        return {"type": "text", **entry}
    if isinstance(system_tool := entry.get("systemTool"), dict):
        return {"type": "systemTool", **system_tool}
    tool = entry.get("toolSpec")
    if not isinstance(tool, dict):
        return entry
    schema = tool.get("inputSchema")
    fields = {key: content for key, content in tool.items() if key != "inputSchema"}
    return {**fields, "input_schema": schema.get("json") if isinstance(schema, dict) else schema}
