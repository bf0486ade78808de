"""Convert agents to and from mappings: a request's body, a command's options, and an edition's stored form.

`agent_from` is the only function that creates an `Agent` from outside data, and `KEYS` is its vocabulary. A new field of `Agent` needs a
parser here unless it is a string, an option in `cli/options.py`, and a field in two types of `service/bodies.py`.
"""

from __future__ import annotations

from ..errors import CallError, show, suggestion
from ..shapes import LIST, NAME, OBJECT, STRING, STRINGS, SWITCH, WHOLE_NUMBER, check_table, one_of
from ..vocabulary import RESIDENT_KINDS, Access, Agent, Document, Resident, Scope, Skill
from ..vocabulary.tool_forms import tool_rows
from ..vocabulary.tools import Tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from ..shapes import Shape

    Parse = Callable[[Any, str], Any]

_TOOL: dict[str, Shape] = {
    "name": NAME,
    **dict.fromkeys(("description", "snippet", "server", "type"), STRING),
    **dict.fromkeys(("guidelines", "allowed_callers"), STRINGS),
    **dict.fromkeys(("schema", "options"), OBJECT),
    **dict.fromkeys(("defer", "strict", "loads_skills"), SWITCH),
}
_DOCUMENT: dict[str, Shape] = {
    **dict.fromkeys(("path", "text", "hash", "syntax"), STRING),
    **dict.fromkeys(("line", "cut_from"), WHOLE_NUMBER),
}
_RESIDENT = {"kind": one_of(*RESIDENT_KINDS), "slug": NAME, "description": NAME}
_ACCESS = {"path": NAME, "permission": one_of("read", "write"), "recursive": SWITCH}


# From a mapping


def agent_from(mapping: Mapping[str, Any], names: Mapping[str, str] | None = None) -> Agent:
    """Create an agent from a mapping with the keys in `KEYS`, all of them optional.

    `names` maps keys to the names used in error messages, such as `--tools tools.json`; the default is the key itself.
    """
    unknown = sorted(map(str, mapping.keys() - KEYS.keys()))
    if unknown:
        raise CallError(f"an agent has no key {show(unknown[0])}{suggestion(unknown[0], KEYS)}")
    fields = {}
    for key, content in mapping.items():
        field, parse = KEYS[key]
        fields[field] = parse(content, (names or {}).get(key, key))
    return Agent(**fields)


def _parse_string(content: Any, name: str) -> str:
    if not isinstance(content, str):
        raise CallError(f"{name} must be a string, not {kind_of(content)}")
    return content


def _parse_text(content: Any, name: str) -> str | Document:
    """Return a string, or the document that an object such as {"path": …, "text": …} describes."""
    if isinstance(content, dict):
        check_table(content, _DOCUMENT, name, required=("path", "text"), shape=OBJECT)
        return Document(**content)
    return content if isinstance(content, Document) else _parse_string(content, name)


def _parse_skill(content: Any, name: str) -> str | Skill:
    return content if isinstance(content, Skill) else _parse_string(content, name)


def _parse_role(is_sub_agent: Any, name: str) -> str:
    if is_sub_agent is None:
        return ""
    if not isinstance(is_sub_agent, bool):
        raise CallError(f"{name} must be true or false, not {kind_of(is_sub_agent)}")
    return "sub" if is_sub_agent else "main"


def _parse_docs(rows: Any, name: str) -> list[tuple[str, str]]:
    if not isinstance(rows, (list, tuple)):
        raise CallError(f"{name} must be a list of pairs (label, path), not {kind_of(rows)}")
    for row in rows:
        if not isinstance(row, (list, tuple)) or len(row) != 2 or not all(isinstance(cell, str) for cell in row):
            raise CallError(f"{name} must be a list of pairs (label, path); {show(row)} is not one")
    return [(label, path) for label, path in rows]


def _parse_servers(content: Any, name: str) -> dict[str, str] | None:
    if content is not None and not (
        isinstance(content, dict) and all(isinstance(text, str) for text in content.values())
    ):
        raise CallError(f'{name} must be an object of names and instructions, {{"github": "…"}}, not {show(content)}')
    return content


def _parse_residents(rows: Any, name: str) -> list[Resident]:
    if not isinstance(rows, (list, tuple)):
        raise CallError(f'{name} must be a list such as [{{"kind", "slug", "description"}}], not {kind_of(rows)}')
    return [_parse_resident(row, f"{name}: resident {number}") for number, row in enumerate(rows, 1)]


def _parse_resident(row: Any, name: str) -> Resident:
    if isinstance(row, Resident):
        return row
    check_table(row, _RESIDENT, name, required=tuple(_RESIDENT), shape=OBJECT)
    return Resident(row["slug"], row["description"], kind=row["kind"])


