"""Read the model's calls of tools: their arguments, and the tool that a call of `use_tool` means. Pure."""

from __future__ import annotations

import json

from ..errors import CallError, MissingError, expect, show, suggestion
from ..providers.use_tool import is_usable
from ..shapes import LIST, NAME, OBJECT, STRING, SWITCH, WHOLE_NUMBER, check, check_table
from ..vocabulary.tools import USE_TOOL, tool_definition
from .tools import tools_by_name, tools_in_use

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..shapes import Shape
    from ..vocabulary import Edition

_ANY: Shape = ("any value", lambda content: True)
_NUMBER: Shape = ("a number", lambda content: type(content) in (int, float))
# The types of JSON Schema.
_SHAPES: dict[Any, Shape] = {
    "string": STRING,
    "integer": WHOLE_NUMBER,
    "number": _NUMBER,
    "boolean": SWITCH,
    "array": LIST,
    "object": OBJECT,
}


def parse_arguments(name: str, arguments: Any) -> Any:
    """Return the arguments of a call as a plain dict. Models and SDKs pass JSON, or nothing for a tool without parameters."""
    if isinstance(arguments, str):
        try:
            return json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError):
            raise CallError(f"{name}: the arguments are not valid JSON: {show(arguments)}") from None
    if arguments is None:
        return {}
    return dict(arguments) if hasattr(arguments, "keys") else arguments


def resolve_call(edition: Edition | None, name: str, arguments: Any) -> tuple[str, dict[str, Any]]:
    """Return the name and the arguments of the tool that the model means. Raises a CallError with a sentence for the model.

    Only the arguments that are inside a call of `use_tool` are compared with the tool's schema: for other calls, the provider does that.
    """
    expect("the name of a tool", name, str)
    parsed = parse_arguments(name, arguments)
    is_inside = name == USE_TOOL
    if is_inside:
        check_table(parsed, {"name": NAME, "arguments": _ANY}, USE_TOOL, required=("name",), shape=OBJECT)
        name = parsed["name"]
        parsed = parse_arguments(name, parsed.get("arguments"))
    check(parsed, OBJECT, f"{name}: the arguments")
    definitions = {tool.name: tool_definition(tool) for tool in tools_in_use(edition)} if edition else {}
    if edition and name not in definitions and name in tools_by_name(edition.tools):
        raise CallError(f"the tool {name!r} is not active; do not call it again until a message says that it is")
    if is_inside:
        _check_usable(name, definitions)
        _check_arguments(name, parsed, definitions[name]["schema"])
    return name, parsed


def _check_usable(name: str, definitions: Mapping[str, Mapping[str, Any]]) -> None:
    if name not in definitions:
        known = [known for known, definition in definitions.items() if is_usable(definition)]
        raise MissingError(f"{USE_TOOL}: no tool {show(name)}{suggestion(name, known)}")
    if not is_usable(definitions[name]):
        raise CallError(f"{USE_TOOL} cannot call {name!r}; call it directly")


def _check_arguments(name: str, arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Raise a CallError unless the arguments have the names and types that a schema requires. Nested values are not compared."""
    properties, required = schema.get("properties"), schema.get("required")
    known: Mapping[str, Any] = properties if isinstance(properties, dict) else {}
    for key in required if isinstance(required, list | tuple) else ():
        if key not in arguments:
            raise CallError(f"{name}: the argument {key!r} is missing")
    for key, content in arguments.items():
        if key not in known and schema.get("additionalProperties") is False:
            raise CallError(f"{name}: unknown argument {show(key)}{suggestion(key, known)}")
        expected = known[key].get("type") if isinstance(known.get(key), dict) else None
        if isinstance(expected, str) and expected in _SHAPES:
            check(content, _SHAPES[expected], f"{name}: {key}")
