"""Tools: the value, its checks, and its definition in a provider-neutral format, in which it is also stored. Pure."""

from __future__ import annotations

from ..errors import CallError, expect, is_plain, show, to_tuple
from .values import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

# Characters that at least one provider accepts: all accept letters, digits, `_` and `-`; Gemini also accepts dots and colons.
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:")
_TYPE_CHARACTERS = _NAME_CHARACTERS - {":"}
_MAX_NAME_LENGTH = 128
# The shipped tool with which the model calls tools that are added late; see `providers/use_tool.py`.
USE_TOOL = "use_tool"
# Keys of a provider's tool definition that correspond to fields of `Tool`, so `options` must not contain them.
FIELD_OF_KEY = {
    "name": "name",
    "type": "type",
    "description": "description",
    "input_schema": "schema",
    "schema": "schema",
    "parameters_json_schema": "schema",
    "strict": "strict",
    "defer_loading": "defer",
    "allowed_callers": "allowed_callers",
}


@value
class Tool:
    """A tool that the agent has.

    >>> Tool("read_file", "Reads a file.").name
    'read_file'

    Fields:
        name: The name by which the model calls it.
        description: What it does, for the provider's tool definition.
        snippet: A one-line description for the prompt.
        guidelines: Rules for using it, for the prompt's list of guidelines.
        schema: The JSON schema of its parameters. None means a tool without parameters.
        server: The MCP server that it belongs to, for reports; it is not sent. If empty, it is taken from a name such as `mcp__server__tool`.
        defer: Whether it stays out of the prompt until a search finds it. The agent also needs the provider's search tool.
        strict: Whether the provider enforces the schema. None means the default, which is no.
        allowed_callers: Who may call it, in the provider's terms. Empty means the model.
        type: The type of a tool that the provider defines, such as `web_search_20250305`. Empty means that you define it.
        options: Other fields of its definition, in the provider's format, such as `{"max_uses": 5}`.
        loads_skills: Whether the model can load a skill with it. None means that its name decides: tools that read files, run
            shell commands or load skills can.
    """

    name: str
    description: str = ""
    snippet: str = ""
    guidelines: Sequence[str] = ()
    schema: Mapping[str, Any] | None = None
    server: str = ""
    defer: bool = False
    strict: bool | None = None
    allowed_callers: Sequence[str] = ()
    type: str = ""
    options: Mapping[str, Any] | None = None
    loads_skills: bool | None = None

    def _check(self) -> None:
        _check_name(self.name)
        what = f"of the tool {self.name!r}"
        for field in ("description", "snippet", "server", "type"):
            expect(f"the {field} {what}", getattr(self, field), str)
        _check_json(f"the schema {what}", self.schema, "JSON Schema")
        _check_is_schema(what, self.schema)
        to_tuple(f"the guidelines {what}", self.guidelines, str)
        to_tuple(f"the allowed_callers {what}", self.allowed_callers, str)
        expect(f"defer {what}", self.defer, bool)
        for field in ("strict", "loads_skills"):
            if getattr(self, field) is not None:
                expect(f"{field} {what}", getattr(self, field), bool)
        if not is_plain(self.server):
            raise CallError(f"the server {what} must not contain control characters: {show(self.server)}")
        if self.type:
            _check_type(self.name, self.type, self.schema)
        if self.options is not None:
            _check_options(self.name, self.options, self.type)


def _check_name(name: object) -> None:
    expect("the name of a tool", name, str)
    text = str(name)
    if not text or len(text) > _MAX_NAME_LENGTH or not _NAME_CHARACTERS.issuperset(text):
        shown = text if len(text) <= 60 else f"{text[:60]}…"
        raise CallError(
            f"no provider accepts a tool named {shown!a}; a name must consist of 1 to {_MAX_NAME_LENGTH} letters, digits, '_', '-',"
            " '.' or ':'"
        )


def _check_json(what: str, content: object, kind: str) -> None:
    """Raise a CallError unless a value is None or a mapping that JSON can encode."""
    if content is not None and (not hasattr(content, "keys") or isinstance(content, type)):
        hint = "; parse it with json.loads" if isinstance(content, (str, bytes)) else ""
        raise CallError(f"{what} must be a mapping ({kind}), not {type(content).__name__}{hint}")
    if content and not _is_plain_json(content):
        from json import dumps

        try:
            dumps(content)
        except (TypeError, ValueError, RecursionError) as error:
            raise CallError(f"{what} cannot be encoded as JSON: {error}") from None


def _is_plain_json(content: object, depth: int = 20) -> bool:
    """Whether a value certainly can be encoded as JSON. Loading `json` for the others takes longer than checking a hundred tools."""
    if isinstance(content, dict):
        return depth > 0 and all(type(key) is str and _is_plain_json(part, depth - 1) for key, part in content.items())
    if isinstance(content, list):
        return depth > 0 and all(_is_plain_json(part, depth - 1) for part in content)
    return content is None or type(content) in (str, bool) or (type(content) is int and content.bit_length() < 64)


