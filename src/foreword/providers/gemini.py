"""Google's Gemini API, in the form that the `google-genai` client accepts.

It caches prefixes automatically and has no breakpoints, so all that matters is that the bytes stay the same. It has two roles, `user`
and `model`: everything that the model did not write, including system, developer and tool messages, is sent as `user`. Consecutive
messages may have the same role. A tool that is added late is in the list with the others, so a message that only announces it is left
out; with `use_tool` it is not in the list, and the message has its definition.
"""

from __future__ import annotations

from ..vocabulary import Turn
from . import check_turn_for
from .foreign_messages import check_message_form
from .late import without_listed_tools
from .tool_fields import reject_tool_fields
from .use_tool import with_use_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


_FOREIGN_FIELDS = ("tool_calls", "tool_call_id")


def for_gemini(turn: Turn) -> dict[str, Any]:
    """Return the arguments `config` and `contents` of `client.models.generate_content`.

    `config` is always present, so that you can add to it.

    >>> turn = Conversations().open("42", Workspace("."), layout="foreword").turn("Hello")
    >>> sorted(for_gemini(turn))
    ['config', 'contents']
    """
    check_turn_for("gemini", turn)
    if turn.changes:
        turn = without_listed_tools(with_use_tool(turn))
    config: dict[str, Any] = {}
    if turn.system.strip():
        config["system_instruction"] = turn.system
    if turn.tools:
        config["tools"] = _tools(turn.tools)
    return {"config": config, "contents": [_content(message) for message in turn.messages]}


request = for_gemini


def _tools(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return one entry for all functions, and one for each tool with a type, such as `google_search`."""
    reject_tool_fields("Gemini", tools, ("defer", "strict", "allowed_callers"))
    functions = [_function(tool) for tool in tools if not tool.get("type")]
    typed_tools = [tool for tool in tools if tool.get("type")]
    reject_tool_fields("Gemini", typed_tools, ("description",))
    entries = [{tool["type"]: dict(tool.get("options") or {})} for tool in typed_tools]
    return [*([{"function_declarations": functions}] if functions else ()), *entries]


def _function(tool: Mapping[str, Any]) -> dict[str, Any]:
    # The API's own `parameters` is a dialect that rejects `$ref`, `additionalProperties` and more, so send JSON Schema instead.
    description = {"description": tool["description"]} if tool.get("description") else {}
    schema = {"parameters_json_schema": tool["schema"]} if tool.get("schema") else {}
    return {"name": tool["name"], **description, **schema, **(tool.get("options") or {})}


def _content(message: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a message to the API's form. One with `parts` instead of `content` only needs its role converted.

    An item of another API, such as a call, has neither and is not changed.
    """
    role = "model" if message.get("role") in ("assistant", "model") else "user"
    if "parts" in message:
        return {**message, "role": role}
    check_message_form(
        "for_gemini", message, _FOREIGN_FIELDS, "write calls and results as parts, functionCall and functionResponse"
    )
    content = message.get("content")
    if content is None:
        return dict(message)
    parts = content if isinstance(content, list | tuple) else [content]
    return {"role": role, "parts": [_part(part) for part in parts]}


def _part(part: Any) -> Any:
    if isinstance(part, str):
        return {"text": part}
    is_text = isinstance(part, dict) and part.get("type") == "text" and "text" in part
    return {"text": part["text"]} if is_text else part