def _parse_tools(rows: Any, name: str) -> Sequence[Tool] | None:
    """Return the tools in a list of rows. If several have the same name, the first is used."""
    if rows is None:
        return None
    if type(rows) is tuple and all(type(row) is Tool for row in rows) and len({row.name for row in rows}) == len(rows):
        return rows
    if not isinstance(rows, (list, tuple)):
        raise CallError(f'{name}: the tools must be a list such as [{{"name": …}}], not {kind_of(rows)}')
    tools: dict[str, Tool] = {}
    for number, row in enumerate(rows, 1):
        for each in [row] if isinstance(row, Tool) else tool_rows(row):
            tool = each if isinstance(each, Tool) else _parse_tool(each, f"{name}: tool {number}")
            tools.setdefault(tool.name, tool)
    return list(tools.values())


def _parse_tool(row: Any, name: str) -> Tool:
    if isinstance(row, dict):
        row = {key: content for key, content in row.items() if content is not None}
    check_table(row, _TOOL, name, required=("name",), shape=OBJECT)
    return Tool(**row)


def _parse_scope(content: Any, name: str) -> Scope | None:
    if content is None or isinstance(content, Scope):
        return content
    check_table(content, {"allow": LIST, "deny": LIST}, name, shape=OBJECT)
    lists = []
    for key, default in (("allow", "write"), ("deny", "read")):
        rows = enumerate(content.get(key, ()), 1)
        lists.append([_parse_access(row, f"{name}: {key} {number}", default) for number, row in rows])
    return Scope(*lists)


def _parse_access(row: Any, name: str, default: str) -> Access:
    check_table(row, _ACCESS, name, required=("path",), shape=OBJECT)
    return Access(row["path"], row.get("permission", default), row.get("recursive", True))


def kind_of(content: Any) -> str:
    """Return a value's JSON type in words: `an object`, `a list`, …"""
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return kinds.get(type(content), "a number")


# How the fields of `Agent` that are not strings are parsed, and the key of the one whose key has another name.
_PARSERS: dict[str, Parse] = {
    "tools": _parse_tools,
    "role": _parse_role,
    "base": _parse_text,
    "skill": _parse_skill,
    "plan": _parse_text,
    "scope": _parse_scope,
    "docs": _parse_docs,
    "servers": _parse_servers,
    "residents": _parse_residents,
}
_OTHER_NAMES = {"role": "sub_agent"}
# Each key of the mapping, with the field of `Agent` that it sets and the function that parses its content.
KEYS: dict[str, tuple[str, Parse]] = {
    _OTHER_NAMES.get(field, field): (field, _PARSERS.get(field, _parse_string)) for field in Agent.__annotations__
}


# To the stored form

# Keys that are stored elsewhere in the edition, or in a different form.
_STORED_SEPARATELY = ("tools", "model", "provider", "session")


def agent_form(agent: Agent, conversation: str) -> dict[str, Any]:
    """Return the agent's fields that differ from their defaults, for later comparison. Tools, model and provider are stored elsewhere."""
    row = {key: _form_of(getattr(agent, field)) for key, (field, _) in KEYS.items() if key not in _STORED_SEPARATELY}
    row["sub_agent"] = agent.role == "sub"
    row["session"] = agent.session if agent.session != conversation else ""
    row["tools"] = tool_notes(agent.tools or ())
    return {name: field for name, field in row.items() if field}


def _form_of(content: Any) -> Any:
    """Return a field in the form that `agent_from` reads."""
    if isinstance(content, Document):
        return document_form(content)
    if isinstance(content, Skill):
        return content.name
    if isinstance(content, Scope):
        return scope_form(content)
    if isinstance(content, Resident):
        return {"kind": content.kind, "slug": content.name, "description": content.description}
    if isinstance(content, tuple):
        return [_form_of(entry) if isinstance(entry, Resident) else list(entry) for entry in content]
    return dict(content) if hasattr(content, "keys") else content


def document_form(document: Document) -> dict[str, Any]:
    """Return a document's path and text, and the fields that differ from their defaults."""
    default = Document("", "")
    form = {name: getattr(document, name) for name in _DOCUMENT}
    return {name: field for name, field in form.items() if name in ("path", "text") or field != getattr(default, name)}


def tool_notes(tools: Iterable[Tool]) -> dict[str, Any]:
    """Return the tools' snippets, guidelines and `loads_skills` by name. The prompt depends on them, but no definition contains them."""
    return {tool.name: note for tool in tools if (note := _tool_note(tool))}


def _tool_note(tool: Tool) -> dict[str, Any]:
    note: dict[str, Any] = {}
    if tool.snippet or tool.guidelines:
        note = {"snippet": tool.snippet, "guidelines": list(tool.guidelines)}
    return note if tool.loads_skills is None else {**note, "loads_skills": tool.loads_skills}


def tool_order(tools: Iterable[Tool]) -> list[str]:
    """Return the tools' names, or an empty list if they are in alphabetical order, which is how definitions are stored."""
    names = [tool.name for tool in tools]
    return names if names != sorted(names) else []


def scope_form(scope: Scope) -> dict[str, Any]:
    """Return a scope in the form that `agent_from` reads."""

    def rows(entries: Sequence[Access], default: str) -> list[dict[str, Any]]:
        return [
            {"path": access.path, "permission": access.permission or default, "recursive": access.recursive}
            for access in entries
        ]

    return {"allow": rows(scope.allow, "write"), "deny": rows(scope.deny, "read")}