_WRAPPING_KEYS = ("parameters", "input_schema", "inputSchema", "json_schema", "schema")


def _check_is_schema(what: str, schema: Mapping[str, Any] | None) -> None:
    """Raise a CallError if a schema is a whole tool definition of a provider, which no provider would accept as a schema."""
    if not schema:
        return
    if schema.keys() == {"json"} and hasattr(schema["json"], "keys"):
        raise CallError(
            f"the schema {what} is wrapped in 'json', as in Bedrock's inputSchema; pass what 'json' contains"
        )
    if place := _schema_place(schema):
        raise CallError(
            f"the schema {what} is a whole tool definition; pass {place}, or pass the definition instead of a Tool"
        )


def _schema_place(definition: Mapping[str, Any]) -> str:
    """Return where a tool definition of a provider has its schema, or an empty string if this is not such a definition."""
    key = next((key for key in _WRAPPING_KEYS if hasattr(definition.get(key), "keys")), "")
    if definition.get("type") == "function":
        return (
            f"its {key!r}"
            if key
            else "the 'parameters' in its 'function'"
            if "function" in definition
            else "its schema"
        )
    if hasattr(definition.get("toolSpec"), "keys"):
        return "the 'json' in its 'inputSchema'"
    return f"its {key!r}" if key and "properties" not in definition and "$ref" not in definition else ""


def _check_type(name: str, kind: str, schema: object) -> None:
    if not _TYPE_CHARACTERS.issuperset(kind):
        raise CallError(
            f"the type of the tool {name!r} may contain only letters, digits, '_', '-' and '.', not {show(kind)}"
        )
    if kind == "function":
        raise CallError(f"the type of the tool {name!r} must be empty for a function that you define, not 'function'")
    if schema:
        raise CallError(
            f"the tool {name!r} has the type {show(kind)}, so the provider defines its schema; remove the schema, or the type if"
            " you define the tool"
        )


def _check_options(name: str, options: Mapping[str, Any], kind: str) -> None:
    _check_json(f"the options of the tool {name!r}", options, "fields of the provider's tool")
    fields = FIELD_OF_KEY if kind else {**FIELD_OF_KEY, "parameters": "schema"}
    for key in options:
        if key in fields:
            raise CallError(f"the options of the tool {name!r} contain {key!r}; use Tool.{fields[key]} instead")


# Definitions

# Fields that a definition contains only if they are set, so that other definitions stay byte-identical.
_OPTIONAL_FIELDS = ("server", "defer", "strict", "allowed_callers", "type", "options")


def tool_definition(tool: Tool) -> dict[str, Any]:
    """Return a tool's definition: its name, description and schema, and any other fields that are set."""
    fields: dict[str, Any] = {"name": tool.name, "description": tool.description, "schema": tool.schema or {}}
    for key in _OPTIONAL_FIELDS:
        content = getattr(tool, key)
        if content or (key == "strict" and content is not None):
            fields[key] = list(content) if key == "allowed_callers" else content
    return fields


def tool_from(row: Mapping[str, Any]) -> Tool:
    """Return the tool with this definition, which may also contain what only the prompt depends on, such as its guidelines."""
    return Tool(
        row["name"],
        row["description"],
        row.get("snippet", ""),
        row.get("guidelines", ()),
        row["schema"],
        **{key: row[key] for key in (*_OPTIONAL_FIELDS, "loads_skills") if key in row},
    )


def definition_text(row: Mapping[str, Any]) -> str:
    """Return what a definition adds to a request, as JSON. The string is empty for a deferred tool, which is not in the prompt."""
    if row.get("defer"):
        return ""
    from json import dumps

    sent = {key: content for key, content in row.items() if key != "server"}
    return dumps([sent], ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def server_of(row: Mapping[str, Any]) -> str | None:
    """Return a tool's MCP server from its definition or from a name such as `mcp__server__tool`, or None if it does not have one."""
    if row.get("server"):
        return str(row["server"])
    prefix, _, rest = str(row.get("name", "")).partition("__")
    server, separator, tool = rest.partition("__")
    return server if prefix == "mcp" and server and separator and tool else None


def inactive_tools(changes: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the names of the tools that these changes have removed and not restored. A turn still contains their definitions."""
    inactive: set[str] = set()
    for change in changes:
        inactive.update(change.get("removed", ()))
        inactive.difference_update(change.get("restored", ()))
    return inactive


@value
class LateToolEffect:
    """What new tools do to a request: whether it loses the cache after the tools, and whether their definitions are in the prompt.

    `exception` describes requests that lose the cache although others do not.
    """

    loses_cache: bool = True
    is_in_prompt: bool = True
    exception: str = ""


def new_tools_sentence(names: Iterable[str]) -> str:
    """Return the sentence that announces new tools to the model."""
    return f"New tools are available from now on: {join_tool_names(names)}."


def join_tool_names(names: Iterable[str]) -> str:
    """Return the names of tools as a list for the model."""
    return ", ".join(f"`{name}`" for name in names)
