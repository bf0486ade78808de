"""Split a request into the parts that a provider caches: tools, system prompt and messages. Pure.

A request may be in any of the formats that clients accept as arguments or send over HTTP: Anthropic's Messages, OpenAI's Responses and
Chat Completions, Bedrock's Converse, and Gemini, whose keys are in snake case for its client and in camel case over HTTP.
"""

from __future__ import annotations

import json

from ..errors import CallError
from ..vocabulary import value
from .converse_form import from_converse
from .existing_breakpoints import BREAKPOINT_KEYS, breakpoints_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

_SYSTEM_ROLES = ("system", "developer")
_SYSTEM_KEYS = ("system", "instructions", "system_instruction", "systemInstruction")
_MESSAGE_KEYS = ("messages", "input", "contents")
_SCHEMA_KEYS = ("input_schema", "parameters", "parameters_json_schema", "parametersJsonSchema", "schema")
_DECLARATION_KEYS = ("function_declarations", "functionDeclarations")
_FUNCTION_TYPES = ("", "function", "custom", "namespace")  # types of tools that have a name
_TOOL_FIELDS = ("name", "type", "description", "strict", "defer", "defer_loading", "allowed_callers", "server")
_KNOWN_KEYS = (*_SCHEMA_KEYS, *_TOOL_FIELDS, "options", *BREAKPOINT_KEYS)

# Settings that invalidate the cache when they change, and the first part that is then lost.
_SETTINGS = {"model": "tools", "prompt_cache_key": "tools", "tool_choice": "messages", "thinking": "messages"}


@value
class RequestParts:
    """The parts of a request that a provider caches, without breakpoints: tools in the prompt, system prompt and messages.

    `settings` contains, as JSON, other arguments that invalidate the cache when they change. `breakpoints` contains the `cache_control`
    values, in order.
    """

    tools: Sequence[Mapping[str, Any]]
    system: str
    messages: Sequence[tuple[str, str]]
    settings: Mapping[str, str]
    breakpoints: Sequence[Any]


def parse_request(request: Mapping[str, Any]) -> RequestParts:
    """Return the parts of a request. Raises a CallError if the tools or messages are not lists; anything else is compared as it is."""
    request = from_converse(request)
    settings = request.get("config")
    settings = settings if isinstance(settings, dict) else request
    system, entries = _first_of(settings, _SYSTEM_KEYS) or "", _entries(request)
    if not system and entries and isinstance(entries[0], dict) and entries[0].get("role") in _SYSTEM_ROLES:
        system = entries.pop(0).get("content") or ""
    tools = [parse_tool(tool) for tool in _flat_tools(settings.get("tools")) if not _is_hidden(tool)]
    values = {**request, "tool_choice": _required_choice(request.get("tool_choice"))}
    others = {key: as_json(values[key]) for key in _SETTINGS if values.get(key)}
    return RequestParts(
        tools, _text(system), [_message(entry) for entry in entries], others, list(_all_breakpoints(request))
    )


def _entries(request: Mapping[str, Any]) -> list[Any]:
    """Return the messages. Responses also accepts a string."""
    messages = _first_of(request, _MESSAGE_KEYS)
    return [messages] if isinstance(messages, str) else _expect_list("messages", messages)


def _expect_list(name: str, content: Any) -> list[Any]:
    if content and not isinstance(content, list | tuple):
        raise CallError(f"the {name} of a request must be a list, not {type(content).__name__}")
    return list(content or ())


def _required_choice(choice: Any) -> Any:
    """Return `tool_choice`, or None for its default, `auto`. OpenAI's list of allowed tools is left out: it keeps the cache."""
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        inner = choice.get("allowed_tools")
        choice = choice.get("mode") or (inner.get("mode") if isinstance(inner, dict) else None)
    return None if choice in ("auto", {"type": "auto"}) else choice


