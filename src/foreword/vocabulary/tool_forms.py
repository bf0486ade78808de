"""Tool definitions in the forms of others, as fields of `Tool`: Anthropic, OpenAI (Chat and Responses), Gemini, Bedrock and MCP. Pure.

    {"name", "description", "input_schema"}                                Anthropic
    {"type": "function", "function": {"name", "description", "parameters"}}  OpenAI Chat
    {"type": "function", "name", "description", "parameters"}              OpenAI Responses
    {"function_declarations": [{"name", "description", "parameters"}]}     Gemini; a declaration alone, too
    {"toolSpec": {"name", "description", "inputSchema": {"json"}}}         Bedrock Converse; what is in `toolSpec` alone, too
    {"name", "description", "inputSchema"}                                 MCP

A tool that a provider defines, such as `{"type": "web_search_20250305", "name": "web_search", "max_uses": 5}`, keeps its type, and the
rest of its keys become `options`. Gemini's, such as `{"google_search": {}}`, have only the type and the options; Bedrock's are
`{"systemTool": {"name"}}`.
"""

from __future__ import annotations

from ..errors import CallError, show, to_tuple
from .tools import Tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping
    from typing import Any

_SCHEMA_KEYS = ("input_schema", "inputSchema", "parameters", "parameters_json_schema", "parametersJsonSchema")
_DECLARATION_KEYS = ("function_declarations", "functionDeclarations")
# In lower case and without underscores, because both spellings are in use.
_GEMINI_TOOLS = (
    "googlesearch",
    "googlesearchretrieval",
    "googlemaps",
    "codeexecution",
    "urlcontext",
    "filesearch",
    "computeruse",
    "enterprisewebsearch",
)
# What MCP servers say about a tool for programs and people, and not for the model.
_MCP_KEYS = ("title", "outputSchema", "annotations", "_meta", "icons", "execution")
_FOREIGN_KEYS = ("defer_loading", "cache_control", *_MCP_KEYS)
_OWN_KEYS = frozenset(
    (
        "name",
        "description",
        "snippet",
        "guidelines",
        "schema",
        "server",
        "defer",
        "strict",
        "allowed_callers",
        "type",
        "options",
    )
)


def tool_rows(row: Any) -> list[Any]:
    """Return a tool definition in any of these forms as rows with the fields of `Tool`. Anything else is returned as it is, in a list."""
    if not isinstance(row, dict):
        dump = getattr(row, "model_dump", None)  # a value of a provider's or MCP's Python package
        if dump is None or isinstance(row, type):
            return [row]
        row = dump(exclude_none=True)
    row = {key: content for key, content in row.items() if content is not None}
    for declared in _DECLARATION_KEYS:
        if isinstance(row.get(declared), list):
            others = [_built_in(key, row[key]) for key in row if key != declared]
            return [*map(_function, row[declared]), *others]
    if row and all(key not in _OWN_KEYS and key.replace("_", "").lower() in _GEMINI_TOOLS for key in row):
        return [_built_in(key, row[key]) for key in row]
    return [_row(row, row.get("type"))]


def _built_in(kind: str, options: Any) -> dict[str, Any]:
    return {"name": kind, "type": kind, "options": options}


def _row(row: dict[str, Any], kind: Any) -> Any:
    """Return the definition of one tool, with the names of Foreword's fields."""
    if isinstance(row.get("toolSpec"), dict):
        return _function(row["toolSpec"])
    if row.keys() == {"systemTool"} and isinstance(row["systemTool"], dict):
        return _typed({**row["systemTool"], "type": "systemTool"}, "systemTool")
    if kind == "function" and isinstance(row.get("function"), dict):
        return _function(row["function"])
    if kind == "function" or (kind == "custom" and not row.keys().isdisjoint(_SCHEMA_KEYS)):
        return _function({key: content for key, content in row.items() if key != "type"})
    if isinstance(kind, str) and kind:
        return _typed(row, kind)
    return _function(row)


def _unwrapped(schema: Any) -> Any:
    """Return a schema without Bedrock's wrapper, `{"json": …}`."""
    is_wrapped = isinstance(schema, dict) and schema.keys() == {"json"} and isinstance(schema["json"], dict)
    return schema["json"] if is_wrapped else schema


def tools_from(name: str, tools: Iterable[Any]) -> tuple[Any, ...]:
    """Return tools whose definitions may also be in one of these forms. Strings, which are names, are kept.

    A tuple of tools is returned itself, so that what was computed for it once can be found again.
    """
    given = to_tuple(name, tools)
    if all(isinstance(tool, Tool) for tool in given):
        return given
    rows = [each for tool in given for each in ([tool] if isinstance(tool, (str, Tool)) else tool_rows(tool))]
    return tuple(row if isinstance(row, (str, Tool)) else _tool(name, row) for row in rows)


def _tool(name: str, row: Any) -> Tool:
    if not isinstance(row, dict):
        raise CallError(f"{name} must be a list of Tool or of tool definitions, not of {type(row).__name__}")
    try:
        return Tool(**row)
    except TypeError as error:
        raise CallError(f"{name}: {show(row)} is not a tool definition: {error}") from None


def _function(row: Any) -> Any:
    """Return the definition of a function, with the names of Foreword's fields."""
    if not isinstance(row, dict):
        return row
    keys = [key for key in _SCHEMA_KEYS if key in row]
    if len(keys) + ("schema" in row) > 1:
        raise CallError(f"the tool {show(row.get('name'))} has several schemas: {', '.join([*keys, 'schema'][:2])}")
    is_foreign = bool(keys) or not row.keys().isdisjoint(_FOREIGN_KEYS)
    if not is_foreign:
        return row
    fields = _own_fields(row)
    if keys:
        fields["schema"] = _json_schema(_unwrapped(row[keys[0]]))
    known = {*_OWN_KEYS, *_SCHEMA_KEYS, *_MCP_KEYS, "defer_loading"}
    return _with_options(fields, row, known)


def _own_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    fields = {key: content for key, content in row.items() if key in _OWN_KEYS}
    return {**fields, "defer": row["defer_loading"]} if "defer_loading" in row else fields


def _with_options(fields: dict[str, Any], row: Mapping[str, Any], known: Container[str]) -> dict[str, Any]:
    others = {key: content for key, content in row.items() if key not in known}
    return {**fields, "options": {**(row.get("options") or {}), **others}} if others else fields


def _typed(row: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return a tool that the provider defines, with everything that is not a field of `Tool` as options."""
    return _with_options({"name": kind, **_own_fields(row)}, row, {*_OWN_KEYS, "defer_loading"})


def _json_schema(schema: Any) -> Any:
    """Return a schema as JSON Schema: Gemini writes the names of types in capitals."""
    if isinstance(schema, list):
        return [_json_schema(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    converted = {key: _json_schema(content) for key, content in schema.items()}
    kind = schema.get("type")
    if isinstance(kind, str) and kind.isupper():
        converted["type"] = kind.lower()
    return converted