def _first_of(fields: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((fields[key] for key in keys if fields.get(key)), None)


def _flat_tools(tools: Any) -> Iterator[Mapping[str, Any]]:
    for tool in _expect_list("tools", tools):
        declarations = _first_of(tool, _DECLARATION_KEYS) if isinstance(tool, dict) else None
        if isinstance(declarations, list | tuple):
            yield from (declaration for declaration in declarations if isinstance(declaration, dict))
        elif isinstance(tool, dict):
            kind = str(tool.get("type") or "")
            inner = tool.get("function", tool.get(kind) if kind else None)
            if isinstance(inner, dict):  # Chat Completions
                yield {**inner, "type": kind}
            elif not kind and len(tool) == 1 and isinstance(next(iter(tool.values())), dict):  # Gemini's own tools
                yield {"type": next(iter(tool)), **next(iter(tool.values()))}
            else:
                yield tool


def _is_hidden(tool: Mapping[str, Any]) -> bool:
    """Whether a tool is in the list but not in the prompt: with Anthropic a deferred one. OpenAI's models see its name."""
    return bool(tool.get("defer_loading")) and "input_schema" in tool


def parse_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's definition in a provider-neutral format. A provider's own tool is named after its type."""
    schema = _first_of(tool, _SCHEMA_KEYS) or {}
    is_empty = schema == {"type": "object", "properties": {}}
    kind = str(tool.get("type") or "")
    others = {key: field for key, field in tool.items() if key not in _KNOWN_KEYS}
    options = tool.get("options")
    optional = {
        "strict": bool(tool.get("strict")),
        "defer": bool(tool.get("defer") or tool.get("defer_loading")),
        "allowed_callers": _as_list(tool.get("allowed_callers")),
        "options": {**(options if isinstance(options, dict) else {}), **others},
    }
    return {
        "name": str(tool.get("name") or "") if kind in _FUNCTION_TYPES else kind,
        "description": tool.get("description") or "",
        "schema": {} if is_empty else schema,
        **{key: field for key, field in optional.items() if field},
    }


def _as_list(content: Any) -> list[Any]:
    return list(content) if isinstance(content, list | tuple) else [content] if content else []


def _message(entry: Any) -> tuple[str, str]:
    """Return a message's content as text, after its role, or after its type if it does not have a role."""
    if not isinstance(entry, dict):
        return "", str(entry)
    content = entry.get("content", entry.get("parts"))
    others = {key: field for key, field in entry.items() if key not in ("role", "content", "parts", *BREAKPOINT_KEYS)}
    return str(entry.get("role") or entry.get("type") or ""), _text(content) + (as_json(others) if others else "")


def _text(content: Any) -> str:
    """Return content as one string, with blocks other than text as JSON."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, dict) and "parts" in content:  # Gemini
        content = content["parts"]
    blocks = content if isinstance(content, list | tuple) else [content]
    return "".join(_block_text(block) for block in blocks)


def _block_text(block: Any) -> str:
    if isinstance(block, dict):
        if isinstance(block.get("text"), str) and block.get("type", "text") in ("text", "input_text", "output_text"):
            return str(block["text"])
        return as_json(_without_breakpoints(block))
    return block if isinstance(block, str) else as_json(block)


def _without_breakpoints(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: _without_breakpoints(field) for key, field in content.items() if key not in BREAKPOINT_KEYS}
    return [_without_breakpoints(entry) for entry in content] if isinstance(content, list | tuple) else content


def as_json(content: Any) -> str:
    """Return content as compact JSON. Keys that JSON does not have are left out."""
    return json.dumps(
        content, ensure_ascii=False, separators=(",", ":"), default=str, skipkeys=True, check_circular=False
    )


# Breakpoints


def _all_breakpoints(request: Mapping[str, Any]) -> Iterator[Any]:
    yield from breakpoints_in([request.get(key) for key in ("tools", "system", "messages", "input")])
    if request.get("cache_control"):
        yield request["cache_control"]


# Comparison


def first_difference(old: Sequence[Any], new: Sequence[Any]) -> int | None:
    """Return the index of the first entry that differs, or None if the sequences are equal."""
    pairs = zip(old, new, strict=False)
    index = next((index for index, (before, after) in enumerate(pairs) if before != after), None)
    if index is None and len(old) != len(new):
        return min(len(old), len(new))
    return index


def describe_tool_change(old_names: Sequence[str], new_names: Sequence[str], index: int) -> str:
    """Return a verb phrase for the change to the tools at this index, the first one that differs."""
    position = f"position {index + 1}"
    if index < len(old_names) and old_names[index] not in new_names:
        return f"removed tool `{old_names[index]}` from {position}"
    if index < len(new_names) and new_names[index] not in old_names:
        return f"added tool `{new_names[index]}` at {position}"
    if index < len(old_names) and index < len(new_names) and old_names[index] == new_names[index]:
        return f"changed the definition of tool `{new_names[index]}` at {position}"
    if index < len(new_names):
        name = _moved_name(old_names, new_names, index)
        return f"moved tool `{name}` from position {old_names.index(name) + 1} to {new_names.index(name) + 1}"
    return f"removed tool `{old_names[index]}` from {position}"


def _moved_name(old_names: Sequence[str], new_names: Sequence[str], index: int) -> str:
    """Return the name of the tool that was moved from or to this index. The tools between its two positions only make room for it."""
    here = old_names[index]
    without_here = [[name for name in names if name != here] for names in (old_names, new_names)]
    is_swap = new_names[index + 1 : index + 2] == [here]
    return here if without_here[0] == without_here[1] and not is_swap else new_names[index]


def changed_setting(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[str, str]:
    """Return the first setting that changed and the first part that is lost from the cache, or empty strings if no setting changed."""
    for key, part in _SETTINGS.items():
        # Arguments that the caller adds to Foreword's request may be missing from one of the two.
        is_comparable = part == "messages" or (key in old and key in new)
        if is_comparable and old.get(key) != new.get(key):
            return key, part
    return "", ""
